//! The memory through which a measurement's ranks signal: where the flags lie, how ranks wait for them, and
//! what they carry.

use evenkeel_segment::layout::{LINE, PAGE};
use evenkeel_segment::mailbox::{self, Reader, Writer};
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};
use evenkeel_segment::{Segment, memory::SegmentError};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Ranks that a measurement may have.
pub const MOST_RANKS: usize = 256;
/// The longest message.
pub const MOST_BYTES: usize = 4 << 20;
/// Messages of a stream that may be under way.
pub const STREAM: u64 = 64;
/// A rank that has not signalled for this long is considered lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// Each kind of flag has a cache line for each rank, so that no two ranks write to one line.
#[derive(Clone, Copy)]
pub enum Flag {
    /// A rank has begun with a task.
    Ready = 0,
    /// From rank 0.
    Down = 1,
    /// To rank 0.
    Up = 2,
    /// When a rank saw its flag, in nanoseconds of the common clock.
    Seen = 3,
}

const COUNTERS_AT: usize = PAGE + 4 * MOST_RANKS * LINE;
const STREAM_AT: usize = COUNTERS_AT + 2 * LINE;
const MAILBOXES_AT: usize = STREAM_AT + STREAM as usize * LINE;
const MAILBOXES: [usize; 2] = [MAILBOXES_AT, MAILBOXES_AT + mailbox::bytes_for(MOST_BYTES)];
const BYTES: usize = MAILBOXES[1] + mailbox::bytes_for(MOST_BYTES) + PAGE;

/// The ends of the mailboxes between two ranks that one of them holds.
pub type MailboxEnds<'a> = (Writer<'a>, Reader<'a>);

/// A rank did not signal in time.
#[derive(Debug, Error)]
#[error("a rank did not answer within {} s", PATIENCE.as_secs())]
pub struct TimeoutError;

/// The memory that all ranks of a measurement share.
pub struct SignalMemory {
    segment: Segment,
}

impl SignalMemory {
    /// Makes the memory. `token` is known to its ranks only.
    pub fn create(token: u64) -> Result<SignalMemory, SegmentError> {
        Ok(SignalMemory { segment: Segment::create(BYTES, token)? })
    }

    /// Opens the memory that another process has made.
    pub fn open(pid: u32, descriptor: i32, token: u64) -> Result<SignalMemory, SegmentError> {
        Ok(SignalMemory { segment: Segment::open(pid, descriptor, token)? })
    }

    /// The descriptor that other processes open.
    pub fn descriptor(&self) -> i32 {
        self.segment.descriptor().expect("it is kept open")
    }

    /// First word of a flag's line: it only counts up.
    fn flag(&self, flag: Flag, rank: usize) -> &AtomicU64 {
        self.segment.word(PAGE + (flag as usize * MOST_RANKS + rank) * LINE)
    }

    /// Second word: the content of the signal.
    fn content(&self, flag: Flag, rank: usize) -> &AtomicU64 {
        self.segment.word(PAGE + (flag as usize * MOST_RANKS + rank) * LINE + 8)
    }

    /// Raises a flag to an epoch, with a content.
    #[inline]
    pub fn raise(&self, flag: Flag, rank: usize, epoch: u64, content: u64) {
        self.content(flag, rank).store(content, Ordering::Relaxed);
        self.flag(flag, rank).store(epoch, Ordering::Release); // pairs with the load in `is_raised`
    }

    /// Whether a flag has reached an epoch.
    #[inline]
    pub fn is_raised(&self, flag: Flag, rank: usize, epoch: u64) -> bool {
        self.flag(flag, rank).load(Ordering::Acquire) >= epoch // pairs with `raise`
    }

    /// The content of a flag that was seen raised.
    #[inline]
    pub fn content_of(&self, flag: Flag, rank: usize) -> u64 {
        self.content(flag, rank).load(Ordering::Relaxed)
    }

    /// How many signals have been sent to rank 0; it counts them before it looks at their lines.
    pub fn sent_up(&self) -> &AtomicU64 {
        self.segment.word(COUNTERS_AT)
    }

    /// The last message of the stream that its reader has taken.
    pub fn streamed(&self) -> &AtomicU64 {
        self.segment.word(COUNTERS_AT + LINE)
    }

    /// The slot of a stream's message.
    #[inline]
    pub fn slot(&self, message: u64) -> &AtomicU64 {
        self.segment.word(STREAM_AT + (message % STREAM) as usize * LINE)
    }

    /// The ends of the two mailboxes that belong to rank 0 (`side` 0) or rank 1; None while another process
    /// has them.
    pub fn mailbox_ends(&self, side: usize) -> Option<MailboxEnds<'_>> {
        Some((
            Writer::take(&self.segment, MAILBOXES[side], MOST_BYTES)?,
            Reader::take(&self.segment, MAILBOXES[1 - side], MOST_BYTES)?,
        ))
    }
}

/// Polls until something has happened: without a pause where each rank has a core; if ranks share cores
/// (`shares_core`), yielding the core after each poll.
#[inline]
pub fn poll_until(shares_core: bool, mut happened: impl FnMut() -> bool) -> Result<(), TimeoutError> {
    let mut began = None;
    let mut polls = 0_u32;
    while !happened() {
        if shares_core {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
        polls = polls.wrapping_add(1);
        // Reading the clock after each poll would take too long.
        if polls % 8192 == 0 && began.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return Err(TimeoutError);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::signal::content;
    use super::*;

    #[test]
    fn flags_lie_apart_and_carry_their_contents() {
        let memory = SignalMemory::create(5).unwrap();
        let other = SignalMemory::open(std::process::id(), memory.descriptor(), 5).unwrap();
        for (i, flag) in [Flag::Ready, Flag::Down, Flag::Up, Flag::Seen].into_iter().enumerate() {
            for rank in [0, 1, MOST_RANKS - 1] {
                assert!(!other.is_raised(flag, rank, 1));
                memory.raise(flag, rank, 1 + i as u64, content(1, rank));
            }
        }
        for (i, flag) in [Flag::Ready, Flag::Down, Flag::Up, Flag::Seen].into_iter().enumerate() {
            assert!(
                other.is_raised(flag, MOST_RANKS - 1, 1 + i as u64)
                    && !other.is_raised(flag, 1, 2 + i as u64)
            );
            assert_eq!(other.content_of(flag, 1), content(1, 1));
        }
        assert_eq!(
            (other.sent_up().load(Ordering::Relaxed), other.streamed().load(Ordering::Relaxed)),
            (0, 0)
        );
        let ends = memory.mailbox_ends(0).unwrap();
        assert!(other.mailbox_ends(0).is_none() && other.mailbox_ends(1).is_some());
        drop(ends);
    }
}
