//! Who the processes of a node are, for programs that look at a job from outside.
//!
//! Each process writes its own words once, before it joins, and they stay as they are after its end.
//!
//! May use: the segment's words. Must never: wait.

use crate::layout::{IDENTITY_AT, IDENTITY_WORDS, LINE, MAX_PROCESSES, PROCESSES_AT, RANKS_AT};
use crate::sync::{Ordering, Words};

/// Who a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its number, as it knows it itself. Never 0.
    pub pid: u32,
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Address in it of the name of its MPI library, and its length in bytes.
    pub library: (u64, u64),
    /// Nanoseconds per tick of its clock, times 2^32; 0 if its ticks are nanoseconds of the monotonic clock.
    pub tick_scale: u64,
    /// Address in it of what the front end tells those who look from outside; 0 before it has done so.
    pub inspection: u64,
}

/// What a process has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has not joined.
    Absent,
    /// It takes part.
    Joined,
    /// It has done its part in everything: it is in MPI_Finalize or past it.
    Left,
    /// It ends, or has ended, because something else was lost.
    Ended,
}

fn at(place: usize) -> usize {
    assert!(place < MAX_PROCESSES);
    PROCESSES_AT + place * LINE
}

/// Writes who the process at a place of this node is, and how many ranks its job has on all nodes. To be
/// called by the process itself, before it joins.
pub fn introduce(segment: &impl Words, place: usize, ranks: usize, identity: &Identity) {
    let Identity { pid, rank, library, tick_scale, inspection } = *identity;
    // All processes write the same number.
    segment.word(RANKS_AT).store(ranks as u64, Ordering::Relaxed);
    let words = [library.0, library.1, tick_scale, inspection];
    for (i, value) in words.into_iter().enumerate() {
        segment.word(at(place) + IDENTITY_AT + 8 * (i + 1)).store(value, Ordering::Relaxed);
    }
    // Release: a reader that finds the process finds the other words, too.
    let word = u64::from(pid) | u64::from(rank) << 32;
    segment.word(at(place) + IDENTITY_AT).store(word, Ordering::Release);
}

/// Adds where the front end tells what those who look from outside need.
pub fn introduce_inspection(segment: &impl Words, place: usize, address: u64) {
    let word = segment.word(at(place) + IDENTITY_AT + 8 * (IDENTITY_WORDS - 1));
    word.store(address, Ordering::Release); // what stands there comes first
}

/// Where the number of the job's ranks stands.
pub(crate) const RANKS: usize = RANKS_AT;

/// Who the process at a place is, and what it has done, from a copy of its line. None: there is none.
pub(crate) fn of_line(line: &[u64; LINE / 8]) -> Option<(Stage, Identity)> {
    let words = &line[IDENTITY_AT / 8..];
    let identity = Identity {
        pid: words[0] as u32,
        rank: (words[0] >> 32) as u32,
        library: (words[1], words[2]),
        tick_scale: words[3],
        inspection: words[4],
    };
    let stage = match line[0] {
        1 => Stage::Joined,
        2 => Stage::Left,
        3 => Stage::Ended,
        _ => Stage::Absent,
    };
    (identity.pid != 0).then_some((stage, identity))
}

/// Offset of a process's line.
pub(crate) fn line(place: usize) -> usize {
    at(place)
}
