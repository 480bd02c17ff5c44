//! A root that collects everybody's vector, each at a place of its own.
//!
//! When the root has read them it says so, and whoever sends awaits that from the bank's previous use.

use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Flag, Place, Rank, RankSet};

/// A flag and a vector for each rank, and a flag that says that all have been read.
pub fn resources(problem: &Problem) -> Resources {
    let vectors = u64::from(problem.elements) * u64::from(problem.ranks);
    Resources::flags(1, problem.ranks + 1).and_scratch(vectors).in_banks(2)
}

fn read(problem: &Problem) -> Flag {
    Flag(problem.ranks)
}

/// Where a rank's vector lies at the root, once its flag is raised.
pub fn place(problem: &Problem, rank: Rank) -> Place {
    if rank == problem.root { Place::input(0) } else { Place::scratch(rank.0 * problem.elements) }
}

/// All that a rank does that is not the root.
pub fn hand_in(problem: &Problem, rank: Rank, out: &mut Round) {
    out.wait_previous(read(problem));
    out.send(problem.root, Flag(rank.0), Place::input(0), place(problem, rank), problem.elements);
}

/// The root waits for the vector of a rank; for its own there is nothing to wait for.
pub fn await_from(problem: &Problem, rank: Rank, out: &mut Round) {
    if rank != problem.root {
        out.wait(Flag(rank.0));
    }
}

/// The root tells the others that what they sent has been read.
pub fn release(problem: &Problem, out: &mut Round) {
    let (root, ranks) = (problem.root, problem.ranks);
    out.multicast(RankSet::range(Rank(0), root.0), read(problem));
    out.multicast(RankSet::range(Rank(root.0 + 1), ranks - root.0 - 1), read(problem));
}
