//! The parameters of a machine as they stand in a file.

use crate::parameter_error::{check_model, not_negative};
use crate::{Model, ParameterError};
use serde::{Deserialize, Serialize};

/// The number of the layout of a file of parameters.
pub const SCHEMA: u32 = 1;

/// What connects the ranks of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Where the numbers come from: a paper and its table, or a command and a machine.
    pub source: String,
    /// The model between ranks of the node, each with a core of its own.
    pub model: Model,
    /// Ranks of a node: ranks r and s are on one node if r/ranks = s/ranks. None: all ranks are on one
    /// node.
    pub ranks: Option<u32>,
    /// Cores of the node. With more ranks than cores a rank needs a core before it can respond.
    pub cores: Option<u32>,
    /// What a switch of a core from one rank to another takes, in nanoseconds.
    pub switch_ns: Option<f64>,
}

impl Node {
    /// The least time that a collective among `ranks` ranks has to wait for cores, in nanoseconds: each
    /// core switches to each of its ranks once. 0 if each rank has a core. None if the switch or the
    /// cores are not known.
    pub fn switches_ns(&self, ranks: u64) -> Option<f64> {
        let (cores, switch_ns) = (u64::from(self.cores?), self.switch_ns?);
        Some(if ranks > cores { ranks.div_ceil(cores) as f64 * switch_ns } else { 0.0 })
    }
}

/// The parameters of a machine: the content of a file of parameters, and of a built-in set.
///
/// ```
/// use evenkeel_model::{LogGp, Parameters};
/// let network = LogGp::logp(5_000.0, 500.0, 500.0);
/// let machine = Parameters::of_network("mine", "a guess", network.into());
/// assert_eq!(machine.between(0, 1).unwrap().one_to_many_ns(1), 6_000.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The number of the layout: [`SCHEMA`].
    pub schema: u32,
    /// The name of the set.
    pub name: String,
    /// Where the numbers of the network come from. Empty if there is no network.
    #[serde(default)]
    pub source: String,
    /// The model between nodes. None: there is only one node.
    #[serde(default)]
    pub network: Option<Model>,
    /// The node. None: each rank has a node of its own.
    #[serde(default)]
    pub node: Option<Node>,
}

impl Parameters {
    /// A machine with a node for each rank.
    pub fn of_network(name: &str, source: &str, network: Model) -> Parameters {
        Parameters {
            schema: SCHEMA,
            name: name.into(),
            source: source.into(),
            network: Some(network),
            node: None,
        }
    }

    /// A machine with one node for all ranks.
    pub fn of_node(name: &str, node: Node) -> Parameters {
        Parameters {
            schema: SCHEMA,
            name: name.into(),
            source: String::new(),
            network: None,
            node: Some(node),
        }
    }

    /// A machine with the network of `self` between nodes like that of `other`, each with `ranks` ranks.
    /// None if the network or the node is missing.
    pub fn with_node_of(&self, other: &Parameters, ranks: u32) -> Option<Parameters> {
        let node = Node { ranks: Some(ranks), ..other.node.clone()? };
        self.network?;
        Some(Parameters { name: format!("{}+{}", self.name, other.name), node: Some(node), ..self.clone() })
    }

    /// The number of the node that a rank is on.
    pub fn node_of(&self, rank: u32) -> u32 {
        match &self.node {
            None => rank,
            Some(Node { ranks: None, .. }) => 0,
            Some(Node { ranks: Some(ranks), .. }) => rank / ranks,
        }
    }

    /// The model between two ranks. None only for parameters that [`Parameters::check`] refuses.
    pub fn between(&self, a: u32, b: u32) -> Option<&Model> {
        match &self.node {
            Some(node) if self.node_of(a) == self.node_of(b) => Some(&node.model),
            _ => self.network.as_ref(),
        }
    }

