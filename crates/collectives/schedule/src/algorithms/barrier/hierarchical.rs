//! One algorithm within nodes and another between them.

use super::release::CheckIn;
use super::*;
use crate::algorithm::{Algorithm, Parameter};
use crate::collective::{Collective, CombiningOrder};
use crate::nodes::Nodes;
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank, RankSet, Step};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "hierarchical",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "The ranks of a node check in with their first rank, the first ranks hold a barrier between the \
            nodes, then release their node.",
    source: "Kielmann et al. 1999 (MagPIe) for the structure; any check-in of this list within nodes, any \
             barrier of it between them",
    cost: "cost of the check-in on a node + cost of the barrier between nodes + t_bc on a node",
    parameters: &[
        Parameter {
            name: "inner",
            default: 0,
            min: 0,
            max: INNER_NAMES.len() as u32 - 1,
            choices: INNER_NAMES,
            about: "check-in within a node",
        },
        Parameter {
            name: "outer",
            default: 8,
            min: 0,
            max: OUTER_NAMES.len() as u32 - 1,
            choices: OUTER_NAMES,
            about: "barrier between nodes",
        },
        Parameter {
            name: "node",
            default: 4,
            min: 1,
            max: u32::MAX,
            choices: &[],
            about: "ranks on a node, unless a map of nodes is given",
        },
        Parameter {
            name: "n",
            default: 0,
            min: 0,
            max: 1 << 12,
            choices: &[],
            about: "n of both, if they have one; 0: their own default",
        },
    ],
    resources: |problem| Composition::of(problem).resources(),
    round: |problem, rank, round, out| Composition::of(problem).round(rank, round, out),
};

const INNER_NAMES: &[&str] = &[
    "central-counter",
    "combining-tree",
    "tournament",
    "f-way-tournament",
    "mcs",
    "binomial-spanning-tree",
    "butterfly",
    "pairwise-exchange",
    "dissemination",
    "n-way-dissemination",
    "n-wise-exchange",
    "flag-groups",
];

const OUTER_NAMES: &[&str] = &[
    "central-counter",
    "combining-tree",
    "climbing-tree",
    "tournament",
    "f-way-tournament",
    "mcs",
    "binomial-spanning-tree",
    "butterfly",
    "dissemination",
    "pairwise-exchange",
    "n-way-dissemination",
    "n-wise-exchange",
    "flag-groups",
];

/// The check-ins, in the order of their names. After a barrier without a release every rank knows that
/// all have entered, so such a barrier is a check-in as it is.
static INNER: &[(&Algorithm, Option<&CheckIn>)] = &[
    (&central_counter::ALGORITHM, Some(&central_counter::CHECK_IN)),
    (&combining_tree::ALGORITHM, Some(&combining_tree::CHECK_IN)),
    (&tournament::ALGORITHM, Some(&tournament::CHECK_IN)),
    (&f_way_tournament::ALGORITHM, Some(&f_way_tournament::CHECK_IN)),
    (&mcs::ALGORITHM, Some(&mcs::CHECK_IN)),
    (&binomial_spanning_tree::ALGORITHM, Some(&binomial_spanning_tree::CHECK_IN)),
    (&butterfly::ALGORITHM, None),
    (&pairwise_exchange::ALGORITHM, None),
    (&dissemination::ALGORITHM, None),
    (&n_way_dissemination::ALGORITHM, None),
    (&n_wise_exchange::ALGORITHM, None),
    (&flag_groups::ALGORITHM, None),
];

static OUTER: &[&Algorithm] = &[
    &central_counter::ALGORITHM,
    &combining_tree::ALGORITHM,
    &climbing_tree::ALGORITHM,
    &tournament::ALGORITHM,
    &f_way_tournament::ALGORITHM,
    &mcs::ALGORITHM,
    &binomial_spanning_tree::ALGORITHM,
    &butterfly::ALGORITHM,
    &dissemination::ALGORITHM,
    &pairwise_exchange::ALGORITHM,
    &n_way_dissemination::ALGORITHM,
    &n_wise_exchange::ALGORITHM,
    &flag_groups::ALGORITHM,
];

/// The two algorithms and the problem of each.
struct Composition {
    nodes: Nodes,
    ranks: u32,
    inner: CheckIn,
    /// The check-in on the largest node.
    within: Problem,
    outer: &'static Algorithm,
    between: Problem,
}

