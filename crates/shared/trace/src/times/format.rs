//! The file: a header of 4096 bytes, then records one after the other, then anything.
//!
//! Numbers are little-endian. The rank keeps the counters of the header current while it runs, so that a rank
//! that is killed loses nothing but the call that it is in, and of that the end only:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | `EKTIMES` and a line feed |
//! | 8 | 4 | version of the format: 1 |
//! | 12 | 4 | ranks of `MPI_COMM_WORLD` |
//! | 16 | 4 | this rank |
//! | 20 | 4 | what a tick is: 0 a ns of `CLOCK_MONOTONIC`, 1 one of the time-stamp counter |
//! | 24 | 8 | identification of the run, the same for all of its ranks |
//! | 32 | 8 | identification of the host since it was booted |
//! | 40 | 8, 8 | before `MPI_Init`: ticks, and `CLOCK_MONOTONIC` at that moment, ns |
//! | 56 | 8, 8 | the same when the file was made, after `MPI_Init` |
//! | 72 | 8 | `CLOCK_REALTIME` at that moment, ns |
//! | 80 | 4 | the process's number |
//! | 84 | 2 | length of the host's name |
//! | 86 | … | the name |
//! | 512 | 8 | bytes of records |
//! | 520 | 8 | calls |
//! | 528 | 8 | how it ended: 0 not in `MPI_Finalize`, 1 there, 2 there was no room |
//! | 536 | 8 | hash of all that and of the records, once it has ended there |
//! | 544 | 8 | ticks at which the first thread has entered the call that it is in; 0: it is in none |
//! | 552 | 4, 4 | peer and tag of that call |
//! | 560 | 40 | its name, and zeros |
//!
//! A record begins with a byte. Its bits 2 to 4 are 7 in all records but those of most calls:
//!
//! | bits | a call |
//! |---|---|
//! | 0, 1 | length of the number of its shape |
//! | 2 to 4 | length of the ticks since the exit before, 0 to 6 |
//! | 5 to 7 | length of the ticks that it took, 0 to 6 |
//!
//! These numbers follow.
//!
//! "The exit before" is that of the same thread, at first the moment before `MPI_Init`. If bits 2 to 4 are
//! 7, bits 0, 1, 5, 6 and 7 are, from the lowest, the number of
//!
//! | | record |
//! |---|---|
//! | 0 | a function: length of the name, the name |
//! | 1 | a file with code: its size, its time of change (ns), length of its path, the path |
//! | 2 | a site: its file, offset of the return address in it; file 0 is none |
//! | 3 | a communicator: pieces of its members, then of remote ones |
//! | 4 | shape n: n, then what [`Shape`](super::shape::Shape) has |
//! | 5 | the clocks: ticks and ns of `CLOCK_MONOTONIC`, 8 bytes each |
//! | 6 | the calls that follow are of another thread: its number |
//! | 7 | a call of more than 6 bytes: shape, ticks since the exit before, its ticks |
//! | 8 | the next call has completed a receive: how far before the next one, source, tag, bytes + 1 |
//! | 9 | the next call has started a persistent send: communicator, peer, tag, bytes + 1 |
//! | 10 | the next call has posted a persistent receive: the same |
//! | 11 | the name of a communicator: its number, length of the name, the name |
//!
//! Records 0 to 3 are numbered as they come. Pieces: how many there are, and of each the first world rank,
//! how many ranks it has, and the distance between them. Bytes that are not known are 0. Receives are
//! numbered as they are posted.
//!
//! These numbers are of variable [length](crate::varint); ranks, tags and distances are signed.

use crate::rank_file::{self, FileFormat};

pub use crate::format::Ending;
pub use crate::rank_file::{HEADER_BYTES, LIVE_OFFSET};

/// What a file begins with.
pub const MAGIC: [u8; 8] = *b"EKTIMES\n";
/// The version of the format.
pub const VERSION: u32 = 1;
pub(crate) const FORMAT: FileFormat =
    FileFormat { magic: MAGIC, version: VERSION, otherwise: "it has no times of MPI calls" };
