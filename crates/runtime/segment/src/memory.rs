//! The segment: one anonymous memory file, made by one rank of a node and mapped by all.
//!
//! It never has a name. The others open it through `/proc/<pid>/fd/<n>` while its maker holds it open;
//! afterwards it lives as long as a process maps it. So nothing is left behind however the processes end, and
//! neither the size nor the mode of `/dev/shm` matters.
//!
//! May use: libc. Must never: give the memory a name, or keep a descriptor longer than needed.

use crate::channel::Bytes;
use crate::layout::{LAYOUT_AT, MAGIC_AT, PAGE, TOKEN_AT, layout_number};
use crate::sync::{AtomicU64, Ordering, Words};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::NonNull;
use thiserror::Error;

/// Why a segment could not be made or opened.
#[derive(Debug, Error)]
pub enum SegmentError {
    /// `memfd_create` or setting the file's size failed.
    #[error("the kernel gave no anonymous memory file (memfd_create: {0})")]
    Create(io::Error),
    /// The file that the maker holds open could not be opened.
    #[error("cannot open the node's segment through {path}: {cause}; it belongs to process {pid}")]
    Open {
        /// Where the maker's descriptor is found.
        path: String,
        /// The maker.
        pid: u32,
        /// What the kernel says.
        cause: io::Error,
    },
    /// The file could not be mapped.
    #[error(
        "cannot map {bytes} bytes of shared memory: {cause}; is there a limit on address space (ulimit -v)?"
    )]
    Map {
        /// Size of the mapping.
        bytes: usize,
        /// What the kernel says.
        cause: io::Error,
    },
    /// The file is no segment, or one with another token.
    #[error("the file that process {pid} offers is not the segment of this job")]
    WrongToken {
        /// The process that was to hold the segment.
        pid: u32,
    },
}

/// The whole of a node's shared memory, mapped.
pub struct Segment {
    base: NonNull<u8>,
    bytes: usize,
    file: Option<File>,
}

// SAFETY: the mapping lives as long as the Segment and is only reached through atomics, or through raw
// pointers whose users follow a protocol of this crate.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// The first word of a segment.
pub(crate) const MAGIC: u64 = 0x006c_6565_6b6e_6576; // "evenkeel"

impl Segment {
    /// Makes a segment of `bytes` (of address space; pages are taken when touched) for the job with this
    /// token.
    pub fn create(bytes: usize, token: u64) -> Result<Segment, SegmentError> {
        // SAFETY: a constant, terminated name; the result is checked.
        let fd = unsafe { libc::memfd_create(c"evenkeel".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(SegmentError::Create(io::Error::last_os_error()));
        }
        // SAFETY: fd is open and belongs to nothing else.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(bytes as u64).map_err(SegmentError::Create)?;
        let segment = Self::map(file, bytes)?;
        segment.word(TOKEN_AT).store(token, Ordering::Relaxed);
        segment.word(LAYOUT_AT).store(layout_number(), Ordering::Relaxed);
        segment.word(MAGIC_AT).store(MAGIC, Ordering::Release); // pairs with the load in `open`
        Ok(segment)
    }

    /// Opens the segment that process `pid` holds as descriptor `fd`. `token` must be the one with which it
    /// was made.
    pub fn open(pid: u32, fd: i32, token: u64) -> Result<Segment, SegmentError> {
        let path = format!("/proc/{pid}/fd/{fd}");
        let opened =
            File::options().read(true).write(true).open(&path).and_then(|f| Ok((f.metadata()?.len(), f)));
        let (bytes, file) = opened.map_err(|cause| SegmentError::Open { path, pid, cause })?;
        if (bytes as usize) < 2 * PAGE {
            return Err(SegmentError::WrongToken { pid });
        }
        let segment = Self::map(file, bytes as usize)?;
        let magic = segment.word(MAGIC_AT).load(Ordering::Acquire); // pairs with the store in `create`
        if magic != MAGIC || segment.word(TOKEN_AT).load(Ordering::Relaxed) != token {
            return Err(SegmentError::WrongToken { pid });
        }
        Ok(segment)
    }

    fn map(file: File, bytes: usize) -> Result<Segment, SegmentError> {
        // SAFETY: a fresh shared mapping of a file that is held open; the result is checked.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(SegmentError::Map { bytes, cause: io::Error::last_os_error() });
        }
        // Core dumps need not carry gigabytes of holes.
        // SAFETY: the range was just mapped.
        unsafe { libc::madvise(address, bytes, libc::MADV_DONTDUMP) };
        Ok(Segment { base: NonNull::new(address.cast()).expect("mmap gave null"), bytes, file: Some(file) })
    }

    /// The descriptor that other processes may open; None after [`Segment::close_file`].
    pub fn descriptor(&self) -> Option<i32> {
        self.file.as_ref().map(|f| f.as_raw_fd())
    }

    /// Closes the descriptor. To be called when all processes of the node have mapped the memory.
    pub fn close_file(&mut self) {
        self.file = None;
    }

    /// Size of the segment.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A view that starts at `offset`.
    ///
    /// # Panics
    /// If `offset` lies outside the segment or is not a multiple of eight.
    pub fn at(&self, offset: usize) -> Mapped {
        assert!(offset < self.bytes && offset % 8 == 0);
        // SAFETY: within the mapping.
        Mapped { base: unsafe { self.base.add(offset) } }
    }
}

impl Words for Segment {
    fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset + 8 <= self.bytes && offset % 8 == 0);
        // SAFETY: inside the mapping and aligned; every access to these words is atomic.
        unsafe { &*self.base.as_ptr().add(offset).cast() }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly the range that was mapped; users of `Mapped` are gone before the engine
        // drops its world.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// A part of a segment, by its first byte. Valid as long as the segment is mapped.
#[derive(Clone, Copy)]
pub struct Mapped {
    base: NonNull<u8>,
}

// SAFETY: as for Segment.
unsafe impl Send for Mapped {}
// SAFETY: as for Segment.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Address of the byte at `offset`.
    #[inline(always)]
    pub fn pointer(&self, offset: usize) -> *mut u8 {
        self.base.as_ptr().wrapping_add(offset)
    }
}

impl Bytes for Mapped {
    #[inline(always)]
    fn byte(&self, offset: usize) -> *mut u8 {
        self.pointer(offset)
    }
}

impl Words for Mapped {
    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: offsets come from a geometry and lie inside the block; every access to the words there is
        // atomic.
        unsafe { &*self.pointer(offset).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_mapping_sees_the_same_words() {
        let a = Segment::create(1 << 20, 42).unwrap();
        let b = Segment::open(std::process::id(), a.descriptor().unwrap(), 42).unwrap();
        a.word(8192).store(7, Ordering::Release);
        assert_eq!(b.word(8192).load(Ordering::Acquire), 7);
    }

    #[test]
    fn a_segment_of_another_job_is_not_opened() {
        let a = Segment::create(1 << 20, 42).unwrap();
        let wrong = Segment::open(std::process::id(), a.descriptor().unwrap(), 43);
        assert!(matches!(wrong, Err(SegmentError::WrongToken { .. })));
        let gone = Segment::open(std::process::id(), 9999, 42).err().unwrap().to_string();
        assert!(gone.contains("/proc/"), "{gone}");
    }
}
