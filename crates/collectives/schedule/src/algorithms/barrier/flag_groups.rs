//! Groups that read each other's flags in a memory that is replicated to all ranks.

use crate::algorithm::{Algorithm, Parameter};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank, RankSet};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "flag-groups",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "Each rank shows a flag to its group of r and reads the flags of the others; the first of each \
            group goes on; rank 0 tells all.",
    source: "Moorthy, Panda, Sadayappan 2000 (CANPC), with epochs",
    cost: "⌈log_r P⌉·((r-1)·t_flag_read + t_write + 3(P-1)·t_slot) on a ring of reflective memory",
    parameters: &[Parameter {
        name: "r",
        default: 4,
        min: 2,
        max: 1 << 12,
        choices: &[],
        about: "ranks in a group",
    }],
    resources: |problem| {
        let (r, levels) = (problem.values[0], ceil_log(problem.values[0], problem.ranks));
        Resources::flags(levels + 1, levels * r + 1)
    },
    round,
};

/// A flag that is written once is seen by the whole group: each level has one flag for each member.
fn round(problem: &Problem, rank: Rank, level: u32, out: &mut Round) {
    let r = problem.values[0];
    let levels = ceil_log(r, problem.ranks);
    let done = Flag(levels * r);
    if level == levels {
        match rank {
            Rank(0) => out.multicast(RankSet::range(Rank(1), problem.ranks - 1), done),
            _ => out.wait(done),
        }
        return;
    }
    let (near, far) = (power(r, level), power(r, level + 1));
    if rank.0 % near != 0 {
        return;
    }
    let first = rank.0 - rank.0 % far;
    let count = r.min((problem.ranks - first).div_ceil(near));
    let own = (rank.0 - first) / near;
    if count > 1 {
        out.multicast(RankSet { first: Rank(first), count, stride: near }, Flag(level * r + own));
    }
    (0..count).filter(|i| *i != own).for_each(|i| out.wait(Flag(level * r + i)));
}
