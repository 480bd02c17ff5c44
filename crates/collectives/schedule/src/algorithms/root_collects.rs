//! The root collects the vectors of all ranks, each in a place of its own.
//!
//! When the root has read them it tells the senders. A sender waits for that message of the bank's
//! previous use before it sends again.

use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank, RankSet};

/// One flag and one vector for each rank, and one flag that says that the root has read all vectors.
pub fn resources(problem: &Problem) -> Resources {
    let vectors = u64::from(problem.elements) * u64::from(problem.ranks);
    Resources::flags(1, problem.ranks + 1).and_scratch(vectors).in_banks(2)
}

fn read(problem: &Problem) -> Flag {
    Flag(problem.ranks)
}

/// Where a rank's vector lies at the root once its flag has risen.
pub fn place(problem: &Problem, rank: Rank) -> Place {
    if rank == problem.root { Place::input(0) } else { Place::scratch(rank.0 * problem.elements) }
}

/// All steps of a rank that is not the root.
pub fn contribute(problem: &Problem, rank: Rank, out: &mut Round) {
    out.wait_previous(read(problem));
    out.send(problem.root, Flag(rank.0), Place::input(0), place(problem, rank), problem.elements);
}

/// The root waits for the vector of a rank. Its own vector is there already.
pub fn await_from(problem: &Problem, rank: Rank, out: &mut Round) {
    if rank != problem.root {
        out.wait(Flag(rank.0));
    }
}

/// The root tells the other ranks that it has read their vectors.
pub fn release(problem: &Problem, out: &mut Round) {
    let (root, ranks) = (problem.root, problem.ranks);
    out.multicast(RankSet::range(Rank(0), root.0), read(problem));
    out.multicast(RankSet::range(Rank(root.0 + 1), ranks - root.0 - 1), read(problem));
}
