//! What send buffers hold while the messages are under way, as hashes.
//!
//! A program may free a buffer too early, so buffers are read by the kernel: bytes that are not there are an
//! answer, not the end of the process.

use super::times::ByHandle;
use evenkeel_trace::digest;
use std::sync::Arc;

/// Where the bytes of a datatype's elements lie.
#[derive(Debug)]
pub(super) struct TypeBytes {
    /// From one element to the next.
    pub(super) extent: i64,
    /// Displacement and length of each run.
    pub(super) runs: Vec<(i64, u64)>,
}

/// Elements of the program's.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    pub(super) address: usize,
    pub(super) count: u64,
    pub(super) of: Arc<TypeBytes>,
}

/// Of a send buffer.
struct Send {
    elements: Elements,
    is_persistent: bool,
    /// When it was sent; `None`: it is not under way, or could not be read.
    hash: Option<u64>,
}

/// What has become of a send buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Changed,
    Gone,
}

/// The sends that are under way.
#[derive(Default)]
pub(super) struct InFlight {
    by_request: ByHandle<Send>,
}

/// So many bytes are read at once, at most.
const PIECE_BYTES: usize = 64 << 10;
/// A buffer of more runs is not looked at: it would take longer than sending it.
const MOST_RUNS: u64 = 1 << 16;

impl InFlight {
    /// A request was made, which sends these elements; a persistent one when it is started.
    pub(super) fn made(&mut self, request: usize, elements: Elements, is_persistent: bool) {
        let hash = if is_persistent { None } else { hash(&elements).ok().flatten() };
        let is_new = !self.by_request.contains_key(&request);
        // Libraries give the same handle to all sends that were complete at once. Which of them a wait
        // completes cannot be told then.
        let hash = hash.filter(|_| is_new);
        self.by_request.insert(request, Send { elements, is_persistent, hash });
    }

    /// A persistent request was started.
    pub(super) fn started(&mut self, request: usize) {
        if let Some(send) = self.by_request.get_mut(&request).filter(|send| send.is_persistent) {
            send.hash = hash(&send.elements).ok().flatten();
        }
    }

    /// The program has learned that the request is complete.
    pub(super) fn complete(&mut self, request: usize) -> Option<Change> {
        let send = self.by_request.get_mut(&request)?;
        let before = send.hash.take();
        let change = before.and_then(|before| match hash(&send.elements) {
            Ok(Some(after)) if after != before => Some(Change::Changed),
            Ok(_) => None,
            Err(ReadError) => Some(Change::Gone),
        });
        if !send.is_persistent {
            self.by_request.remove(&request);
        }
        change
    }

    /// The program has freed the request.
    pub(super) fn forget(&mut self, request: usize) {
        self.by_request.remove(&request);
    }
}

/// Memory that is not there any more.
struct ReadError;

/// `None`: it is not looked at.
fn hash(elements: &Elements) -> Result<Option<u64>, ReadError> {
    let mut elements = elements.clone();
    if let [(at, length)] = elements.of.runs[..] {
        if length as i64 == elements.of.extent {
            // One after the other: one run.
            let runs = vec![(at, length.saturating_mul(elements.count))];
            elements = Elements { count: 1, of: Arc::new(TypeBytes { extent: 0, runs }), ..elements };
        }
    }
    let runs = elements.of.runs.len() as u64;
    let pieces = elements.count.saturating_mul(runs);
    if pieces == 0 || pieces > MOST_RUNS {
        return Ok(None);
    }
    let of_one = elements.of.runs.iter().fold(0_u64, |sum, (_, length)| sum.saturating_add(*length));
    let room = usize::try_from(elements.count.saturating_mul(of_one)).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
    let mut parts = Parts { hash: 0, filled: 0, places: Vec::new(), bytes: vec![0; room] };
    for number in 0..elements.count as i64 {
        for &(at, length) in &elements.of.runs {
            let offset = number.wrapping_mul(elements.of.extent).wrapping_add(at);
            let mut address = elements.address.wrapping_add(offset as usize);
            let mut left = length as usize;
            while left > 0 {
                let taken = left.min(room - parts.filled);
                parts.add(address, taken)?;
                address = address.wrapping_add(taken);
                left -= taken;
            }
        }
    }
    parts.read()?;
    Ok(parts.is_readable().then_some(parts.hash))
}

/// Bytes that are read by one system call.
struct Parts {
    hash: u64,
    filled: usize,
    places: Vec<libc::iovec>,
    bytes: Vec<u8>,
}

/// The kernel takes so many places at once.
const MOST_PLACES: usize = 1024;