/// Where it stands which call the rank is in.
pub const OPEN_CALL_OFFSET: usize = 544;
/// Room for the name of that call.
pub const OPEN_NAME_BYTES: usize = 40;
/// The longest name of a host that is kept.
pub const LONGEST_NAME: usize = LIVE_OFFSET - 86;
/// Shapes are numbered below this.
pub const SHAPES: usize = 4096;

pub(crate) const FUNCTION: u8 = 0;
pub(crate) const MODULE: u8 = 1;
pub(crate) const SITE: u8 = 2;
pub(crate) const COMM: u8 = 3;
pub(crate) const SHAPE: u8 = 4;
pub(crate) const CLOCKS: u8 = 5;
pub(crate) const THREAD: u8 = 6;
pub(crate) const LONG_CALL: u8 = 7;
pub(crate) const TOOK: u8 = 8;
pub(crate) const STARTED_SEND: u8 = 9;
pub(crate) const STARTED_RECEIVE: u8 = 10;
pub(crate) const COMM_NAME: u8 = 11;

/// The first byte of a record that is no call.
pub(crate) const fn first_byte(record: u8) -> u8 {
    record & 3 | 7 << 2 | (record >> 2) << 5
}

/// The number of a record, if its first byte is not that of a call.
pub(crate) const fn record_of(byte: u8) -> Option<u8> {
    if byte >> 2 & 7 == 7 { Some(byte & 3 | byte >> 5 << 2) } else { None }
}

/// What a tick is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ticks {
    /// A nanosecond of `CLOCK_MONOTONIC`.
    #[default]
    Nanoseconds,
    /// One of the processor's time-stamp counter.
    Counter,
}

/// Two clocks at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Ticks.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC`.
    pub ns: u64,
}

/// What is known at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Ranks of `MPI_COMM_WORLD`.
    pub ranks: u32,
    /// The rank whose file it is.
    pub rank: u32,
    /// What the times are in.
    pub ticks: Ticks,
    /// The same for all ranks of the run.
    pub run: u64,
    /// Which host, and since which boot: ranks with the same number share their clocks.
    pub host: u64,
    /// Before `MPI_Init`.
    pub before_init: Moment,
    /// When the file was made.
    pub opened: Moment,
    /// `CLOCK_REALTIME` at that moment, ns since 1970.
    pub realtime_ns: u64,
    /// The process's number.
    pub process: u32,
    /// The host's name.
    pub host_name: String,
}

/// The counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Bytes of records.
    pub used: u64,
    /// Calls.
    pub calls: u64,
    /// How it ended.
    pub ending: Ending,
    /// Hash of all that does not change any more; 0 before the end.
    pub seal: u64,
}

/// The header as bytes, with counters that are all 0.
pub fn header(start: &Start) -> Vec<u8> {
    header_of(MAGIC, VERSION, start)
}

/// The same of another file that a rank writes: it begins with `magic`.
pub fn header_of(magic: [u8; 8], version: u32, start: &Start) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend_from_slice(&magic);
    let ticks = match start.ticks {
        Ticks::Nanoseconds => 0,
        Ticks::Counter => 1,
    };
    for number in [version, start.ranks, start.rank, ticks] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    let Start { before_init, opened, .. } = start;
    let moments = [before_init.ticks, before_init.ns, opened.ticks, opened.ns, start.realtime_ns];
    for number in [start.run, start.host].into_iter().chain(moments) {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&start.process.to_le_bytes());
    let name = &start.host_name.as_bytes()[..start.host_name.len().min(LONGEST_NAME)];
    bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
    bytes.extend_from_slice(name);
    bytes.resize(HEADER_BYTES, 0);
    bytes
}

/// The counters as bytes, for [`LIVE_OFFSET`].
pub fn live_bytes(live: &Live) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, number) in
        bytes.chunks_exact_mut(8).zip([live.used, live.calls, live.ending.number(), live.seal])
    {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// The seal of a file that has ended.
pub fn seal(file: &[u8], live: &Live) -> u64 {
    rank_file::seal(file, &live_bytes(&Live { seal: 0, ..*live }), live.used)
}
