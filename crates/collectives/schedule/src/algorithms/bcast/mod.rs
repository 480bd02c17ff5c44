//! Broadcasts: the root's input comes to be everybody's output.
//!
//! Nothing tells the root when the others have read, so every receiver acknowledges to whom it heard
//! from, by adding to a counter there; who sends awaits the acknowledgements of the bank's previous
//! use. With two banks nobody is held by a rank that is less than two broadcasts behind.
//!
//! Trees are over distances from the root, so that every rank may be root.

pub mod binomial;
pub mod flag_tree;
pub mod flat;
pub mod multi_send;
pub mod pipelined;
pub mod postal;
pub mod scatter_allgather;

use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Counter, Flag, Place, Rank};

/// Counts the children that have read.
const READ: Counter = Counter(0);
const DATA: Flag = Flag(0);

/// Takes the whole vector from its parent, and says so.
fn receive(problem: &Problem, parent: Rank, out: &mut Round) {
    out.wait(DATA);
    out.copy(Place::scratch(0), Place::output(0), problem.elements);
    out.add(parent, READ);
}

/// Where a rank has the whole vector.
fn own(problem: &Problem, rank: Rank) -> Place {
    if rank == problem.root { Place::input(0) } else { Place::output(0) }
}
