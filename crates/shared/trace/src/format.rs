//! The file of one rank: a header of 4096 bytes, then records one after the other, then zeros.
//!
//! Numbers are little-endian. The header has what is known at the start, and counters that the rank keeps
//! current while it runs, so that a rank that is killed loses nothing:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | `EKTRACE` and a line feed |
//! | 8 | 4 | version of the format: 2 |
//! | 12 | 4 | ranks of `MPI_COMM_WORLD` |
//! | 16 | 4 | this rank |
//! | 20 | 4 | calls from one check to the next |
//! | 24 | 8 | size of the program's file |
//! | 32 | 8 | its time of change, ns since 1970 |
//! | 40 | 8 | identification of the run, the same for all of its ranks |
//! | 48 | 2 | length of the program's name |
//! | 50 | … | the name |
//! | 512 | 8 | bytes of records |
//! | 520 | 8 | calls that are over (failed tests and probes not counted) |
//! | 528 | 8 | failed tests and probes |
//! | 536 | 8 | hash of what was sent |
//! | 544 | 8 | hash of what was received |
//! | 552 | 8 | how it ended: 0 not in `MPI_Finalize`, 1 there, 2 there was no room for the trace |
//! | 560 | 8 | hash of the first 512 bytes and of the records, once it has ended in `MPI_Finalize` |
//!
//! A record begins with a byte:
//!
//! | byte | record |
//! |---|---|
//! | 0x80 to 0xff | the next receive got a message from rank (byte - 0x80), with the tag of the one before |
//! | 0x01 | a receive got a message: how far it is from the next one, source, tag |
//! | 0x02 | a receive was cancelled: how far it is from the next one |
//! | 0x03 | failed tests and probes: how many |
//! | 0x04 | `MPI_Wtime`: difference of the bits of its value from the value before |
//! | 0x05 | check: the lower half of each hash (sent, received), 4 bytes each |
//! | 0x06 | from here on equality is not promised: calls that were over, length of a name, the name |
//! | 0x07 | a [`LibraryClock`]: which, difference of its value from the value before |
//! | 0x08 | bytes of a [`LibrarySource`]: which, how many, the bytes |
//! | 0x09 | `MPI_Init`: the clocks and random numbers so far came before it |
//! | 0x10 + c | a test or probe that succeeded, or a wait: see [`Choice`](crate::choice::Choice) |
//!
//! The numbers that follow are of variable [length](crate::varint); differences, distances, sources and tags
//! are signed.
//!
//! Receives are numbered in the order in which they are posted: those that name no source or no tag, and all
//! nonblocking ones. (A blocking receive from one rank with one tag needs no number, as nothing is ever noted
//! about it.) "The next one" is the receive after the one that was noted before, at first receive 0.

use crate::digest::Digest;
use crate::rank_file::{self, FileFormat};

pub use crate::rank_file::{HEADER_BYTES, LIVE_OFFSET};

/// What a file begins with.
pub const MAGIC: [u8; 8] = *b"EKTRACE\n";
/// The version of the format.
pub const VERSION: u32 = 4;
pub(crate) const FORMAT: FileFormat =
    FileFormat { magic: MAGIC, version: VERSION, otherwise: "it is not a trace of evenkeel" };
/// The longest name of a program that is kept.
pub const LONGEST_NAME: usize = LIVE_OFFSET - 50;

pub(crate) const MATCHED: u8 = 0x01;
pub(crate) const CANCELLED: u8 = 0x02;
pub(crate) const MISSES: u8 = 0x03;
pub(crate) const CLOCK: u8 = 0x04;
pub(crate) const CHECK: u8 = 0x05;
pub(crate) const UNPROMISED: u8 = 0x06;
pub(crate) const LIBRARY_CLOCK: u8 = 0x07;
pub(crate) const LIBRARY_BYTES: u8 = 0x08;
pub(crate) const INIT: u8 = 0x09;
pub(crate) const FIRST_CHOICE: u8 = 0x10;
pub(crate) const SHORT_MATCH: u8 = 0x80;

/// A number below `N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberBelow<const N: usize>(u8);

impl<const N: usize> NumberBelow<N> {
    /// So many numbers there are.
    pub const COUNT: usize = N;

    /// `None` if it is not below.
    pub fn new(number: u64) -> Option<Self> {
        (number < N as u64).then_some(NumberBelow(number as u8))
    }

    /// The number.
    pub fn number(self) -> usize {
        usize::from(self.0)
    }
}

/// A clock of the C library, by a number: those of `clock_gettime` have the kernel's (ns); 16 is
/// `gettimeofday` (µs), 17 `time` (s), 18 `ftime` (ms), 19 `timespec_get` (ns), 20 `clock` (µs).
pub type LibraryClock = NumberBelow<32>;

/// What a library gives beside clocks, by a number: 0 are random numbers, 1 `getrusage`, 2 `times`.
pub type LibrarySource = NumberBelow<3>;

/// What is known at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Ranks of `MPI_COMM_WORLD`.
    pub ranks: u32,
    /// The rank whose file it is.
    pub rank: u32,
    /// Calls from one check to the next; at least 1.
    pub interval: u32,
    /// Size of the program's file.
    pub program_bytes: u64,
    /// Its time of change, ns since 1970.
    pub program_changed_ns: u64,
    /// The same for all ranks of the run.
    pub run: u64,
    /// Name of the program's file.
    pub program: String,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// Not in `MPI_Finalize`: it was killed, called `MPI_Abort`, or goes on.
    #[default]
    Open,
    /// In `MPI_Finalize`.
    Finalized,
    /// The trace ends before the run does.
    NoRoom,
}

impl Ending {
    /// The number that stands for it in a file.
    pub(crate) fn number(self) -> u64 {
        match self {
            Ending::Open => 0,
            Ending::Finalized => 1,
            Ending::NoRoom => 2,
        }
    }

    /// What a number stands for.
    pub(crate) fn of(number: u64) -> Option<Ending> {
        [Ending::Open, Ending::Finalized, Ending::NoRoom].into_iter().find(|ending| ending.number() == number)
    }
}

/// The counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Bytes of records.
    pub used: u64,
    /// Calls that are over.
    pub calls: u64,
    /// Failed tests and probes.
    pub misses: u64,
    /// What was sent.
    pub sent: Digest,
    /// What was received.
    pub received: Digest,
    /// How it ended.
    pub ending: Ending,
    /// Hash of all that does not change any more; 0 before the end.
    pub seal: u64,
}

/// The header as bytes, with counters that are all 0.
pub fn header(start: &Start) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend_from_slice(&MAGIC);
    for number in [VERSION, start.ranks, start.rank, start.interval] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for number in [start.program_bytes, start.program_changed_ns, start.run] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    let name = &start.program.as_bytes()[..start.program.len().min(LONGEST_NAME)];
    bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
    bytes.extend_from_slice(name);
    bytes.resize(HEADER_BYTES, 0);
    bytes
}

/// The counters as bytes, for [`LIVE_OFFSET`].
pub fn live_bytes(live: &Live) -> [u8; 56] {
    let numbers =
        [live.used, live.calls, live.misses, live.sent.0, live.received.0, live.ending.number(), live.seal];
    let mut bytes = [0; 56];
    for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// The seal of a file that has ended.
pub fn seal(file: &[u8], live: &Live) -> u64 {
    rank_file::seal(file, &live_bytes(&Live { seal: 0, ..*live }), live.used)
}
