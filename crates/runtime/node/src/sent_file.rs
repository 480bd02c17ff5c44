//! A file that is sent to each host, named by its content.

use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How much of a file is read at once, bytes.
const PART_BYTES: usize = 1 << 20;

/// What a sent file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SentAs {
    /// The program, or one that it starts. Jobs share it, and do not change it.
    Program,
    /// A file that the user names. The job has a copy of its own.
    Data,
    /// A library that the loader is to find by its name.
    Library,
}

/// A file that each host is sent, unless it has one of the same content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFile {
    /// Its path on the client, as it stands in the job's command line and environment.
    pub path: OsString,
    /// Its name on the hosts, without a folder.
    pub name: OsString,
    /// What it is for.
    pub sent_as: SentAs,
    /// Its length.
    pub bytes: u64,
    /// The BLAKE3 hash of its content, as hexadecimal digits.
    pub content: String,
}

impl SentFile {
    /// Reads the file at `path`, which is to have `name` on the hosts.
    ///
    /// # Errors
    /// If it cannot be read, or is no file.
    pub fn read(path: &Path, name: &OsStr, sent_as: SentAs) -> io::Result<SentFile> {
        // To open a pipe would wait for its other end.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
        }
        let mut file = File::open(path)?;
        let mut hash = ContentHash::default();
        let mut part = vec![0; PART_BYTES];
        loop {
            match file.read(&mut part) {
                Ok(0) => break,
                Ok(read) => hash.add(&part[..read]),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        let bytes = hash.bytes;
        let content = hash.finish();
        Ok(SentFile { path: path.into(), name: name.into(), sent_as, bytes, content })
    }
}

/// The hash of a content that comes in parts.
#[derive(Default)]
pub(crate) struct ContentHash {
    hasher: blake3::Hasher,
    pub bytes: u64,
}

impl ContentHash {
    pub fn add(&mut self, part: &[u8]) {
        self.hasher.update(part);
        self.bytes += part.len() as u64;
    }

    pub fn finish(self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}
