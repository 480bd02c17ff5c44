//! The file of a trace, mapped into memory: what has been written survives the process, however it ends.

use evenkeel_trace::format::{self, HEADER_BYTES, LIVE_OFFSET, Live, Start};
use evenkeel_trace::recorder::Store;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// The file grows by so many bytes, and by more once it is large.
const CHUNK_BYTES: usize = 64 << 10;
const LARGEST_CHUNK_BYTES: usize = 4 << 20;

/// A file that only this process writes.
#[derive(Debug)]
pub(crate) struct TraceFile {
    file: File,
    path: PathBuf,
    memory: NonNull<u8>,
    mapped: usize,
    used: usize,
    error: Option<io::Error>,
}

impl TraceFile {
    /// Makes the file; it must not exist.
    pub(crate) fn create(path: &Path, start: &Start) -> io::Result<TraceFile> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        allocate(&file, 0, CHUNK_BYTES)?;
        let memory = map(&file, 0, CHUNK_BYTES)?;
        let mut made = TraceFile {
            file,
            path: path.to_path_buf(),
            memory,
            mapped: CHUNK_BYTES,
            used: HEADER_BYTES,
            error: None,
        };
        made.bytes_mut()[..HEADER_BYTES].copy_from_slice(&format::header(start));
        Ok(made)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Why it cannot grow; `None` if it can.
    pub(crate) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Gives back the room that was not used.
    pub(crate) fn close(self) {
        // It is a whole trace either way: what follows the records is not read.
        let _ = self.file.set_len(self.used as u64);
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: `memory` is a mapping of `mapped` bytes until `self` is dropped, and the file has them all.
        // No other process writes them: the file was made for this one alone.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.mapped) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.mapped) }
    }

    fn grow(&mut self, needed: usize) -> io::Result<()> {
        let chunk = self.mapped.clamp(CHUNK_BYTES, LARGEST_CHUNK_BYTES).max(needed);
        allocate(&self.file, self.mapped, chunk)?;
        let size = self.mapped + chunk;
        // SAFETY: the old mapping is ours, nothing borrows it, and the file has `size` bytes.
        let moved =
            unsafe { libc::mremap(self.memory.as_ptr().cast(), self.mapped, size, libc::MREMAP_MAYMOVE) };
        if moved == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        self.memory = NonNull::new(moved.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        self.mapped = size;
        Ok(())
    }
}

impl Store for TraceFile {
    fn append(&mut self, records: &[u8]) -> bool {
        let end = self.used + records.len();
        if end > self.mapped {
            if let Err(error) = self.grow(records.len()) {
                self.error = Some(error);
                return false;
            }
        }
        let used = self.used;
        self.bytes_mut()[used..end].copy_from_slice(records);
        self.used = end;
        true
    }

    fn set_live(&mut self, live: &Live) {
        let live = format::live_bytes(live);
        self.bytes_mut()[LIVE_OFFSET..LIVE_OFFSET + live.len()].copy_from_slice(&live);
    }

    fn seal(&self, live: &Live) -> u64 {
        format::seal(self.bytes(), live)
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows it.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.mapped) };
    }
}

/// Makes sure that the file system has room, so that writing to the mapping cannot fail.
pub(super) fn allocate(file: &File, from: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: a call without pointers on a file that is open.
    let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), from as libc::off_t, bytes as libc::off_t) };
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

/// Maps a part of the file, from a page's beginning on.
pub(super) fn map(file: &File, from: usize, bytes: usize) -> io::Result<NonNull<u8>> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, which takes the place of nothing.
    let memory = unsafe {
        let from = from as libc::off_t;
        libc::mmap(std::ptr::null_mut(), bytes, rights, libc::MAP_SHARED, file.as_raw_fd(), from)
    };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?)
}
