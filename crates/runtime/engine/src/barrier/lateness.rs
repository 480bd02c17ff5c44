//! How late ranks would have come to strict barriers, from how long each rank worked before barriers that it
//! left pending.
//!
//! A rank that runs ahead enters a barrier long before the others, so times of entry alone say how far ahead
//! it is and not how long the barrier would have held it. Work is the time between two entries that the
//! rank did not spend waiting. Ranks leave a strict barrier together, so it would have held the first rank
//! for the difference between the longest and the shortest work. Where all ranks have left some other
//! operation together, their times of entry are compared instead.

use super::work::{ATTENTIVE, STRETCH};
use crate::clock::{Clock, Ticks};
use crate::collective::call::CollectiveKind::Barrier;
use crate::comm::part::NodePart;
use crate::comm::state::PartState;
use crate::record::tally::Tallies;
use evenkeel_segment::board::geometry::WORK_PLACES;
use evenkeel_segment::board::work::{MOST, Noted, Spread};

/// Shorter work is not noted.
pub(super) const WORTH_NS: u64 = 50_000;
/// Notes are in units of so many nanoseconds (work) or ticks (entries).
const UNIT: u64 = 64;

/// Notes how long this rank has worked before barrier `number`, which it enters at `now`, if that is known.
pub(super) fn note(part: &NodePart, state: &mut PartState, number: u64, now: Ticks) {
    let node = part.shared.node;
    let (instances, waited) = (state.next(), node.waited.so_far());
    let PartState { barriers, tallies, .. } = state;
    let is_ahead = barriers.pending() > WORK_PLACES;
    let work = &mut barriers.work;
    let left_together = work.take_left_together(instances, tallies);
    if !left_together && number != work.next && number % STRETCH != 0 {
        return; // only some ranks time this one, and the next timed one will include it
    }
    if is_ahead {
        return; // the barrier that had the place may not be complete
    }
    let earlier = if left_together {
        part.shared.board.note_work(part.me, number, Noted::Entry, now.0 / UNIT % MOST)
    } else {
        let ticks = (now.0 - work.since.0).saturating_sub(waited.0 - work.waited.0);
        let worked_ns = node.clock().ns_between(Ticks(0), Ticks(ticks));
        if worked_ns >= WORTH_NS {
            work.attentive_until = number + ATTENTIVE;
            part.shared.board.note_work(part.me, number, Noted::Work, worked_ns / UNIT)
        } else {
            None
        }
    };
    (work.since, work.waited, work.next) = (now, waited, number + 1);
    if let Some(spread) = earlier {
        count(tallies, node.clock(), part.ranks, spread);
    }
}

/// Counts what is left on the board, when all ranks have entered all barriers.
pub(crate) fn settle(part: &NodePart, state: &mut PartState) {
    if state.barriers.entered == 0 {
        return;
    }
    for place in 0..WORK_PLACES {
        if let Some(spread) = part.shared.board.take_work(place) {
            count(&mut state.tallies, part.shared.node.clock(), part.ranks, spread);
        }
    }
}

#[cold]
fn count(tallies: &mut Tallies, clock: Clock, ranks: usize, spread: Spread) {
    let late_ns = late_ns(clock, ranks, spread);
    if late_ns > 0 {
        tallies.of(Barrier, false).came_last.add(spread.last, late_ns);
    }
}

/// For how long a strict barrier would have held the first rank.
fn late_ns(clock: Clock, ranks: usize, spread: Spread) -> u64 {
    let Spread { most, least, .. } = spread;
    let is_whole = spread.ranks == ranks;
    match spread.noted {
        Noted::Work if is_whole => (most - least) * UNIT,
        // The others worked for less than what is worth a note.
        Noted::Work => (most * UNIT).saturating_sub(WORTH_NS),
        // Beyond half of what fits, the time of entry began anew between two ranks.
        Noted::Entry if is_whole && most - least < MOST / 2 => {
            clock.ns_between(Ticks(0), Ticks((most - least) * UNIT))
        }
        Noted::Entry => 0, // some rank left alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(noted: Noted, most: u64, least: u64, ranks: usize) -> u64 {
        let spread = Spread { last: 1, most: most / UNIT, least: least / UNIT, ranks, noted };
        late_ns(Clock::MONOTONIC, 3, spread)
    }

    #[test]
    fn the_first_rank_is_held_for_the_difference() {
        assert_eq!(late(Noted::Work, 640_000, 64_000, 3), 576_000);
        assert_eq!(late(Noted::Entry, 9_640_000, 9_064_000, 3), 576_000);
    }

    #[test]
    fn ranks_that_note_nothing_worked_less_than_is_noted() {
        assert_eq!(late(Noted::Work, 640_000, 640_000, 1), 590_000);
        assert_eq!(late(Noted::Work, 50_048, 50_048, 2), 48, "two ranks alike, and one just below");
    }

    #[test]
    fn entries_count_only_if_all_ranks_left_together() {
        assert_eq!(late(Noted::Entry, 9_640_000, 9_064_000, 2), 0);
    }
}
