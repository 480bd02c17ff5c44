//! Writes to one stream of this process in a thread of its own, so that a slow reader holds up no rank's
//! start and no signal.

use rustix::event::{EventfdFlags, eventfd};
use std::fs::File;
use std::io::Write;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// From so many bytes on nothing more is read from ranks until the reader has taken some.
const FULL: usize = 1 << 20;

#[derive(Debug, Default)]
struct State {
    waiting: Vec<u8>,
    is_closed: bool,
    /// The reader has gone.
    is_broken: bool,
    /// The event loop wants to know when there is room.
    is_full: bool,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Counts when there is room again, or no reader is left.
    room: OwnedFd,
}

/// A stream and what waits to be written to it.
#[derive(Debug)]
pub struct Sink {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, mut to: File) {
        let mut part = Vec::new();
        loop {
            let mut state = self.lock();
            while state.waiting.is_empty() && !state.is_closed {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.waiting.is_empty() {
                return;
            }
            part.clear();
            mem::swap(&mut part, &mut state.waiting);
            let was_full = mem::take(&mut state.is_full);
            drop(state);
            let is_broken = to.write_all(&part).is_err();
            if is_broken {
                let mut state = self.lock();
                state.is_broken = true;
                state.waiting.clear();
            }
            if was_full || is_broken {
                // A counter that is not zero is enough; it cannot overflow with a few events.
                let _ = rustix::io::write(&self.room, &1u64.to_ne_bytes());
            }
            if is_broken {
                return;
            }
        }
    }
}

impl Sink {
    /// Starts writing to `to`.
    ///
    /// # Errors
    /// If there can be no thread for it.
    pub fn start(to: OwnedFd) -> std::io::Result<Sink> {
        let room = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), room });
        let writer = Arc::clone(&shared);
        let thread = thread::Builder::new().spawn(move || writer.write_all(File::from(to)))?;
        Ok(Sink { shared, thread: Some(thread) })
    }

    /// Adds bytes. Returns whether more may be read from ranks; if not, [`Sink::room`] tells when.
    pub fn add(&self, bytes: &[u8]) -> bool {
        let mut state = self.shared.lock();
        if !state.is_broken {
            state.waiting.extend_from_slice(bytes);
        }
        state.is_full = state.waiting.len() > FULL;
        let has_room = !state.is_full;
        drop(state);
        self.shared.changed.notify_one();
        has_room
    }

    /// Readable when there is room again, or when the reader has gone.
    pub fn room(&self) -> BorrowedFd<'_> {
        self.shared.room.as_fd()
    }

    /// Takes note of [`Sink::room`]. Returns whether anybody reads the stream.
    pub fn has_reader(&self) -> bool {
        let mut counter = [0u8; 8];
        // Nothing to read is the usual case.
        let _ = rustix::io::read(&self.shared.room, &mut counter);
        !self.shared.lock().is_broken
    }

    /// Waits until all has been written, or the reader has gone.
    pub fn finish(mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread has nothing that could panic but the allocator, which ends the process.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::pipe;
    use std::io::Read;

    #[test]
    fn all_bytes_arrive_and_a_slow_reader_is_noticed() {
        let (reader, writer) = pipe().unwrap();
        let sink = Sink::start(writer).unwrap();
        let mut is_full = false;
        let part = vec![b'a'; 100_000];
        for _ in 0..100 {
            is_full |= !sink.add(&part);
        }
        assert!(is_full);
        let reading = thread::spawn(move || {
            let mut all = Vec::new();
            File::from(reader).read_to_end(&mut all).map(|_| all.len())
        });
        sink.finish();
        assert_eq!(reading.join().unwrap().unwrap(), 10_000_000);
    }

    #[test]
    fn a_reader_that_goes_is_noticed() {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let sink = Sink::start(writer).unwrap();
        sink.add(b"x");
        while sink.has_reader() {
            thread::yield_now();
        }
        sink.finish();
    }
}
