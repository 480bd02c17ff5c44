//! The segment: one anonymous memory file, made by one rank of a node and mapped by all.
//!
//! It never has a name. The others open it through `/proc/<pid>/fd/<n>` while its maker holds it open;
//! afterwards it lives as long as somebody maps it. So nothing is left behind however the processes
//! end, and neither the size nor the mode of `/dev/shm` matters.

use crate::eventcount::Futex;
use crate::layout::{EVENTCOUNT_AT, PAGE};
use crate::sync::{AtomicU64, Words};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::NonNull;
use thiserror::Error;

/// Why a segment cannot be had.
#[derive(Debug, Error)]
pub enum SegmentError {
    #[error("the kernel gave no anonymous memory file (memfd_create: {0})")]
    Create(io::Error),
    #[error("cannot open the node's segment through {path}: {cause}; it belongs to process {pid}")]
    Open { path: String, pid: u32, cause: io::Error },
    #[error(
        "cannot map {bytes} bytes of shared memory: {cause}; is there a limit on address space (ulimit -v)?"
    )]
    Map { bytes: usize, cause: io::Error },
    #[error("what process {pid} offers is not the segment of this job")]
    WrongToken { pid: u32 },
}

/// The whole of a node's shared memory, mapped.
pub struct Segment {
    base: NonNull<u8>,
    bytes: usize,
    file: Option<File>,
}

// SAFETY: the mapping lives as long as the Segment and is only reached through atomics, or through raw
// pointers whose users follow the protocol of `board`.
unsafe impl Send for Segment {}
unsafe impl Sync for Segment {}

/// First words of a segment.
const MAGIC: u64 = 0x006c_6565_6b6e_6576; // "evenkeel"
const MAGIC_AT: usize = 0;
const TOKEN_AT: usize = 8;

impl Segment {
    /// Makes a new one of `bytes` (address space; pages are taken when touched).
    pub fn create(bytes: usize, token: u64) -> Result<Segment, SegmentError> {
        // SAFETY: a constant, terminated name; the result is checked.
        let fd = unsafe { libc::memfd_create(c"evenkeel".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(SegmentError::Create(io::Error::last_os_error()));
        }
        // SAFETY: fd is ours and open.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(bytes as u64).map_err(SegmentError::Create)?;
        let segment = Self::map(file, bytes)?;
        segment.word(TOKEN_AT).store(token, std::sync::atomic::Ordering::Relaxed);
        // Release: pairs with the load in `open`.
        segment.word(MAGIC_AT).store(MAGIC, std::sync::atomic::Ordering::Release);
        Ok(segment)
    }

    /// Opens the one that process `pid` holds as descriptor `fd`.
    pub fn open(pid: u32, fd: i32, token: u64) -> Result<Segment, SegmentError> {
        let path = format!("/proc/{pid}/fd/{fd}");
        let opened =
            File::options().read(true).write(true).open(&path).and_then(|f| Ok((f.metadata()?.len(), f)));
        let (bytes, file) = opened.map_err(|cause| SegmentError::Open { path, pid, cause })?;
        if (bytes as usize) < 2 * PAGE {
            return Err(SegmentError::WrongToken { pid });
        }
        let segment = Self::map(file, bytes as usize)?;
        let magic = segment.word(MAGIC_AT).load(std::sync::atomic::Ordering::Acquire); // pairs with `create`
        if magic != MAGIC || segment.word(TOKEN_AT).load(std::sync::atomic::Ordering::Relaxed) != token {
            return Err(SegmentError::WrongToken { pid });
        }
        Ok(segment)
    }

    fn map(file: File, bytes: usize) -> Result<Segment, SegmentError> {
        // SAFETY: a fresh shared mapping of a file we hold; the result is checked.
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
        // SAFETY: the range was just mapped. Core dumps need not carry gigabytes of holes.
        unsafe { libc::madvise(address, bytes, libc::MADV_DONTDUMP) };
        Ok(Segment { base: NonNull::new(address.cast()).expect("mmap gave null"), bytes, file: Some(file) })
    }

    /// The descriptor others may open; None once `close_file` was called.
    pub fn descriptor(&self) -> Option<i32> {
        self.file.as_ref().map(|f| f.as_raw_fd())
    }

    /// Gives up the descriptor, when everybody has mapped the memory.
    pub fn close_file(&mut self) {
        self.file = None;
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A view that starts at `offset`.
    pub fn at(&self, offset: usize) -> Mapped {
        assert!(offset < self.bytes && offset % 8 == 0);
        // SAFETY: within the mapping.
        Mapped { base: unsafe { self.base.add(offset) } }
    }
}

impl Words for Segment {
    fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset + 8 <= self.bytes && offset % 8 == 0);
        // SAFETY: inside the mapping and aligned; concurrent access to these words is atomic everywhere.
        unsafe { &*self.base.as_ptr().add(offset).cast() }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: maps exactly this range; users of `Mapped` are gone before the engine drops its world.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// A part of a segment, by its first byte. Valid as long as the segment is mapped.
#[derive(Clone, Copy)]
pub struct Mapped {
    base: NonNull<u8>,
}

// SAFETY: see Segment.
unsafe impl Send for Mapped {}
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Address of the byte at `offset`.
    #[inline(always)]
    pub fn pointer(&self, offset: usize) -> *mut u8 {
        self.base.as_ptr().wrapping_add(offset)
    }
}

impl crate::channel::Bytes for Mapped {
    #[inline(always)]
    fn byte(&self, offset: usize) -> *mut u8 {
        self.pointer(offset)
    }
}

impl Words for Mapped {
    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: offsets come from `Geometry`, inside the block; the words there are only accessed
        // atomically.
        unsafe { &*self.pointer(offset).cast() }
    }
}

