//! What all barriers cost under a set of parameters.

use super::arguments::ShowArguments;
use evenkeel_model::fan_out::choose;
use evenkeel_model::{Barrier, Charge, Parameters};
use evenkeel_text::table::{Column, table};
use evenkeel_text::units::nanoseconds;

/// The most numbers of ranks that are shown side by side.
const MOST_COLUMNS: usize = 7;

/// A line for each barrier, with a column for each number of ranks; the first line holds the numbers of
/// ranks.
pub fn lines(set: &Parameters, arguments: &ShowArguments, width: usize) -> Vec<String> {
    let costs = Costs { set, arguments, ranks: numbers_of_ranks(u64::from(arguments.ranks)) };
    let mut rows = vec![costs.row("ranks", |ranks| ranks.to_string())];
    rows.extend([
        costs.plain("central counter", Barrier::CentralCounter),
        costs.best("combining tree (n)", 2, |n| Barrier::CombiningTree { n }),
        costs.plain("tournament", Barrier::Tournament),
        costs.best("f-way tournament (f)", 2, |f| Barrier::FWayTournament { f }),
        costs.best("MCS (n)", 2, |n| Barrier::Mcs { n }),
        costs.plain("binomial tree", Barrier::BinomialTree),
        costs.plain("butterfly", Barrier::Butterfly),
        costs.plain("pairwise exchange", Barrier::PairwiseExchange),
        costs.plain("dissemination", Barrier::Dissemination),
        costs.best("n-way dissemination (n)", 1, |n| Barrier::NWayDissemination { n }),
        costs.best("n-wise exchange (n)", 1, |n| Barrier::NWiseExchange { n }),
    ]);
    rows.extend(costs.switches());
    let columns = vec![Column { group: "", head: "", dispensable: 0 }; costs.ranks.len() + 1];
    table(&columns, &rows, width).rows
}

struct Costs<'a> {
    set: &'a Parameters,
    arguments: &'a ShowArguments,
    ranks: Vec<u64>,
}

impl Costs<'_> {
    fn row(&self, name: &str, cell: impl Fn(u64) -> String) -> Vec<String> {
        let cells = self.ranks.iter().map(|ranks| cell(*ranks));
        std::iter::once(name.to_string()).chain(cells).collect()
    }

    fn ns(&self, barrier: Barrier, ranks: u64) -> f64 {
        let charge = if self.arguments.serialised { Charge::Serialised } else { Charge::Overlapped };
        let (release, consecutive) = (self.arguments.release.into(), self.arguments.consecutive.into());
        self.set.barrier_ns(barrier, ranks, release, charge, consecutive).unwrap_or(f64::NAN)
    }

    fn plain(&self, name: &str, barrier: Barrier) -> Vec<String> {
        self.row(name, |ranks| nanoseconds(self.ns(barrier, ranks)))
    }

    /// With the best n of the candidates, which is shown in brackets. Trees with groups of n (`least` 2) have
    /// as many rounds as dissemination with n - 1.
    fn best(&self, name: &str, least: u64, barrier: impl Fn(u64) -> Barrier) -> Vec<String> {
        self.row(name, |ranks| {
            let n = |candidate: u64| candidate + least - 1;
            let found = choose(ranks, |candidate| self.ns(barrier(n(candidate.n)), ranks));
            found.map_or("-".into(), |(candidate, ns)| format!("{} ({})", nanoseconds(ns), n(candidate.n)))
        })
    }

    /// The least time that context switches take, if any count of ranks exceeds the cores.
    fn switches(&self) -> Option<Vec<String>> {
        let node = self.set.node.as_ref()?;
        let ranks_of_node = node.ranks.map_or(u64::MAX, u64::from);
        let ns = |ranks: u64| node.switches_ns(ranks.min(ranks_of_node)).filter(|ns| *ns > 0.0);
        let any = self.ranks.iter().any(|ranks| ns(*ranks).is_some());
        any.then(|| self.row("+ switches, at least", |ranks| ns(ranks).map_or("-".into(), nanoseconds)))
    }
}

/// Up to seven numbers of ranks, evenly chosen among the powers of two; the last one is `most`.
fn numbers_of_ranks(most: u64) -> Vec<u64> {
    let powers: Vec<u64> = (1..64).map(|i| 1 << i).take_while(|power| *power < most).collect();
    let step = powers.len().div_ceil(MOST_COLUMNS - 1).max(1);
    let mut chosen: Vec<u64> = powers.iter().rev().skip(step - 1).step_by(step).copied().collect();
    chosen.reverse();
    chosen.push(most);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_ranks_grow_up_to_the_most() {
        assert_eq!(numbers_of_ranks(2), [2]);
        assert_eq!(numbers_of_ranks(64), [2, 4, 8, 16, 32, 64]);
        assert_eq!(numbers_of_ranks(1024), [4, 16, 64, 256, 1024]);
        for most in 2..5000 {
            let chosen = numbers_of_ranks(most);
            assert!(
                chosen.last() == Some(&most) && chosen.len() <= 7 && chosen.windows(2).all(|w| w[0] < w[1]),
                "{most}: {chosen:?}"
            );
        }
        assert!(numbers_of_ranks(u64::from(u32::MAX)).len() <= 7);
    }
}
