//! Which files are sent to each host.

use crate::identity::to_hexadecimal;
use ring::digest;
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
    /// A file of the job's: the program, or one that the user names.
    File,
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
    /// The SHA-256 of its content, as hexadecimal digits.
    pub content: String,
}

impl SentFile {
    /// Reads the file at `path`, which is to have `name` on the hosts.
    ///
    /// # Errors
    /// If it cannot be read, or is no file.
    pub fn read(path: &Path, name: &OsStr, sent_as: SentAs) -> io::Result<SentFile> {
        let mut file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
        }
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
pub(super) struct ContentHash {
    context: digest::Context,
    pub bytes: u64,
}

impl Default for ContentHash {
    fn default() -> ContentHash {
        ContentHash { context: digest::Context::new(&digest::SHA256), bytes: 0 }
    }
}

impl ContentHash {
    pub fn add(&mut self, part: &[u8]) {
        self.context.update(part);
        self.bytes += part.len() as u64;
    }

    pub fn finish(self) -> String {
        to_hexadecimal(self.context.finish().as_ref())
    }
}