impl Composition {
    fn of(problem: &Problem) -> Composition {
        let [inner, outer, size, n] = problem.values;
        let nodes = problem.nodes.clone().unwrap_or(Nodes::Blocks(size));
        let (algorithm, check_in) = INNER[inner as usize];
        let whole = CheckIn { name: algorithm.name, resources: algorithm.resources, round: algorithm.round };
        let ask = |algorithm: &Algorithm, ranks: u32| {
            let mut values = algorithm.default_values();
            if let Some(i) = algorithm.parameters.iter().position(|p| p.name == "n" && n >= p.min) {
                values[i] = n;
            }
            Problem { values, ..Problem::new(ranks) }
        };
        Composition {
            ranks: problem.ranks,
            inner: check_in.copied().unwrap_or(whole),
            within: ask(algorithm, nodes.largest(problem.ranks)),
            outer: OUTER[outer as usize],
            between: ask(OUTER[outer as usize], nodes.count(problem.ranks)),
            nodes,
        }
    }

    fn resources(&self) -> Resources {
        let (inner, outer) = ((self.inner.resources)(&self.within), (self.outer.resources)(&self.between));
        Resources::flags(inner.rounds + outer.rounds + 1, inner.flags + outer.flags + 1)
            .and_counters(inner.counters + outer.counters)
    }

    fn round(&self, rank: Rank, round: u32, out: &mut Round) {
        let (inner, outer) = ((self.inner.resources)(&self.within), (self.outer.resources)(&self.between));
        let (node, place) = self.nodes.of(rank.0);
        let size = self.nodes.size(self.ranks, node);
        let begin = out.steps.len();
        if round < inner.rounds {
            let own = Problem { ranks: size, ..self.within.clone() };
            if round < (self.inner.resources)(&own).rounds {
                (self.inner.round)(&own, Rank(place), round, out);
            }
            self.translate(out, begin, (0, 0, 0), |place| self.nodes.rank(node, place));
        } else if round < inner.rounds + outer.rounds {
            if place == 0 {
                (self.outer.round)(&self.between, Rank(node), round - inner.rounds, out);
            }
            self.translate(out, begin, (inner.flags, inner.counters, inner.rounds), |node| {
                self.nodes.rank(node, 0)
            });
        } else if place > 0 {
            out.wait(Flag(inner.flags + outer.flags));
        } else {
            out.multicast(RankSet::range(Rank(1), size - 1), Flag(inner.flags + outer.flags));
            self.translate(out, begin, (0, 0, 0), |place| self.nodes.rank(node, place));
        }
    }

    /// Rewrites the steps from `begin` on: ranks of the part become ranks of the whole, and flags,
    /// counters and rounds move past those of the part before.
    fn translate(
        &self,
        out: &mut Round,
        begin: usize,
        (flags, counters, rounds): (u32, u32, u32),
        rank: impl Fn(u32) -> u32,
    ) {
        if let Nodes::Table(_) = self.nodes {
            multicasts_to_puts(out);
        }
        for step in &mut out.steps[begin..] {
            match step {
                Step::Put { flag, .. } | Step::Wait { flag, .. } | Step::Multicast { flag, .. } => {
                    flag.0 += flags
                }
                Step::Add { counter, .. } | Step::AwaitCount { counter, .. } => counter.0 += counters,
                Step::Count { counter, otherwise, .. } => {
                    counter.0 += counters;
                    *otherwise += rounds;
                }
                Step::Send { .. } | Step::Share { .. } | Step::Combine { .. } | Step::Copy { .. } => {
                    unreachable!("barriers carry no data")
                }
            }
            rename_ranks(step, &rank);
        }
    }
}

/// With an arbitrary map of nodes, ranks at equal distances within a part may lie anywhere in the whole.
fn multicasts_to_puts(out: &mut Round) {
    let steps = std::mem::take(&mut out.steps);
    for step in steps {
        match step {
            Step::Multicast { to, flag, turn } => {
                to.iter().for_each(|to| out.push(Step::Put { to, flag, turn }))
            }
            other => out.push(other),
        }
    }
}

fn rename_ranks(step: &mut Step, rank: &impl Fn(u32) -> u32) {
    match step {
        Step::Put { to, .. } | Step::Add { at: to, .. } | Step::Count { at: to, .. } => to.0 = rank(to.0),
        Step::Multicast { to, .. } => {
            let first = rank(to.first.0);
            if to.count > 1 {
                to.stride = rank(to.first.0 + to.stride) - first;
            }
            to.first = Rank(first);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_the_choices_are_those_of_the_algorithms() {
        assert_eq!(INNER_NAMES, INNER.iter().map(|(a, _)| a.name).collect::<Vec<_>>());
        assert_eq!(OUTER_NAMES, OUTER.iter().map(|a| a.name).collect::<Vec<_>>());
        assert!(INNER.iter().all(|(a, c)| c.is_none_or(|c| c.name == a.name)));
    }
}
