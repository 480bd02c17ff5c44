//! The file of a trace.

use super::mapped_file::MappedFile;
use evenkeel_trace::format::{self, LIVE_OFFSET, Live, Start};
use evenkeel_trace::recorder::Store;
use std::io;
use std::path::Path;

#[derive(Debug)]
pub(crate) struct TraceFile(MappedFile);

impl TraceFile {
    /// Makes the file; it must not exist.
    pub(crate) fn create(path: &Path, start: &Start) -> io::Result<TraceFile> {
        MappedFile::create(path, &format::header(start)).map(TraceFile)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Why it cannot grow; `None` if it can.
    pub(crate) fn error(&self) -> Option<&io::Error> {
        self.0.error()
    }

    /// Gives back the room that was not used.
    pub(crate) fn close(self) {
        self.0.close();
    }
}

impl Store for TraceFile {
    fn append(&mut self, records: &[u8]) -> bool {
        let Some(room) = self.0.room(records.len()) else { return false };
        room[..records.len()].copy_from_slice(records);
        self.0.commit(records.len());
        true
    }

    fn set_live(&mut self, live: &Live) {
        self.0.write_header(LIVE_OFFSET, &format::live_bytes(live));
    }

    fn seal(&self, live: &Live) -> Option<u64> {
        self.0.of_all(|bytes| format::seal(bytes, live))
    }
}
