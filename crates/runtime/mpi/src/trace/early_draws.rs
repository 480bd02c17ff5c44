//! What the C library gives the program before `MPI_Init`, while there is no file for it yet.
//!
//! Nothing is allocated: UCX reads a clock while it has replaced the first bytes of `mmap` by a jump to
//! itself, and an allocator may ask while it holds its locks.

use evenkeel_trace::format::{LibraryClock, LibrarySource};
use evenkeel_trace::recorder::{Recorder, Store};

/// A program may wait by a clock; these are enough for some milliseconds.
const CLOCKS: usize = 1 << 18;
const BYTES: usize = 1 << 16;
/// Calls that give bytes.
const PIECES: usize = 1024;

/// Clocks and bytes, each kind in its order.
#[derive(Debug)]
pub(crate) struct EarlyDraws {
    clocks: [(u8, i64); CLOCKS],
    clocks_count: usize,
    /// Source, and how many bytes of `bytes`.
    pieces: [(u8, u32); PIECES],
    pieces_count: usize,
    bytes: [u8; BYTES],
    bytes_count: usize,
    /// There was more than is kept.
    pub(crate) is_full: bool,
}

impl EarlyDraws {
    pub(crate) const NONE: EarlyDraws = EarlyDraws {
        clocks: [(0, 0); CLOCKS],
        clocks_count: 0,
        pieces: [(0, 0); PIECES],
        pieces_count: 0,
        bytes: [0; BYTES],
        bytes_count: 0,
        is_full: false,
    };

    pub(crate) fn keep_clock(&mut self, clock: LibraryClock, value: i64) {
        match self.clocks.get_mut(self.clocks_count) {
            Some(place) => {
                *place = (clock.number() as u8, value);
                self.clocks_count += 1;
            }
            None => self.is_full = true,
        }
    }

    pub(crate) fn keep_bytes(&mut self, source: LibrarySource, given: &[u8]) {
        let room = self.bytes.get_mut(self.bytes_count..self.bytes_count + given.len());
        match (room, self.pieces.get_mut(self.pieces_count)) {
            (Some(room), Some(piece)) => {
                room.copy_from_slice(given);
                *piece = (source.number() as u8, given.len() as u32);
                self.bytes_count += given.len();
                self.pieces_count += 1;
            }
            _ => self.is_full = true,
        }
    }

    /// Passes all on.
    pub(crate) fn note<S: Store>(&self, recorder: &mut Recorder<S>) {
        for &(clock, value) in &self.clocks[..self.clocks_count] {
            let clock = LibraryClock::new(u64::from(clock)).expect("it was one");
            recorder.library_clock(clock, value);
        }
        let mut rest = &self.bytes[..];
        for &(source, count) in &self.pieces[..self.pieces_count] {
            let (given, more) = rest.split_at(count as usize);
            recorder.library_bytes(LibrarySource::new(u64::from(source)).expect("it was one"), given);
            rest = more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_trace::format::Live;

    #[derive(Default)]
    struct Memory(Vec<u8>);

    impl Store for Memory {
        fn append(&mut self, records: &[u8]) -> bool {
            self.0.extend_from_slice(records);
            true
        }
        fn set_live(&mut self, _: &Live) {}
        fn seal(&self, _: &Live) -> Option<u64> {
            Some(1)
        }
    }

    #[test]
    fn what_is_kept_is_passed_on_and_no_more_than_there_is_room_for() {
        // It is too large for a stack.
        static PLACE: std::sync::Mutex<EarlyDraws> = std::sync::Mutex::new(EarlyDraws::NONE);
        let mut early = PLACE.lock().expect("no other test takes it");
        let source = LibrarySource::new(1).expect("there is one");
        early.keep_clock(LibraryClock::new(3).expect("there is one"), 17);
        early.keep_bytes(source, b"seven");
        let mut recorder = Recorder::new(Memory::default(), 64);
        early.note(&mut recorder);
        assert_eq!(recorder.store().0, b"\x07\x03\x22\x08\x01\x05seven");
        assert!(!early.is_full);
        early.keep_bytes(source, &[0; BYTES]);
        assert!(early.is_full);
        early.is_full = false;
        (0..CLOCKS).for_each(|_| early.keep_clock(LibraryClock::new(3).expect("there is one"), 1));
        assert!(early.is_full && early.clocks_count == CLOCKS && early.pieces_count == 1);
    }
}