impl Parts {
    fn add(&mut self, address: usize, length: usize) -> Result<(), ReadError> {
        match self.places.last_mut() {
            Some(last) if last.iov_base as usize + last.iov_len == address => last.iov_len += length,
            _ => self.places.push(libc::iovec { iov_base: address as *mut _, iov_len: length }),
        }
        self.filled += length;
        if self.filled == self.bytes.len() || self.places.len() == MOST_PLACES { self.read() } else { Ok(()) }
    }

    fn read(&mut self) -> Result<(), ReadError> {
        if self.filled == 0 {
            return Ok(());
        }
        let here = libc::iovec { iov_base: self.bytes.as_mut_ptr().cast(), iov_len: self.filled };
        // SAFETY: the kernel writes at most `filled` bytes to `bytes`, which has as many, and checks the
        // places that it reads.
        let read = unsafe {
            let count = self.places.len() as libc::c_ulong;
            libc::process_vm_readv(libc::getpid(), &here, 1, self.places.as_ptr(), count, 0)
        };
        if read < 0 && std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT) {
            // The system call is not allowed here.
            self.filled = 0;
            self.hash = u64::MAX;
            self.places.clear();
            return Ok(());
        }
        if read != self.filled as isize {
            return Err(ReadError);
        }
        if self.hash != u64::MAX {
            self.hash = digest::of_bytes(self.hash, &self.bytes[..self.filled]);
        }
        self.filled = 0;
        self.places.clear();
        Ok(())
    }

    fn is_readable(&self) -> bool {
        self.hash != u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_at(bytes: &[u8], runs: &[(i64, u64)], extent: i64, count: u64) -> Elements {
        let of = Arc::new(TypeBytes { extent, runs: runs.to_vec() });
        Elements { address: bytes.as_ptr() as usize, count, of }
    }

    #[test]
    fn a_change_between_the_holes_is_none() {
        let mut bytes = vec![1_u8; 64];
        let mut flight = InFlight::default();
        let pairs = bytes_at(&bytes, &[(0, 4)], 16, 4);
        flight.made(7, pairs.clone(), false);
        bytes[5] = 9;
        std::hint::black_box(&bytes);
        assert_eq!(flight.complete(7), None);
        flight.made(7, pairs, false);
        bytes[16] = 9;
        std::hint::black_box(&bytes);
        assert_eq!(flight.complete(7), Some(Change::Changed));
        assert_eq!(flight.complete(7), None);
    }

    #[test]
    fn any_number_of_elements_without_holes_is_looked_at() {
        let mut bytes = vec![1_u8; 4 << 20];
        let mut flight = InFlight::default();
        flight.made(7, bytes_at(&bytes, &[(0, 4)], 4, 1 << 20), false);
        bytes[(4 << 20) - 1] = 9;
        std::hint::black_box(&bytes);
        assert_eq!(flight.complete(7), Some(Change::Changed));
    }

    #[test]
    fn persistent_sends_are_looked_at_from_start_to_end_only() {
        let mut bytes = vec![1_u8; 100_000];
        let mut flight = InFlight::default();
        flight.made(1, bytes_at(&bytes, &[(0, 100_000)], 100_000, 1), true);
        bytes[0] = 2;
        std::hint::black_box(&bytes);
        flight.started(1);
        assert_eq!(flight.complete(1), None);
        flight.started(1);
        bytes[99_999] = 2;
        std::hint::black_box(&bytes);
        assert_eq!(flight.complete(1), Some(Change::Changed));
    }

    #[test]
    fn memory_that_is_gone_is_told() {
        // SAFETY: a new mapping, which takes the place of nothing; it is removed once.
        let (address, elements) = unsafe {
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let address = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, kind, -1, 0);
            let of = Arc::new(TypeBytes { extent: 8, runs: vec![(0, 8)] });
            (address, Elements { address: address as usize, count: 2, of })
        };
        let mut flight = InFlight::default();
        flight.made(1, elements, false);
        // SAFETY: as above.
        unsafe { libc::munmap(address, 4096) };
        assert_eq!(flight.complete(1), Some(Change::Gone));
    }

    #[test]
    fn one_handle_for_two_sends_is_not_judged() {
        let mut bytes = vec![1_u8; 8];
        let mut flight = InFlight::default();
        flight.made(1, bytes_at(&bytes, &[(0, 8)], 8, 1), false);
        flight.made(1, bytes_at(&bytes, &[(0, 8)], 8, 1), false);
        bytes[0] = 3;
        std::hint::black_box(&bytes);
        assert_eq!(flight.complete(1), None);
    }
}
