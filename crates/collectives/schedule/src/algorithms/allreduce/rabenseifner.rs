//! Parts are combined by recursive halving, then gathered by recursive doubling.

use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms::halves::{Halves, Role};
use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Flag, Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-rabenseifner",
    collective: Collective::Allreduce,
    order: CombiningOrder::Ranks,
    about: "Pairs halve between them the part they still combine, nearest ranks first; then the parts are put together in reverse.",
    source: "Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5; nearest first keeps the order of ranks",
    cost: "2·log₂ P·(L + 2o) + 2·M·G·(P-1)/P + M·γ·(P-1)/P, and 2(L + 2o + M·G) more if P is no power of two",
    parameters: &[],
    resources: |problem| {
        let stages = floor_log(2, problem.ranks);
        let scratch: u32 = (0..=stages).map(|s| problem.elements.div_ceil(power(2, s))).sum();
        Resources::flags(2 * stages + 2, 2 * stages + 2).and_scratch(scratch.into())
    },
    round,
};

/// What a group still combines after `stages` stages.
fn range(problem: &Problem, group: u32, stages: u32) -> (u32, u32) {
    let (mut begin, mut end) = (0, problem.elements);
    for stage in 0..stages {
        let middle = begin + (end - begin) / 2;
        if group & power(2, stage) == 0 { end = middle } else { begin = middle }
    }
    (begin, end)
}

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (halves, length) = (Halves::of(problem), problem.elements);
    let (own, result) = (Place::input(0), Place::output(0));
    // One area for the rank that is represented, then one for each stage, half as large each.
    let area = |i: u32| Place::scratch((0..i).map(|s| length.div_ceil(power(2, s))).sum());
    let last = 2 * halves.stages + 1;
    let group = match halves.role(rank) {
        Role::Represented => {
            match round {
                0 => out.send(Rank(rank.0 + 1), Flag(0), own, area(0), length),
                r if r == last => out.wait(Flag(last)),
                _ => {}
            }
            return;
        }
        Role::Alone(group) => {
            if round == 0 {
                out.copy(own, result, length);
            }
            group
        }
        Role::ForTwo(group) => {
            if round == 0 {
                out.wait(Flag(0));
                out.combine(result, area(0), own, length);
            } else if round == last {
                out.send(Rank(rank.0 - 1), Flag(last), result, result, length);
            }
            group
        }
    };
    if (1..=halves.stages).contains(&round) {
        let other = group ^ power(2, round - 1);
        let ((kept, kept_end), (given, given_end)) =
            (range(problem, group, round), range(problem, other, round));
        out.send(halves.acting(other), Flag(round), result.plus(given), area(round), given_end - given);
        out.wait(Flag(round));
        let (mine, theirs) = (result.plus(kept), area(round));
        let (first, second) = if other < group { (theirs, mine) } else { (mine, theirs) };
        out.combine(mine, first, second, kept_end - kept);
    } else if round > halves.stages && round < last {
        let stage = last - round;
        let other = group ^ power(2, stage - 1);
        let (begin, end) = range(problem, group, stage);
        // The other has sent this part away before this rank combined it, and looks at it no more.
        out.send(halves.acting(other), Flag(round), result.plus(begin), result.plus(begin), end - begin);
        out.wait(Flag(round));
    }
}
