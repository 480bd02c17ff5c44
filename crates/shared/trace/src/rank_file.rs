//! What the files of a rank have in common: how they begin, how they are sealed, and why one cannot be used.
//!
//! Each has a header of one page. It begins with a magic text and the version of the format, and has
//! counters at [`LIVE_OFFSET`], of which the first is the bytes of records and the last the seal. The records
//! follow.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Length of the header.
pub const HEADER_BYTES: usize = 4096;
/// Where the counters begin.
pub const LIVE_OFFSET: usize = 512;

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RankFileError {
    /// It does not begin as a file of this format.
    #[error("{what}")]
    OtherFormat {
        /// What it is not, or has not, as a sentence.
        what: &'static str,
    },
    /// Another version.
    #[error("it has version {found} of the format, and this evenkeel reads version {read}")]
    OtherVersion {
        /// Its version.
        found: u32,
        /// The one that can be read.
        read: u32,
    },
    /// The file is shorter than it says.
    #[error("it is cut: {expected} bytes were written, and {found} are there")]
    Cut {
        /// Bytes that it must have.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// It was changed, or damaged.
    #[error("it is damaged: what stands at byte {offset} cannot be")]
    Damaged {
        /// Where that was noticed.
        offset: u64,
    },
    /// The hash differs.
    #[error("it is damaged: its bytes are not those that were written")]
    WrongSeal,
}

/// A format of such files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileFormat {
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
    /// What is said of a file of another format.
    pub(crate) otherwise: &'static str,
}

impl FileFormat {
    /// Checks that a file begins as one of this format, and has a header.
    pub(crate) fn check(&self, file: &[u8]) -> Result<(), RankFileError> {
        if !file.starts_with(&self.magic) {
            return Err(RankFileError::OtherFormat { what: self.otherwise });
        }
        if file.len() < HEADER_BYTES {
            return Err(cut(file, HEADER_BYTES as u64));
        }
        let (found, read) = (short(file, 8), self.version);
        if found == read { Ok(()) } else { Err(RankFileError::OtherVersion { found, read }) }
    }
}

fn cut(file: &[u8], expected: u64) -> RankFileError {
    RankFileError::Cut { expected, found: file.len() as u64 }
}

/// The number of four bytes in a header.
pub(crate) fn short(file: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(file[offset..offset + 4].try_into().expect("four bytes"))
}

/// The number of eight bytes in a header.
pub(crate) fn long(file: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(file[offset..offset + 8].try_into().expect("eight bytes"))
}

/// Where the records of a file end that has `used` bytes of them.
pub(crate) fn end_of_records(file: &[u8], used: u64) -> Result<usize, RankFileError> {
    let expected = used.saturating_add(HEADER_BYTES as u64);
    if expected > file.len() as u64 { Err(cut(file, expected)) } else { Ok(expected as usize) }
}

/// The seal of a file that has ended: the hash of its first 512 bytes, its counters with a seal of 0, and its
/// records.
pub(crate) fn seal(file: &[u8], counters: &[u8], used: u64) -> u64 {
    let start = xxh3_64_with_seed(&file[..LIVE_OFFSET], 0);
    let counters = xxh3_64_with_seed(counters, start);
    xxh3_64_with_seed(&file[HEADER_BYTES..HEADER_BYTES + used as usize], counters) | 1
}
