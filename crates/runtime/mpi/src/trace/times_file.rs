//! The file of times, and others with the same counters.

use super::mapped_file::MappedFile;
use super::timed_call::OpenCall;
use evenkeel_trace::times::format::{self, LIVE_OFFSET, Live, OPEN_CALL_OFFSET, Start};
use evenkeel_trace::times::recorder::Store;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub(super) struct TimesFile {
    file: MappedFile,
    calls: u64,
}

impl TimesFile {
    /// Makes the file; it must not exist.
    pub(super) fn create(path: &Path, start: &Start) -> io::Result<TimesFile> {
        TimesFile::with_header(path, &format::header(start))
    }

    /// The same of another file with the same counters.
    pub(super) fn with_header(path: &Path, header: &[u8]) -> io::Result<TimesFile> {
        Ok(TimesFile { file: MappedFile::create(path, header)?, calls: 0 })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Calls that it has.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// Why it cannot grow; `None` if it can.
    pub(super) fn error(&self) -> Option<&io::Error> {
        self.file.error()
    }

    /// Where it stands which call this rank is in, aligned for the structure; valid until the file is closed.
    pub(super) fn open_call(&self) -> *mut OpenCall {
        self.file.header(OPEN_CALL_OFFSET, size_of::<OpenCall>()).cast()
    }

    /// Writes how it ended, and gives back the room that was not used.
    pub(super) fn close(self, ending: format::Ending) {
        let mut live = Live { used: self.file.records() as u64, calls: self.calls, ending, seal: 0 };
        match self.file.of_all(|bytes| format::seal(bytes, &live)) {
            Some(seal) => live.seal = seal,
            None => live.ending = format::Ending::Open, // as if it had been killed: without a seal
        }
        self.file.write_header(LIVE_OFFSET, &format::live_bytes(&live));
        self.file.close();
    }

    fn counter(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the header has it, aligned; nothing else of this process refers to it.
        unsafe { &*self.file.header(LIVE_OFFSET + offset, size_of::<AtomicU64>()).cast() }
    }
}

impl Store for TimesFile {
    #[inline]
    fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        self.file.room(bytes)
    }

    #[inline]
    fn commit(&mut self, bytes: usize, calls: u64) {
        self.file.commit(bytes);
        self.calls += calls;
        // Release: a file of a process that is killed has the records that it counts. If it is killed between
        // the two, one call is not counted, which readers expect; one too many would be damage to them.
        self.counter(0).store(self.file.records() as u64, Ordering::Release);
        self.counter(8).store(self.calls, Ordering::Release);
    }
}
