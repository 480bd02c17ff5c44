//! Ranks that need what all below them hand in.
//!
//! Nobody hears from the ranks above it, so whoever has read says so to whom it read from, by adding to
//! a counter there; who sends awaits the additions of the bank's previous use.

use crate::algorithm::Collective;
use crate::algorithms::fold::fold;
use crate::deposits::operand_count;
use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Counter, Flag, Place, Rank};

/// Counts those above that have read.
const READ: Counter = Counter(0);

/// A flag and a vector for each rank that has some above it.
pub fn resources(problem: &Problem) -> Resources {
    let vectors = u64::from(problem.elements) * u64::from(problem.ranks - 1);
    Resources::flags(1, problem.ranks - 1).and_counters(1).and_scratch(vectors).in_banks(2)
}

/// All that a rank does. `place`: where it has the vector of a rank that is combined.
pub fn round(
    collective: Collective,
    problem: &Problem,
    rank: Rank,
    out: &mut Round,
    place: impl Fn(Rank) -> Place,
) {
    let (length, participation) = (problem.elements, problem.participation(collective, rank));
    if participation.contributes {
        let needs_me = |other: &Rank| problem.participation(collective, *other).needs.includes(*other, rank);
        out.await_previous_count(READ, problem.others(rank).filter(needs_me).count() as u32);
        for other in problem.others(rank).filter(needs_me) {
            out.send(other, Flag(rank.0), Place::input(0), Place::scratch(rank.0 * length), length);
        }
    }
    let needed = || problem.others(rank).filter(|other| participation.needs.includes(rank, *other));
    needed().for_each(|other| out.wait(Flag(other.0)));
    let count = operand_count(collective, problem.ranks, rank);
    if count > 0 {
        fold(out, count, |i| place(Rank(i)), Place::output(0), length);
    }
    needed().for_each(|other| out.add(other, READ));
}
