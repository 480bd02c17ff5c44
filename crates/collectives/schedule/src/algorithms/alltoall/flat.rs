//! Every rank sends all its parts at once.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "alltoall-flat",
    collective: Collective::Alltoall,
    order: CombiningOrder::Nothing,
    about: "Each rank sends its parts to one rank after the other, the next rank first, without waiting in \
            between; then it takes what it received.",
    source: "all sends and receives posted at once, as in MPICH for parts of medium size: Thakur, \
             Rabenseifner, Gropp 2005, section 4.4; the engine's alltoalls within a node",
    cost: "L + 2o + (P-2)·g + (P-1)·M·G, M the bytes for one rank",
    parameters: &[],
    resources,
    round,
};

/// One flag and one part from each rank.
pub(in crate::algorithms) fn resources(problem: &Problem) -> Resources {
    Resources::flags(1, problem.ranks)
        .and_scratch(u64::from(problem.elements) * u64::from(problem.ranks))
        .in_banks(2)
}

/// Sends its part to each other rank. The part from a rank arrives at that rank's part of the scratch.
pub(in crate::algorithms) fn send_parts(problem: &Problem, rank: Rank, out: &mut Round) {
    let length = problem.elements;
    for other in problem.others(rank) {
        out.send(
            other,
            Flag(rank.0),
            Place::input(other.0 * length),
            Place::scratch(rank.0 * length),
            length,
        );
    }
}

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let length = problem.elements;
    let part = |r: Rank| r.0 * length;
    send_parts(problem, rank, out);
    out.copy(Place::input(part(rank)), Place::output(part(rank)), length);
    for other in problem.others(rank) {
        out.wait(Flag(other.0));
        out.copy(Place::scratch(part(other)), Place::output(part(other)), length);
    }
}