const MEMBARRIER_GLOBAL_EXPEDITED: i32 = 1 << 1;
const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: i32 = 1 << 2;

/// Asks the kernel to let other processes fence this one; false where it cannot.
pub fn register_for_fences() -> bool {
    // SAFETY: no memory is passed.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 }
}

impl Futex for Mapped {
    fn wait(&self, seen: u64, timeout_ns: u64) {
        let timeout = libc::timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (timeout_ns % 1_000_000_000) as _,
        };
        // SAFETY: the bell's word is mapped and four-byte aligned; its low half is what the kernel compares
        // (x86-64 and aarch64 Linux are little-endian). Returning early is allowed.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.pointer(EVENTCOUNT_AT),
                libc::FUTEX_WAIT,
                seen as u32,
                &timeout,
                0,
                0,
            );
        }
    }

    fn wake_all(&self) {
        // SAFETY: as above.
        unsafe {
            libc::syscall(libc::SYS_futex, self.pointer(EVENTCOUNT_AT), libc::FUTEX_WAKE, i32::MAX, 0, 0, 0)
        };
    }

    fn membarrier(&self) {
        // SAFETY: no memory is passed. Registration was tested, so this cannot fail.
        unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_GLOBAL_EXPEDITED, 0, 0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn another_mapping_sees_the_same_words() {
        let a = Segment::create(1 << 20, 42).unwrap();
        let b = Segment::open(std::process::id(), a.descriptor().unwrap(), 42).unwrap();
        a.word(8192).store(7, Ordering::Release);
        assert_eq!(b.word(8192).load(Ordering::Acquire), 7);
    }

    #[test]
    fn a_stranger_is_refused() {
        let a = Segment::create(1 << 20, 42).unwrap();
        let wrong = Segment::open(std::process::id(), a.descriptor().unwrap(), 43);
        assert!(matches!(wrong, Err(SegmentError::WrongToken { .. })));
        let gone = Segment::open(std::process::id(), 9999, 42).err().unwrap().to_string();
        assert!(gone.contains("/proc/"), "{gone}");
    }
}
