//! Every rank needs the contributions of all ranks below it: the scans.
//!
//! No rank hears from the ranks above it. So a rank that has read tells each rank it read from by adding
//! to a counter there, and a sender waits for the additions of the bank's previous use.

use crate::algorithms::fold::fold;
use crate::collective::Collective;
use crate::deposits::operand_count;
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Counter, Flag, Place, Rank};

/// Counts the ranks above that have read.
const READ: Counter = Counter(0);

/// One flag and one vector for each rank that has ranks above it.
pub fn resources(problem: &Problem) -> Resources {
    let vectors = u64::from(problem.elements) * u64::from(problem.ranks - 1);
    Resources::flags(1, problem.ranks - 1).and_counters(1).and_scratch(vectors).in_banks(2)
}

/// All steps of a rank. `place` says where the rank has the vector of each rank that it combines.
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
