//! Barriers of machines with several ranks on a node: within each node to one rank, between nodes, and
//! back.

use crate::{Barrier, Charge, Model, Parameters, Release};

impl Model {
    /// The time of a barrier of so many ranks, in nanoseconds: [`Barrier::loggp_ns`] or, as one of so
    /// many consecutive barriers, [`Barrier::lop_ns`].
    pub fn barrier_ns(
        &self,
        barrier: Barrier,
        ranks: u64,
        release: Release,
        charge: Charge,
        consecutive: u64,
    ) -> f64 {
        match self {
            Model::LogGp(m) => barrier.loggp_ns(m, ranks, release, charge),
            Model::LoP(m) => barrier.lop_ns(m, ranks, consecutive, charge),
        }
    }
}

impl Parameters {
    /// The time of a barrier of so many ranks on this machine, in nanoseconds.
    ///
    /// With a network and nodes of several ranks: the ranks of a node signal one of them, these hold the
    /// barrier over the network, and each releases its node. With only one of the two: the barrier over
    /// it. Each rank has a core. None for parameters that [`Parameters::check`] refuses.
    pub fn barrier_ns(
        &self,
        barrier: Barrier,
        ranks: u64,
        release: Release,
        charge: Charge,
        consecutive: u64,
    ) -> Option<f64> {
        let flat = |model: &Model, ranks| model.barrier_ns(barrier, ranks, release, charge, consecutive);
        match (&self.node, &self.network) {
            (None, Some(network)) => Some(flat(network, ranks)),
            (Some(node), None) => Some(flat(&node.model, ranks)),
            (Some(node), Some(network)) => {
                let held = u64::from(node.ranks?).min(ranks);
                let others = held.checked_sub(1)?;
                let around = node.model.many_to_one_ns(others) + node.model.one_to_many_ns(others);
                Some(around + flat(network, ranks.div_ceil(held)))
            }
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogGp, Node};

    #[test]
    fn nodes_gather_before_and_are_released_after() {
        let network = LogGp::logp(5000.0, 500.0, 100.0);
        let shared = LogGp::logp(50.0, 10.0, 5.0);
        let node = Node {
            source: String::new(),
            model: shared.into(),
            ranks: Some(4),
            cores: None,
            switch_ns: None,
        };
        let cost = |node: Option<&Node>, network: Option<LogGp>, ranks| {
            let set = Parameters {
                node: node.cloned(),
                ..Parameters::of_network("n", "", LogGp::logp(0.0, 0.0, 0.0).into())
            };
            Parameters { network: network.map(Model::from), ..set }.barrier_ns(
                Barrier::Dissemination,
                ranks,
                Release::Binomial,
                Charge::Overlapped,
                1,
            )
        };
        assert_eq!(cost(Some(&node), Some(network), 64), Some(2.0 * (70.0 + 2.0 * 10.0) + 4.0 * 6000.0));
        assert_eq!(cost(None, Some(network), 64), Some(6.0 * 6000.0));
        assert_eq!(cost(Some(&node), None, 4), Some(2.0 * 70.0));
        // Ranks that fit on one node do not need the network.
        assert_eq!(cost(Some(&node), Some(network), 3), Some(2.0 * (70.0 + 10.0)));
        assert_eq!(cost(None, None, 3), None);
    }
}
