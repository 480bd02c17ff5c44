//! The file of times. Its header and its end are mapped into memory: what has been written survives the
//! process, however it ends, and what lies behind takes no memory of the process.

use super::file::{allocate, map};
use super::timed_call::OpenCall;
use evenkeel_trace::times::format::{self, HEADER_BYTES, LIVE_OFFSET, Live, OPEN_CALL_OFFSET, Start};
use evenkeel_trace::times::recorder::Store;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file grows by so many bytes at first, and by more once it is large.
const CHUNK_BYTES: usize = 64 << 10;
const LARGEST_CHUNK_BYTES: usize = 4 << 20;
const PAGE_BYTES: usize = 4096;

/// A file that only this process writes.
#[derive(Debug)]
pub(super) struct TimesFile {
    file: File,
    path: PathBuf,
    /// The first page.
    header: NonNull<u8>,
    /// The end, and where it begins in the file.
    end: NonNull<u8>,
    end_begins: usize,
    end_bytes: usize,
    used: usize,
    calls: u64,
    error: Option<io::Error>,
}

impl TimesFile {
    /// Makes the file; it must not exist.
    pub(super) fn create(path: &Path, start: &Start) -> io::Result<TimesFile> {
        TimesFile::with_header(path, &format::header(start))
    }

    /// The same of another file with the same counters.
    pub(super) fn with_header(path: &Path, made: &[u8]) -> io::Result<TimesFile> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        allocate(&file, 0, CHUNK_BYTES)?;
        let header = map(&file, 0, HEADER_BYTES)?;
        debug_assert_eq!(made.len(), HEADER_BYTES);
        // SAFETY: the mapping is new and has so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(made.as_ptr(), header.as_ptr(), HEADER_BYTES) };
        let end_bytes = CHUNK_BYTES - HEADER_BYTES;
        let end = map(&file, HEADER_BYTES, end_bytes)?;
        Ok(TimesFile {
            file,
            path: path.to_path_buf(),
            header,
            end,
            end_begins: HEADER_BYTES,
            end_bytes,
            used: HEADER_BYTES,
            calls: 0,
            error: None,
        })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Calls that it has.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// Why it cannot grow; `None` if it can.
    pub(super) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Where it stands which call this rank is in; valid until the file is closed.
    pub(super) fn open_call(&self) -> *mut OpenCall {
        // SAFETY: the header has so many bytes, and the place is aligned for the structure.
        unsafe { self.header.as_ptr().add(OPEN_CALL_OFFSET).cast() }
    }

    /// Writes how it ended, and gives back the room that was not used.
    pub(super) fn close(self, ending: format::Ending) {
        let mut live = Live { used: (self.used - HEADER_BYTES) as u64, calls: self.calls, ending, seal: 0 };
        if let Ok(whole) = map(&self.file, 0, self.used) {
            // SAFETY: a mapping of so many bytes, which the file has.
            let bytes = unsafe { std::slice::from_raw_parts(whole.as_ptr(), self.used) };
            live.seal = format::seal(bytes, &live);
            // SAFETY: the mapping is ours, and nothing borrows it.
            unsafe { libc::munmap(whole.as_ptr().cast(), self.used) };
        } else {
            live.ending = format::Ending::Open; // as if it had been killed: without a seal
        }
        let bytes = format::live_bytes(&live);
        // SAFETY: the header has so many bytes there.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.header.as_ptr().add(LIVE_OFFSET), bytes.len());
        }
        // It is whole either way: what follows the records is not read.
        let _ = self.file.set_len(self.used as u64);
    }

    fn grow(&mut self, needed: usize) -> io::Result<()> {
        let begins = self.used / PAGE_BYTES * PAGE_BYTES;
        let bytes = self.used.clamp(CHUNK_BYTES, LARGEST_CHUNK_BYTES).max(needed + PAGE_BYTES);
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        allocate(&self.file, begins, bytes)?;
        let end = map(&self.file, begins, bytes)?;
        // SAFETY: the old mapping is ours, and nothing borrows it.
        unsafe { libc::munmap(self.end.as_ptr().cast(), self.end_bytes) };
        (self.end, self.end_begins, self.end_bytes) = (end, begins, bytes);
        Ok(())
    }

    fn counter(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the header has it, aligned; nothing else of this process refers to it.
        unsafe { &*self.header.as_ptr().add(LIVE_OFFSET + offset).cast() }
    }
}

impl Store for TimesFile {
    #[inline]
    fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        if self.used + bytes > self.end_begins + self.end_bytes {
            if let Err(error) = self.grow(bytes) {
                self.error = Some(error);
                return None;
            }
        }
        let at = self.used - self.end_begins;
        // SAFETY: `end` is a mapping of `end_bytes` bytes, and the file has them all. No other process writes
        // them: the file was made for this one alone.
        Some(unsafe { std::slice::from_raw_parts_mut(self.end.as_ptr().add(at), self.end_bytes - at) })
    }

    #[inline]
    fn commit(&mut self, bytes: usize, calls: u64) {
        self.used += bytes;
        self.calls += calls;
        // Release: a file of a process that is killed has the records that it counts. If it is killed between
        // the two, one call is not counted, which readers expect; one too many would be damage to them.
        self.counter(0).store((self.used - HEADER_BYTES) as u64, Ordering::Release);
        self.counter(8).store(self.calls, Ordering::Release);
    }
}

impl Drop for TimesFile {
    fn drop(&mut self) {
        // SAFETY: the mappings are ours, and nothing borrows them.
        unsafe {
            libc::munmap(self.end.as_ptr().cast(), self.end_bytes);
            libc::munmap(self.header.as_ptr().cast(), HEADER_BYTES);
        }
    }
}
