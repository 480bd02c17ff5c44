//! Recursive halving: pairs share out between them what they still combine.

use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms::halves::{Halves, Role};
use crate::problem::Problem;
use crate::radix::power;
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Flag, Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "reduce-scatter-halving",
    collective: Collective::ReduceScatter,
    order: CombiningOrder::Any,
    about: "Pairs halve between them the parts they still combine, farthest ranks first, until each has its own.",
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.3 (recursive halving)",
    cost: "log₂ P·(L + 2o) + (P-1)·(M·G + M·γ), M the bytes of a part, and 2(L + 2o) + P·(M·G + M·γ) + M·G more if P is no power of two",
    parameters: &[],
    resources: |problem| {
        let stages = Halves::of(problem).stages;
        let parts: u32 = (0..=stages).map(|stage| area_parts(problem, stage)).sum();
        Resources::flags(stages + 2, stages + 2)
            .and_scratch(u64::from(parts) * u64::from(problem.elements))
            .in_banks(2)
    },
    round,
};

/// Parts that a rank has in scratch after so many stages, at max: of the rank it acts for all, then
/// what is left to combine. The groups that hold two ranks come first, so the first ones hold most.
fn area_parts(problem: &Problem, stage: u32) -> u32 {
    let halves = Halves::of(problem);
    match stage {
        0 if problem.ranks == power(2, halves.stages) => 0,
        stage => halves.first(power(2, halves.stages - stage)),
    }
}

/// The parts that a group still combines after so many stages: from, to.
fn kept(halves: Halves, group: u32, stage: u32) -> (u32, u32) {
    let groups = power(2, halves.stages - stage);
    let block = group / groups;
    (halves.first(block * groups), halves.first((block + 1) * groups))
}

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (halves, length) = (Halves::of(problem), problem.elements);
    let area = |stage: u32| Place::scratch((0..stage).map(|s| area_parts(problem, s)).sum::<u32>() * length);
    let last = halves.stages + 1;
    let (group, acts_for_two) = match halves.role(rank) {
        Role::Represented if round == 0 => {
            return out.send(Rank(rank.0 + 1), Flag(0), Place::input(0), area(0), problem.ranks * length);
        }
        Role::Represented if round == last => return out.wait(Flag(last)),
        Role::Represented => return,
        Role::ForTwo(group) => (group, true),
        Role::Alone(group) => (group, false),
    };
    let held = |stage: u32| if stage > 0 || acts_for_two { area(stage) } else { Place::input(0) };
    if round == 0 {
        if acts_for_two {
            out.wait(Flag(0));
            out.combine(area(0), area(0), Place::input(0), problem.ranks * length);
        }
    } else if round < last {
        let other = group ^ power(2, halves.stages - round);
        let from = |part: u32| held(round - 1).plus((part - kept(halves, group, round - 1).0) * length);
        let ((mine, mine_end), (theirs, theirs_end)) =
            (kept(halves, group, round), kept(halves, other, round));
        out.send(
            halves.acting(other),
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
        // The rank below has entered: it has sent its vector.
        out.send(Rank(rank.0 - 1), Flag(last), held(halves.stages), Place::output(0), length);
        out.copy(held(halves.stages).plus(length), Place::output(0), length);
    } else {
        out.copy(held(halves.stages), Place::output(0), length);
    }
}
