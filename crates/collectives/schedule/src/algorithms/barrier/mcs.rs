//! A tree as a heap.

use super::release::{self, CheckIn, RELEASE};
use crate::algorithm::{Algorithm, Operation, Order, Parameter};
use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Needs;
use crate::step::{Rank, Slot};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "mcs",
    operation: Operation::Barrier,
    order: Order::Nothing,
    about: "A tree with n children to a parent, numbered like a heap: who has heard from its children tells its parent.",
    source: "Mellor-Crummey, Scott 1991; Höfler 2005, section 2.2.1.5",
    cost: "(L + (n+1)·o)·⌈log_n P⌉ + t_bc",
    parameters: &[
        Parameter {
            name: "n",
            default: 4,
            least: 1,
            most: 1 << 12,
            choices: &[],
            about: "children of a rank",
        },
        RELEASE,
    ],
    needs: |problem| release::needs(&CHECK_IN, problem, problem.values[1]),
    round: |problem, rank, round, out| {
        release::round(&CHECK_IN, problem, rank, round, problem.values[1], out)
    },
};

pub const CHECK_IN: CheckIn = CheckIn {
    name: "mcs",
    needs: |problem| Needs::flags(1, problem.values[0]),
    round: |problem, rank, _, out| climb(problem, rank, out),
};

fn climb(problem: &Problem, rank: Rank, out: &mut Round) {
    let n = problem.values[0];
    let first_child = u64::from(n) * u64::from(rank.0) + 1;
    for i in 0..n {
        if first_child + u64::from(i) < problem.ranks.into() {
            out.wait(Slot(i));
        }
    }
    if rank.0 > 0 {
        out.put(Rank((rank.0 - 1) / n), Slot((rank.0 - 1) % n));
    }
}
