//! The memory through which a measurement's ranks signal: where the flags lie, how they are waited for,
//! what they carry.

use evenkeel_segment::layout::{LINE, PAGE};
use evenkeel_segment::mailbox::{self, Reader, Writer};
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};
use evenkeel_segment::{Segment, memory::SegmentError};
use std::time::{Duration, Instant};

/// Ranks that a measurement may have.
pub const MOST_RANKS: usize = 256;
/// The longest message.
pub const MOST_BYTES: usize = 4 << 20;
/// Messages of a stream that may be under way.
pub const STREAM: u64 = 64;
/// A rank that is not seen for so long is taken to be gone.
const PATIENCE: Duration = Duration::from_secs(20);

/// Each kind of flag has a line for each rank: two ranks never write one line.
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
const LETTERS_AT: usize = STREAM_AT + STREAM as usize * LINE;
const LETTERS: [usize; 2] = [LETTERS_AT, LETTERS_AT + mailbox::bytes_for(MOST_BYTES)];
const BYTES: usize = LETTERS[1] + mailbox::bytes_for(MOST_BYTES) + PAGE;

/// Nobody answered.
#[derive(Debug)]
pub struct Silence;

/// The memory, and how this measurement waits.
pub struct Wires {
    segment: Segment,
}

impl Wires {
    pub fn create(token: u64) -> Result<Wires, SegmentError> {
        Ok(Wires { segment: Segment::create(BYTES, token)? })
    }

    pub fn open(pid: u32, descriptor: i32, token: u64) -> Result<Wires, SegmentError> {
        Ok(Wires { segment: Segment::open(pid, descriptor, token)? })
    }

    /// What others open.
    pub fn descriptor(&self) -> i32 {
        self.segment.descriptor().expect("it is kept open")
    }

    /// First word of a flag's line: counts up, never back.
    fn flag(&self, flag: Flag, rank: usize) -> &AtomicU64 {
        self.segment.word(PAGE + (flag as usize * MOST_RANKS + rank) * LINE)
    }

    /// Second word: what comes with it.
    fn content(&self, flag: Flag, rank: usize) -> &AtomicU64 {
        self.segment.word(PAGE + (flag as usize * MOST_RANKS + rank) * LINE + 8)
    }

    /// Raises a flag to an epoch, with its content.
    #[inline]
    pub fn raise(&self, flag: Flag, rank: usize, epoch: u64, content: u64) {
        self.content(flag, rank).store(content, Ordering::Relaxed);
        self.flag(flag, rank).store(epoch, Ordering::Release); // pairs with the load in `is_raised`
    }

    #[inline]
    pub fn is_raised(&self, flag: Flag, rank: usize, epoch: u64) -> bool {
        self.flag(flag, rank).load(Ordering::Acquire) >= epoch // pairs with `raise`
    }

    /// What came with a flag that was seen raised.
    #[inline]
    pub fn content_of(&self, flag: Flag, rank: usize) -> u64 {
        self.content(flag, rank).load(Ordering::Relaxed)
    }

    /// Signals that have been sent up and need not be looked at yet.
    pub fn sent_up(&self) -> &AtomicU64 {
        self.segment.word(COUNTERS_AT)
    }

    /// How far the reader of the stream has come.
    pub fn streamed(&self) -> &AtomicU64 {
        self.segment.word(COUNTERS_AT + LINE)
    }

    /// The slot of a stream's message.
    #[inline]
    pub fn slot(&self, message: u64) -> &AtomicU64 {
        self.segment.word(STREAM_AT + (message % STREAM) as usize * LINE)
    }

    /// The ends of the two boxes that rank 0 (`side` 0) or rank 1 holds; None while another has them.
    pub fn letters(&self, side: usize) -> Option<(Writer<'_>, Reader<'_>)> {
        Some((
            Writer::take(&self.segment, LETTERS[side], MOST_BYTES)?,
            Reader::take(&self.segment, LETTERS[1 - side], MOST_BYTES)?,
        ))
    }
}

/// What a flag of an epoch is to carry to or from a rank: any other value is another message.
#[inline]
pub fn content(epoch: u64, rank: usize) -> u64 {
    (epoch ^ (rank as u64) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Looks until something has happened: busily where each rank has a core, else giving the core to
/// others after each look.
#[inline]
pub fn until(share: bool, mut happened: impl FnMut() -> bool) -> Result<(), Silence> {
    let mut began = None;
    let mut looks = 0_u32;
    while !happened() {
        if share {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
        looks = looks.wrapping_add(1);
        // The clock is too slow to be asked at each look.
        if looks % 8192 == 0 && began.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return Err(Silence);
        }
    }
    Ok(())
}

/// The clock that all processes of a machine share.
#[inline]
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_carry_what_came_with_them_and_lie_apart() {
        let wires = Wires::create(5).unwrap();
        let other = Wires::open(std::process::id(), wires.descriptor(), 5).unwrap();
        for (i, flag) in [Flag::Ready, Flag::Down, Flag::Up, Flag::Seen].into_iter().enumerate() {
            for rank in [0, 1, MOST_RANKS - 1] {
                assert!(!other.is_raised(flag, rank, 1));
                wires.raise(flag, rank, 1 + i as u64, content(1, rank));
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
        assert_ne!(content(1, 2), content(2, 1));
        let ends = wires.letters(0).unwrap();
        assert!(other.letters(0).is_none() && other.letters(1).is_some());
        drop(ends);
    }
}