    /// Whether the numbers make sense, because a file may hold anything.
    pub fn check(&self) -> Result<(), ParameterError> {
        if self.schema != SCHEMA {
            return Err(ParameterError::Schema { found: self.schema, known: SCHEMA });
        }
        if let Some(model) = &self.network {
            check_model(model)?;
        }
        let Some(node) = &self.node else {
            return if self.network.is_some() { Ok(()) } else { Err(ParameterError::Empty) };
        };
        check_model(&node.model)?;
        not_negative("switch_ns", node.switch_ns.unwrap_or(0.0))?;
        if node.cores == Some(0) {
            return Err(ParameterError::None { of: "cores" });
        }
        match node.ranks {
            Some(0) => Err(ParameterError::None { of: "ranks" }),
            Some(ranks) if self.network.is_none() => Err(ParameterError::NoNetwork(ranks)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogGp, builtin, mozart};

    const SHARED: LogGp = LogGp {
        latency_ns: 60.0,
        send_overhead_ns: 5.0,
        receive_overhead_ns: 20.0,
        gap_ns: 30.0,
        gap_per_byte_ns: 0.05,
    };

    fn node(ranks: Option<u32>) -> Node {
        Node { source: "made up".into(), model: SHARED.into(), ranks, cores: Some(4), switch_ns: Some(900.0) }
    }

    #[test]
    fn files_are_read_back_and_name_their_units() {
        let network = builtin::find("mozart-infiniband").unwrap();
        let both = network.with_node_of(&Parameters::of_node("shared", node(None)), 4).unwrap();
        for set in [
            network,
            both.clone(),
            builtin::find("clic-fast-ethernet").unwrap(),
            Parameters::of_node("n", node(None)),
        ] {
            let text = serde_json::to_string_pretty(&set).unwrap();
            assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), set);
        }
        let value = serde_json::to_value(&both).unwrap();
        assert_eq!(value["network"]["model"], "LoP");
        assert_eq!(value["node"]["model"]["model"], "LogGP");
        assert_eq!(value["node"]["model"]["latency_ns"], 60.0);
        assert_eq!(value["network"]["round_trip"]["floor_ns"], 3007.4);
        assert_eq!(value["name"], "mozart-infiniband+shared");
    }

    #[test]
    fn the_model_between_two_ranks_depends_on_their_nodes() {
        let network = builtin::find("clic-fast-ethernet").unwrap();
        let both = network.with_node_of(&Parameters::of_node("shared", node(None)), 4).unwrap();
        assert_eq!(both.between(4, 7), Some(&Model::LogGp(SHARED)));
        assert_eq!(both.between(3, 4), network.network.as_ref());
        assert_eq!((both.node_of(3), both.node_of(4)), (0, 1));
        assert_eq!(network.between(0, 1), network.network.as_ref());
        let alone = Parameters::of_node("n", node(None));
        assert_eq!((alone.between(0, 1000), alone.node_of(1000)), (Some(&Model::LogGp(SHARED)), 0));
        assert!(network.with_node_of(&network, 4).is_none() && alone.with_node_of(&alone, 4).is_none());
    }

    #[test]
    fn each_rank_without_a_core_costs_a_switch() {
        let of = |ranks| node(None).switches_ns(ranks);
        assert_eq!([4, 5, 8, 9].map(of), [0.0, 1800.0, 1800.0, 2700.0].map(Some));
        assert_eq!(Node { switch_ns: None, ..node(None) }.switches_ns(9), None);
    }

    #[test]
    fn parameters_that_make_no_sense_are_refused_with_their_name() {
        let good = Parameters::of_node("n", node(None));
        assert_eq!(good.check(), Ok(()));
        let with = |f: &dyn Fn(&mut Parameters)| {
            let mut set = good.clone();
            f(&mut set);
            set.check().unwrap_err()
        };
        assert_eq!(with(&|p| p.schema = 9), ParameterError::Schema { found: 9, known: SCHEMA });
        assert_eq!(with(&|p| p.node = None), ParameterError::Empty);
        assert_eq!(with(&|p| p.node.as_mut().unwrap().ranks = Some(3)), ParameterError::NoNetwork(3));
        assert_eq!(with(&|p| p.node.as_mut().unwrap().ranks = Some(0)), ParameterError::None { of: "ranks" });
        assert_eq!(with(&|p| p.node.as_mut().unwrap().cores = Some(0)), ParameterError::None { of: "cores" });
        assert_eq!(
            with(&|p| p.node.as_mut().unwrap().switch_ns = Some(-1.0)),
            ParameterError::Number { of: "switch_ns", value: -1.0 }
        );
        let negative = LogGp { gap_ns: -2.0, ..SHARED };
        assert_eq!(
            with(&|p| p.network = Some(negative.into())),
            ParameterError::Number { of: "gap_ns", value: -2.0 }
        );
        let endless = LogGp { latency_ns: f64::INFINITY, ..SHARED };
        assert!(matches!(
            with(&|p| p.network = Some(endless.into())),
            ParameterError::Number { of: "latency_ns", .. }
        ));
        let mut pole = mozart::RDMA_INLINE;
        pole.send_overhead.start_up_shift = -1.0;
        assert!(matches!(with(&|p| p.network = Some(pole.into())), ParameterError::Pole { .. }));
        let mut below = mozart::RDMA_INLINE;
        below.round_trip.floor_ns = -1e5;
        assert!(matches!(
            with(&|p| p.network = Some(below.into())),
            ParameterError::Number { of: "the round trip", .. }
        ));
        let unknown = r#"{"schema": 1, "name": "x", "network": {"model": "LogGP", "latency_us": 1.0}}"#;
        assert!(
            serde_json::from_str::<Parameters>(unknown).is_err(),
            "a field with another unit is another field"
        );
    }
}
