//! Parts are scattered, then passed around a ring.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-scatter-allgather",
    collective: Collective::Bcast,
    order: CombiningOrder::Nothing,
    about: "The root scatters the vector along a binomial tree; then the parts travel around a ring.",
    source: "van de Geijn 1994; Barnett et al. 1994; Thakur, Rabenseifner, Gropp 2005, section 4.2",
    cost: "(⌈log₂ P⌉ + P - 1)·(L + 2o) + 2·M·G·(P-1)/P",
    parameters: &[],
    resources: |problem| {
        let rounds = ceil_log(2, problem.ranks) + problem.ranks;
        Resources::flags(rounds, problem.ranks).and_scratch(problem.elements.into()).in_banks(2)
    },
    round,
};

/// No rank finishes an epoch that another has not entered, since each part comes from the rank it was
/// scattered to. The root needs no part, but it is signalled all the same, so that this holds for the
/// root too.
fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (me, ranks, scatter) = (problem.from_root(rank), problem.ranks, ceil_log(2, problem.ranks));
    let part = |i: u32| problem.part(i.min(ranks), ranks);
    let place = |element: u32| if me == 0 { Place::input(element) } else { Place::scratch(element) };
    if round < scatter {
        let near = power(2, scatter - 1 - round);
        if me % near == 0 && me / near % 2 == 0 && me + near < ranks {
            let (begin, end) = (part(me + near), part(me + 2 * near));
            out.send(problem.to_rank(me + near), Flag(0), place(begin), Place::scratch(begin), end - begin);
        } else if me % near == 0 && me / near % 2 == 1 {
            out.wait(Flag(0));
        }
    } else if round - scatter < ranks - 1 {
        let passed = round - scatter;
        let (next, part_of) = ((me + 1) % ranks, (me + ranks - passed) % ranks);
        if next == 0 {
            out.put(problem.root, Flag(1 + passed));
        } else {
            let (begin, end) = (part(part_of), part(part_of + 1));
            out.send(
                problem.to_rank(next),
                Flag(1 + passed),
                place(begin),
                Place::scratch(begin),
                end - begin,
            );
        }
        out.wait(Flag(1 + passed));
    } else if me > 0 {
        out.copy(Place::scratch(0), Place::output(0), problem.elements);
    }
}
