//! Broadcasts: the root's input becomes the output of every other rank.
//!
//! Nothing tells the root when the other ranks have read. So each receiver acknowledges to its sender by
//! adding to a counter there, and a sender waits for the acknowledgements of the bank's previous use.
//! With two banks no rank waits for a rank that is less than two broadcasts behind.
//!
//! Trees are built over distances from the root, so that every rank can be the root.

pub(crate) mod binomial;
pub(crate) mod flag_tree;
pub(crate) mod flat;
pub(crate) mod multi_send;
pub(crate) mod pipelined;
pub(crate) mod postal;
pub(crate) mod scatter_allgather;

use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Counter, Flag, Place, Rank};

/// Counts the children that have read.
const READ: Counter = Counter(0);
const DATA: Flag = Flag(0);

/// Receives the whole vector from the parent and acknowledges it.
fn receive(problem: &Problem, parent: Rank, out: &mut Round) {
    out.wait(DATA);
    out.copy(Place::scratch(0), Place::output(0), problem.elements);
    out.add(parent, READ);
}

/// Where a rank has the whole vector once it has received it.
fn own(problem: &Problem, rank: Rank) -> Place {
    if rank == problem.root { Place::input(0) } else { Place::output(0) }
}
