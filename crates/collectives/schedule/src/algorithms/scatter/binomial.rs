//! The binomial tree: a rank receives the parts of its subtree and sends them on.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Counter, Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "scatter-binomial",
    collective: Collective::Scatter,
    order: CombiningOrder::Nothing,
    about: "In each round a rank that has parts sends half of them, those of the ranks further from the \
            root, to the first of these ranks.",
    source: "Johnsson, Ho 1989; Thakur, Rabenseifner, Gropp 2005, section 4.2 (the first half of their \
             broadcast of long vectors)",
    cost: "⌈log₂ P⌉·(L + 2o) + (P-1)·M·G, M the bytes of a part",
    parameters: &[],
    resources: |problem| {
        let tree = ceil_log(2, problem.ranks);
        let widest = (0..tree).map(|r| existing(problem, power(2, r), power(2, r))).max().unwrap_or(0);
        Resources::flags(tree + 1, 1)
            .and_counters(1)
            .and_scratch(u64::from(widest) * u64::from(problem.elements))
            .in_banks(2)
    },
    round,
};

/// How many of the `near` ranks from `me` on exist.
fn existing(problem: &Problem, me: u32, near: u32) -> u32 {
    near.min(problem.ranks - me)
}

/// The distances of the ranks to which a rank sends, one for each round in which it sends.
fn children(problem: &Problem, me: u32) -> impl Iterator<Item = u32> {
    let (ranks, most) =
        (problem.ranks, if me == 0 { ceil_log(2, problem.ranks) } else { me.trailing_zeros() });
    (0..most).rev().map(|r| power(2, r)).filter(move |near| u64::from(me) + u64::from(*near) < ranks.into())
}

/// A rank's scratch: its own part, then those of the ranks after it, as seen from the root. A last round
/// writes the outputs.
fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (me, length, tree) = (problem.from_root(rank), problem.elements, ceil_log(2, problem.ranks));
    let (data, read) = (Flag(0), Counter(0));
    if round == tree {
        if me == 0 {
            out.copy(Place::input(rank.0 * length), Place::output(0), length);
        } else {
            out.copy(Place::scratch(0), Place::output(0), length);
            // Not before: the parts to be sent on lie in the same scratch.
            out.add(problem.to_rank(me & (me - 1)), read);
        }
        return;
    }
    let near = power(2, tree - 1 - round);
    if me > 0 && me.trailing_zeros() == tree - 1 - round {
        out.wait(data);
        out.await_previous_count(read, children(problem, me).count() as u32);
    } else if children(problem, me).any(|child| child == near) {
        if me == 0 && round == 0 {
            out.await_previous_count(read, children(problem, me).count() as u32);
        }
        let (child, parts) = (problem.to_rank(me + near), existing(problem, me + near, near));
        let from =
            if me == 0 { from_root(problem, child, parts, out) } else { Place::scratch(near * length) };
        out.send(child, data, from, Place::scratch(0), parts * length);
    }
}

/// Where the parts of so many ranks from `first` on lie in the root. Past the last rank they continue at
/// rank 0, so they are first put together in scratch, which the root uses for nothing else.
fn from_root(problem: &Problem, first: Rank, parts: u32, out: &mut Round) -> Place {
    let (length, before_end) = (problem.elements, problem.ranks - first.0);
    if parts <= before_end {
        return Place::input(first.0 * length);
    }
    out.copy(Place::input(first.0 * length), Place::scratch(0), before_end * length);
    out.copy(Place::input(0), Place::scratch(before_end * length), (parts - before_end) * length);
    Place::scratch(0)
}
