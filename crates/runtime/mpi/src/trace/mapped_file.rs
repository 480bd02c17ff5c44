//! A file that grows, of which the header and the end are mapped into memory: what has been written survives
//! the process, however it ends, and what lies between takes no memory of the process.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// The file grows by so many bytes at first, and by more once it is large.
const CHUNK_BYTES: usize = 64 << 10;
const LARGEST_CHUNK_BYTES: usize = 4 << 20;
const PAGE_BYTES: usize = 4096;

/// A part of a file in memory.
#[derive(Debug)]
pub(super) struct Mapping {
    memory: NonNull<u8>,
    bytes: usize,
    /// What is mapped before it: a mapping begins where a page of this machine's does.
    before: usize,
}

impl Mapping {
    /// Maps a part of the file, which has so many bytes.
    fn of(file: &File, from: usize, bytes: usize) -> io::Result<Mapping> {
        // SAFETY: takes a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(PAGE_BYTES);
        let before = from % page;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, which takes the place of nothing.
        let memory = unsafe {
            let from = (from - before) as libc::off_t;
            let bytes = before + bytes;
            libc::mmap(std::ptr::null_mut(), bytes, rights, libc::MAP_SHARED, file.as_raw_fd(), from)
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping has so many bytes.
        let memory = unsafe { memory.cast::<u8>().add(before) };
        Ok(Mapping { memory: NonNull::new(memory).ok_or(io::ErrorKind::OutOfMemory)?, bytes, before })
    }

    /// A place in it, of which so many bytes may be used.
    fn place(&self, at: usize, bytes: usize) -> *mut u8 {
        assert!(at + bytes <= self.bytes, "a place in the mapping");
        // SAFETY: the mapping has so many bytes.
        unsafe { self.memory.as_ptr().add(at) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows it.
        unsafe { libc::munmap(self.memory.as_ptr().sub(self.before).cast(), self.before + self.bytes) };
    }
}

/// A file that only this process writes: a header of one page, and records.
#[derive(Debug)]
pub(super) struct MappedFile {
    file: File,
    path: PathBuf,
    /// The first page.
    header: Mapping,
    /// The end, and where it begins in the file.
    end: Mapping,
    end_begins: usize,
    used: usize,
    error: Option<io::Error>,
}

impl MappedFile {
    /// Makes the file; it must not exist.
    pub(super) fn create(path: &Path, header: &[u8]) -> io::Result<MappedFile> {
        assert_eq!(header.len(), PAGE_BYTES, "a header of one page");
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        allocate(&file, 0, CHUNK_BYTES)?;
        let made = MappedFile {
            header: Mapping::of(&file, 0, PAGE_BYTES)?,
            end: Mapping::of(&file, PAGE_BYTES, CHUNK_BYTES - PAGE_BYTES)?,
            file,
            path: path.to_path_buf(),
            end_begins: PAGE_BYTES,
            used: PAGE_BYTES,
            error: None,
        };
        made.write_header(0, header);
        Ok(made)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Why it cannot grow; `None` if it can.
    pub(super) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Bytes of records.
    pub(super) fn records(&self) -> usize {
        self.used - PAGE_BYTES
    }

    /// A place in the header, of which so many bytes may be used; valid until the file is closed.
    pub(super) fn header(&self, at: usize, bytes: usize) -> *mut u8 {
        self.header.place(at, bytes)
    }

    /// Replaces a part of the header.
    pub(super) fn write_header(&self, at: usize, bytes: &[u8]) {
        // SAFETY: the place has so many bytes, and they are of this process alone.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.header(at, bytes.len()), bytes.len()) };
    }

    /// Room for so many bytes after the records, or more; `None`: there is no more room.
    #[inline]
    pub(super) fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        if self.used + bytes > self.end_begins + self.end.bytes {
            if let Err(error) = self.grow(bytes) {
                self.error = Some(error);
                return None;
            }
        }
        let at = self.used - self.end_begins;
        // SAFETY: `end` is a mapping of so many bytes, and the file has them all. No other process writes
        // them: the file was made for this one alone.
        Some(unsafe { std::slice::from_raw_parts_mut(self.end.memory.as_ptr().add(at), self.end.bytes - at) })
    }

    /// The first so many bytes of the last room are records from now on.
    #[inline]
    pub(super) fn commit(&mut self, bytes: usize) {
        self.used += bytes;
    }

    fn grow(&mut self, needed: usize) -> io::Result<()> {
        let begins = self.used / PAGE_BYTES * PAGE_BYTES;
        let bytes = self.used.clamp(CHUNK_BYTES, LARGEST_CHUNK_BYTES).max(needed + PAGE_BYTES);
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        allocate(&self.file, begins, bytes)?;
        (self.end, self.end_begins) = (Mapping::of(&self.file, begins, bytes)?, begins);
        Ok(())
    }

    /// Computes something from the whole file; `None`: there is no memory for it.
    pub(super) fn of_all<T>(&self, compute: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let whole = Mapping::of(&self.file, 0, self.used).ok()?;
        // SAFETY: a mapping of so many bytes, which the file has, and which nothing writes meanwhile.
        Some(compute(unsafe { std::slice::from_raw_parts(whole.memory.as_ptr(), whole.bytes) }))
    }

    /// Gives back the room that was not used.
    pub(super) fn close(self) {
        // It is whole either way: what follows the records is not read.
        let _ = self.file.set_len(self.used as u64);
    }
}

/// Makes sure that the file system has room, so that writing to the mapping cannot fail.
fn allocate(file: &File, from: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: a call without pointers on a file that is open.
    let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), from as libc::off_t, bytes as libc::off_t) };
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_has_grown_has_all_that_was_written() {
        let path = std::env::temp_dir().join(format!("evenkeel-mapped-{}", std::process::id()));
        let mut file = MappedFile::create(&path, &[7; PAGE_BYTES]).unwrap();
        let mut expected = vec![7; PAGE_BYTES];
        for number in 0..3000_usize {
            let record = vec![number as u8; 1 + number % 700];
            file.room(record.len()).unwrap()[..record.len()].copy_from_slice(&record);
            file.commit(record.len());
            expected.extend(record);
        }
        file.write_header(8, &[9; 4]);
        expected[8..12].copy_from_slice(&[9; 4]);
        assert_eq!(file.records(), expected.len() - PAGE_BYTES);
        assert!(file.of_all(|bytes| bytes == expected).unwrap());
        assert!(MappedFile::create(&path, &[7; PAGE_BYTES]).is_err(), "it exists");
        file.close();
        assert!(std::fs::read(&path).unwrap() == expected);
        std::fs::remove_file(&path).unwrap();
    }
}
