//! Recursive halving: pairs share the parts they still combine.

use crate::algorithm::Algorithm;
use crate::algorithms::power_of_two_groups::{GroupRole, PowerOfTwoGroups};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::power;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "reduce-scatter-halving",
    collective: Collective::ReduceScatter,
    order: CombiningOrder::Any,
    about: "Pairs halve between them the parts they still combine, farthest ranks first, until each rank \
            has its own part.",
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.3 (recursive halving)",
    cost: "log₂ P·(L + 2o) + (P-1)·(M·G + M·γ), M the bytes of a part, and 2(L + 2o) + P·(M·G + M·γ) + M·G \
           more if P is no power of two",
    parameters: &[],
    resources: |problem| {
        let stages = PowerOfTwoGroups::of(problem).stages;
        let parts: u32 = (0..=stages).map(|stage| area_parts(problem, stage)).sum();
        Resources::flags(stages + 2, stages + 2)
            .and_scratch(u64::from(parts) * u64::from(problem.elements))
            .in_banks(2)
    },
    round,
};

/// The largest number of parts that a rank has in scratch after so many stages: all parts of the rank it
/// represents, then the parts left to combine. Groups of two ranks come first, so the first groups hold
/// most parts.
fn area_parts(problem: &Problem, stage: u32) -> u32 {
    let groups = PowerOfTwoGroups::of(problem);
    match stage {
        0 if problem.ranks == power(2, groups.stages) => 0,
        stage => groups.first(power(2, groups.stages - stage)),
    }
}

/// The range of parts that a group still combines after so many stages.
fn kept(groups: PowerOfTwoGroups, group: u32, stage: u32) -> (u32, u32) {
    let block = power(2, groups.stages - stage);
    let first = group / block * block;
    (groups.first(first), groups.first(first + block))
}

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (groups, length) = (PowerOfTwoGroups::of(problem), problem.elements);
    let area = |stage: u32| Place::scratch((0..stage).map(|s| area_parts(problem, s)).sum::<u32>() * length);
    let last = groups.stages + 1;
    let (group, acts_for_two) = match groups.role(rank) {
        GroupRole::Represented if round == 0 => {
            return out.send(Rank(rank.0 + 1), Flag(0), Place::input(0), area(0), problem.ranks * length);
        }
        GroupRole::Represented if round == last => return out.wait(Flag(last)),
        GroupRole::Represented => return,
        GroupRole::Representative(group) => (group, true),
        GroupRole::Single(group) => (group, false),
    };
    let held = |stage: u32| if stage > 0 || acts_for_two { area(stage) } else { Place::input(0) };
    if round == 0 {
        if acts_for_two {
            out.wait(Flag(0));
            out.combine(area(0), area(0), Place::input(0), problem.ranks * length);
        }
    } else if round < last {
        let other = group ^ power(2, groups.stages - round);
        let from = |part: u32| held(round - 1).plus((part - kept(groups, group, round - 1).0) * length);
        let ((mine, mine_end), (theirs, theirs_end)) =
            (kept(groups, group, round), kept(groups, other, round));
        out.send(
            groups.representative(other),
            Flag(round),
            from(theirs),
            area(round),
            (theirs_end - theirs) * length,
        );
        out.wait(Flag(round));
        let (first, second) =
            if other < group { (area(round), from(mine)) } else { (from(mine), area(round)) };
        out.combine(area(round), first, second, (mine_end - mine) * length);
    } else if acts_for_two {
        // The rank below has entered the epoch: it has sent its vector.
        out.send(Rank(rank.0 - 1), Flag(last), held(groups.stages), Place::output(0), length);
        out.copy(held(groups.stages).plus(length), Place::output(0), length);
    } else {
        out.copy(held(groups.stages), Place::output(0), length);
    }
}
