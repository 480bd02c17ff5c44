//! How long ranks worked before barriers that they did not wait for. The report says from it who came last
//! and how late: a strict barrier would have held all others for as long as that rank worked longer.
//!
//! For each of the latest barriers there is a place with two words: the longest work and the rank it was,
//! and the shortest work and how many ranks have noted theirs. A rank notes only work that is worth it, so a
//! place may stay empty. The rank that
//! needs the place for a later barrier takes out what was there. No rank can then
//! still enter the earlier one: ranks are never that far apart.

use crate::board::Board;
use crate::board::geometry::{WORK_PLACE_BYTES, WORK_PLACES};
use crate::sync::{AtomicU64, Ordering, Words};

const LOW_BITS: u32 = 12;
const VALUE_BITS: u32 = 36;
const LOW: u64 = (1 << LOW_BITS) - 1;
/// The highest value.
pub const MOST: u64 = (1 << VALUE_BITS) - 1;

/// What the ranks noted before one barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The rank with the highest value.
    pub last: usize,
    /// Its value.
    pub most: u64,
    /// The lowest value that was noted.
    pub least: u64,
    /// How many ranks have noted a value.
    pub ranks: usize,
    /// What they have noted.
    pub noted: Noted,
}

/// What is noted of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// How long a rank worked since the previous barrier.
    Work,
    /// When it entered, modulo [`MOST`]. For barriers before which all ranks left another operation together.
    Entry,
}

fn pack(tag: u64, value: u64, low: u64) -> u64 {
    tag << (VALUE_BITS + LOW_BITS) | value.clamp(1, MOST) << LOW_BITS | low.min(LOW)
}

fn tag_of(word: u64) -> u64 {
    word >> (VALUE_BITS + LOW_BITS)
}

fn value_of(word: u64) -> u64 {
    word >> LOW_BITS & MOST
}

/// What became of a note of the highest value.
enum Raised {
    /// The place is this barrier's.
    Joined,
    /// The place was an earlier barrier's, of which this had been noted.
    Took(Spread),
    /// Another rank has noted something else of this barrier.
    Refused,
}

/// The two words of one barrier.
#[derive(Clone, Copy)]
pub struct WorkPlace<'a> {
    /// The highest value, and the rank that noted it.
    pub most: &'a AtomicU64,
    /// The lowest value, and how many ranks have noted one.
    pub least: &'a AtomicU64,
}

impl WorkPlace<'_> {
    /// Notes a value of rank `me`. `round` distinguishes the barriers that use the place one after another.
    /// Returns what had been noted of the earlier one, unless another rank has taken that out. Nothing is
    /// noted if another rank has noted something else of this barrier.
    pub fn note(self, me: usize, round: u64, noted: Noted, value: u64) -> Option<Spread> {
        let tag = (round << 1 | noted as u64) & 0xffff;
        let earlier = match self.raise(pack(tag, value, me as u64)) {
            Raised::Refused => return None,
            Raised::Took(earlier) => Some(earlier),
            Raised::Joined => None,
        };
        self.lower(tag, value);
        earlier
    }

    /// Takes out what has been noted, when no rank notes anything any more.
    pub fn take(self) -> Option<Spread> {
        let (high, low) = (self.most.load(Ordering::Acquire), self.least.load(Ordering::Acquire));
        let is_taken =
            high != 0 && self.most.compare_exchange(high, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        is_taken.then(|| spread(high, low))
    }

    fn raise(self, mine: u64) -> Raised {
        let mut high = self.most.load(Ordering::Acquire);
        loop {
            let is_same = high != 0 && tag_of(high) == tag_of(mine);
            if is_same && value_of(high) >= value_of(mine) {
                return Raised::Joined;
            }
            if high != 0 && tag_of(high) ^ tag_of(mine) == 1 {
                return Raised::Refused;
            }
            // Read before the exchange: a rank that has begun to use the place for a later barrier changes
            // `least` only after its own exchange, and then this one fails.
            let low = self.least.load(Ordering::Acquire);
            match self.most.compare_exchange(high, mine, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) if is_same || high == 0 => return Raised::Joined,
                Ok(_) => return Raised::Took(spread(high, low)),
                Err(now) => high = now,
            }
        }
    }

    fn lower(self, tag: u64, value: u64) {
        let mut low = self.least.load(Ordering::Relaxed);
        loop {
            let is_same = low != 0 && tag_of(low) == tag;
            let (value, noted) =
                if is_same { (value.min(value_of(low)), (low & LOW) + 1) } else { (value, 1) };
            let mine = pack(tag, value, noted);
            // AcqRel: what was noted goes along with the words by which the rank enters the barrier.
            match self.least.compare_exchange(low, mine, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => low = now,
            }
        }
    }
}

impl<M: Words> Board<M> {
    fn work_place(&self, place: u64) -> WorkPlace<'_> {
        let at = self.geometry.work_at + place as usize * WORK_PLACE_BYTES;
        WorkPlace { most: self.memory.word(at), least: self.memory.word(at + 8) }
    }

    /// Notes a value of the caller before barrier `number`. Returns what had been noted before the barrier
    /// that had this place, unless another rank has taken that out.
    pub fn note_work(&self, me: usize, number: u64, noted: Noted, value: u64) -> Option<Spread> {
        self.work_place(number % WORK_PLACES).note(me, number / WORK_PLACES, noted, value)
    }

    /// Takes out what has been noted in a place, when no rank notes anything any more.
    pub fn take_work(&self, place: u64) -> Option<Spread> {
        self.work_place(place).take()
    }
}

fn spread(high: u64, low: u64) -> Spread {
    let is_same = tag_of(low) == tag_of(high);
    Spread {
        last: (high & LOW) as usize,
        most: value_of(high),
        least: if is_same { value_of(low) } else { 0 },
        ranks: if is_same { (low & LOW) as usize } else { 0 },
        noted: if tag_of(high) & 1 == 0 { Noted::Work } else { Noted::Entry },
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_the_longest_and_the_shortest_work() {
        let (most, least) = (AtomicU64::new(0), AtomicU64::new(0));
        let place = WorkPlace { most: &most, least: &least };
        let note = |me, round, value| place.note(me, round, Noted::Work, value);
        assert_eq!(note(3, 0, 700), None);
        assert_eq!(note(1, 0, 900), None);
        assert_eq!(note(2, 0, 800), None);
        let first = Spread { last: 1, most: 900, least: 700, ranks: 3, noted: Noted::Work };
        assert_eq!(place.note(0, 0, Noted::Entry, 1), None, "something else");
        assert_eq!(note(2, 1, 5), Some(first), "a later barrier takes it out");
        assert_eq!(note(0, 1, 5), None, "once");
        assert_eq!(place.take(), Some(Spread { last: 2, most: 5, least: 5, ranks: 2, noted: Noted::Work }));
        assert_eq!(place.take(), None);
    }
}
