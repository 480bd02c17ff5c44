//! Parts are combined by recursive halving, then gathered by recursive doubling.

use crate::algorithm::Algorithm;
use crate::algorithms::power_of_two_groups::{GroupRole, PowerOfTwoGroups};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-rabenseifner",
    collective: Collective::Allreduce,
    order: CombiningOrder::Ranks,
    about: "Pairs halve between them the part they still combine, nearest ranks first; then the parts are \
            gathered in reverse order.",
    source: "Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5; nearest first keeps the \
             order of ranks",
    cost: "2·log₂ P·(L + 2o) + 2·M·G·(P-1)/P + M·γ·(P-1)/P, and 2(L + 2o + M·G) more if P is no power of two",
    parameters: &[],
    resources: |problem| {
        let stages = floor_log(2, problem.ranks);
        let scratch: u32 = (0..=stages).map(|s| problem.elements.div_ceil(power(2, s))).sum();
        Resources::flags(2 * stages + 2, 2 * stages + 2).and_scratch(scratch.into())
    },
    round,
};

/// The range of elements that a group still combines after `stages` stages.
fn range(problem: &Problem, group: u32, stages: u32) -> (u32, u32) {
    let (mut begin, mut end) = (0, problem.elements);
    for stage in 0..stages {
        let middle = begin + (end - begin) / 2;
        if group & power(2, stage) == 0 { end = middle } else { begin = middle }
    }
    (begin, end)
}

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (groups, length) = (PowerOfTwoGroups::of(problem), problem.elements);
    let (own, result) = (Place::input(0), Place::output(0));
    // One area for the represented rank, then one for each stage, each half as large as the one before.
    let area = |i: u32| Place::scratch((0..i).map(|s| length.div_ceil(power(2, s))).sum());
    let last = 2 * groups.stages + 1;
    let group = match groups.role(rank) {
        GroupRole::Represented => {
            match round {
                0 => out.send(Rank(rank.0 + 1), Flag(0), own, area(0), length),
                r if r == last => out.wait(Flag(last)),
                _ => {}
            }
            return;
        }
        GroupRole::Single(group) => {
            if round == 0 {
                out.copy(own, result, length);
            }
            group
        }
        GroupRole::Representative(group) => {
            if round == 0 {
                out.wait(Flag(0));
                out.combine(result, area(0), own, length);
            } else if round == last {
                out.send(Rank(rank.0 - 1), Flag(last), result, result, length);
            }
            group
        }
    };
    if (1..=groups.stages).contains(&round) {
        halve(problem, &groups, group, round, area(round), out);
    } else if round > groups.stages && round < last {
        gather(problem, &groups, group, round, out);
    }
}

/// Sends the half of the group's range that the other group keeps, and combines the half that this group
/// keeps. `area` is where the other group's half arrives.
fn halve(problem: &Problem, groups: &PowerOfTwoGroups, group: u32, round: u32, area: Place, out: &mut Round) {
    let result = Place::output(0);
    let other = group ^ power(2, round - 1);
    let ((kept, kept_end), (given, given_end)) = (range(problem, group, round), range(problem, other, round));
    out.send(groups.representative(other), Flag(round), result.plus(given), area, given_end - given);
    out.wait(Flag(round));
    let (mine, theirs) = (result.plus(kept), area);
    let (first, second) = if other < group { (theirs, mine) } else { (mine, theirs) };
    out.combine(mine, first, second, kept_end - kept);
}

/// Exchanges complete parts with another group, in the reverse order of the stages.
fn gather(problem: &Problem, groups: &PowerOfTwoGroups, group: u32, round: u32, out: &mut Round) {
    let result = Place::output(0);
    let stage = 2 * groups.stages + 1 - round;
    let other = group ^ power(2, stage - 1);
    let (begin, end) = range(problem, group, stage);
    // The other rank sent this part before this rank combined it, and reads it no more.
    out.send(groups.representative(other), Flag(round), result.plus(begin), result.plus(begin), end - begin);
    out.wait(Flag(round));
}
