//! The parameters of a machine as they stand in a file, and the questions that algorithms ask of either
//! model.

use crate::{LoP, LogGp};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Number of the layout of a file of parameters.
pub const SCHEMA: u32 = 1;

/// One of the models. In a file its name stands beside its parameters: `"model": "LogGP"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model")]
pub enum Model {
    #[serde(rename = "LogGP")]
    LogGp(LogGp),
    #[serde(rename = "LoP")]
    LoP(LoP),
}

impl From<LogGp> for Model {
    fn from(model: LogGp) -> Model {
        Model::LogGp(model)
    }
}

impl From<LoP> for Model {
    fn from(model: LoP) -> Model {
        Model::LoP(model)
    }
}

/// What a simulator needs to know of a message. `of` is how many messages a rank sends at once (the n
/// of n-way), at least 1.
impl Model {
    /// How long the processor is busy with posting one of `of` messages, in nanoseconds.
    pub fn send_overhead_ns(&self, of: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.send_overhead_ns,
            Model::LoP(m) => m.send_overhead.at_ns(of),
        }
    }

    /// How long the processor is busy with receiving one of `of` messages, in nanoseconds. In LoP receives
    /// are posted beforehand, and noticing a message is part of L(p): 0.
    pub fn receive_overhead_ns(&self) -> f64 {
        match self {
            Model::LogGp(m) => m.receive_overhead_ns,
            Model::LoP(_) => 0.0,
        }
    }

    /// L: from the end of the sender's overhead to the arrival, in nanoseconds, for one of `of` messages.
    pub fn latency_ns(&self, of: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.latency_ns,
            Model::LoP(m) => m.latency_ns(of),
        }
    }

    /// g: the least time between two messages of one node, in nanoseconds. In LoP it is part of L(p): 0.
    pub fn gap_ns(&self) -> f64 {
        match self {
            Model::LogGp(m) => m.gap_ns,
            Model::LoP(_) => 0.0,
        }
    }

    /// (bytes − 1)·G in nanoseconds. LoP is a model of messages without a length: 0.
    pub fn wire_ns(&self, bytes: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.wire_ns(bytes),
            Model::LoP(_) => 0.0,
        }
    }

    /// From the first post to the arrival of message `nth` (counted from 1) of `of` short ones, in
    /// nanoseconds: LogP o_s + (i − 1)·max{o_s, g} + L; LoP o(n) + i·L(n), whose last is t_1:n, since L(n)
    /// is a time per message.
    pub fn arrival_ns(&self, nth: u64, of: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.issue_ns(nth) + m.latency_ns,
            Model::LoP(m) => m.one_to_many_ns(of) - (of - nth) as f64 * m.latency_ns(of),
        }
    }

    /// Until the last of `peers` has a short message from one, in nanoseconds.
    pub fn one_to_many_ns(&self, peers: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.one_to_many_ns(peers),
            Model::LoP(m) => m.one_to_many_ns(peers),
        }
    }

    /// Until one has a short message from each of `peers`, in nanoseconds.
    pub fn many_to_one_ns(&self, peers: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.many_to_one_ns(peers),
            Model::LoP(m) => m.many_to_one_ns(peers),
        }
    }
}

/// What ranks of one node have between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Where the numbers are from: a paper and its table, or a command and a machine.
    pub source: String,
    /// Between ranks of the node that have a core each.
    pub model: Model,
    /// Ranks of a node; ranks r and s are on one node if r/ranks = s/ranks. None: all ranks are on one node.
    pub ranks: Option<u32>,
    /// Cores of the node. With more ranks than cores a rank has to be given a core before it can respond.
    pub cores: Option<u32>,
    /// What handing a core from one rank to another takes, in nanoseconds.
    pub switch_ns: Option<f64>,
}

impl Node {
    /// The least that a collective operation which all of `ranks` take part in has to wait for cores, in
    /// nanoseconds: each core is handed to each of its ranks once. 0 where each rank has a core; None where
    /// switches or cores are not known.
    pub fn switches_ns(&self, ranks: u64) -> Option<f64> {
        let (cores, switch_ns) = (u64::from(self.cores?), self.switch_ns?);
        Some(if ranks > cores { ranks.div_ceil(cores) as f64 * switch_ns } else { 0.0 })
    }
}

/// A machine: what `--json` of a measurement holds and what built-in sets are.
///
/// ```
/// use evenkeel_model::{LogGp, Parameters};
/// let network = LogGp::logp(5_000.0, 500.0, 500.0);
/// let machine = Parameters::of_network("mine", "a guess", network.into());
/// assert_eq!(machine.between(0, 1).unwrap().one_to_many_ns(1), 6_000.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Of this layout: [`SCHEMA`].
    pub schema: u32,
    pub name: String,
    /// Where the numbers of the network are from; empty if there is none.
    #[serde(default)]
    pub source: String,
    /// Between nodes. None: there is one node only.
    #[serde(default)]
    pub network: Option<Model>,
    /// Within a node. None: each rank has a node to itself.
    #[serde(default)]
    pub node: Option<Node>,
}

/// Why parameters cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ParameterError {
    #[error("their layout is number {0}, and this evenkeel knows {SCHEMA}")]
    Schema(u32),
    #[error("they describe neither a network nor a node")]
    Empty,
    #[error("{of} is {value}; it must be a number, and not negative")]
    Number { of: &'static str, value: f64 },
    #[error("{of} must be at least 1")]
    None { of: &'static str },
    #[error("a node holds {0} ranks, but there is no network between nodes")]
    NoNetwork(u32),
    #[error("o(p) or RTT(p) has a pole at or above one peer: {of} is {value}, it must be more than -1")]
    Pole { of: &'static str, value: f64 },
}

impl Parameters {
    /// Each rank on a node of its own.
    pub fn of_network(name: &str, source: &str, network: Model) -> Parameters {
        Parameters {
            schema: SCHEMA,
            name: name.into(),
            source: source.into(),
            network: Some(network),
            node: None,
        }
    }

    /// All ranks on one node.
    pub fn of_node(name: &str, node: Node) -> Parameters {
        Parameters {
            schema: SCHEMA,
            name: name.into(),
            source: String::new(),
            network: None,
            node: Some(node),
        }
    }

    /// The network of `self` between nodes like that of `other`, each with `ranks` ranks. None if one of
    /// the two is missing.
    pub fn with_node_of(&self, other: &Parameters, ranks: u32) -> Option<Parameters> {
        let node = Node { ranks: Some(ranks), ..other.node.clone()? };
        self.network?;
        Some(Parameters { name: format!("{}+{}", self.name, other.name), node: Some(node), ..self.clone() })
    }

    /// The node that a rank is on.
    pub fn node_of(&self, rank: u32) -> u32 {
        match &self.node {
            None => rank,
            Some(Node { ranks: None, .. }) => 0,
            Some(Node { ranks: Some(ranks), .. }) => rank / ranks,
        }
    }

    /// What lies between two ranks. None only for parameters that [`Parameters::check`] refuses.
    pub fn between(&self, a: u32, b: u32) -> Option<&Model> {
        match &self.node {
            Some(node) if self.node_of(a) == self.node_of(b) => Some(&node.model),
            _ => self.network.as_ref(),
        }
    }

    /// Whether the numbers make sense; a file may hold anything.
    pub fn check(&self) -> Result<(), ParameterError> {
        if self.schema != SCHEMA {
            return Err(ParameterError::Schema(self.schema));
        }
        if let Some(model) = &self.network {
            check(model)?;
        }
        let Some(node) = &self.node else {
            return if self.network.is_some() { Ok(()) } else { Err(ParameterError::Empty) };
        };
        check(&node.model)?;
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

fn check(model: &Model) -> Result<(), ParameterError> {
    match model {
        Model::LogGp(m) => {
            not_negative("latency_ns", m.latency_ns)?;
            not_negative("send_overhead_ns", m.send_overhead_ns)?;
            not_negative("receive_overhead_ns", m.receive_overhead_ns)?;
            not_negative("gap_ns", m.gap_ns)?;
            not_negative("gap_per_byte_ns", m.gap_per_byte_ns)
        }
        Model::LoP(m) => {
            if m.most_peers == 0 {
                return Err(ParameterError::None { of: "most_peers" });
            }
            for (of, value) in [
                ("start_up_shift of the round trip", m.round_trip.start_up_shift),
                ("start_up_shift of the send overhead", m.send_overhead.start_up_shift),
                ("start_up_shift of the receive overhead", m.receive_overhead.start_up_shift),
            ] {
                if value.is_nan() || value <= -1.0 {
                    return Err(ParameterError::Pole { of, value });
                }
            }
            for peers in 1..=m.most_peers.min(1 << 16) {
                not_negative("the round trip", m.round_trip.at_ns(peers))?;
                not_negative("the send overhead", m.send_overhead.at_ns(peers))?;
                not_negative("the receive overhead", m.receive_overhead.at_ns(peers))?;
            }
            Ok(())
        }
    }
}

fn not_negative(of: &'static str, value: f64) -> Result<(), ParameterError> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(ParameterError::Number { of, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overhead, Posting, RoundTrip, builtin, mozart};

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
    fn files_read_back_and_name_their_units() {
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
    fn what_lies_between_two_ranks_depends_on_their_nodes() {
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
    fn ranks_without_a_core_cost_a_switch_each() {
        let of = |ranks| node(None).switches_ns(ranks);
        assert_eq!([4, 5, 8, 9].map(of), [0.0, 1800.0, 1800.0, 2700.0].map(Some));
        assert_eq!(Node { switch_ns: None, ..node(None) }.switches_ns(9), None);
    }

    #[test]
    fn nonsense_is_refused_and_named() {
        let good = Parameters::of_node("n", node(None));
        assert_eq!(good.check(), Ok(()));
        let with = |f: &dyn Fn(&mut Parameters)| {
            let mut set = good.clone();
            f(&mut set);
            set.check().unwrap_err()
        };
        assert_eq!(with(&|p| p.schema = 9), ParameterError::Schema(9));
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
            "another unit is another field, and not taken for this one"
        );
    }

    #[test]
    fn the_last_arrival_ends_one_to_many() {
        let flat = RoundTrip {
            floor_ns: 5000.0,
            start_up_ns: 0.0,
            start_up_shift: 0.0,
            saturation_ns: 0.0,
            saturation_rate: 0.0,
            saturation_shift: 0.0,
        };
        let lop = LoP {
            round_trip: flat,
            send_overhead: Overhead::constant(300.0),
            receive_overhead: Overhead::constant(0.0),
            posting: Posting::Each,
            most_peers: 9,
        };
        for of in 1..10 {
            assert_eq!(Model::LoP(lop).arrival_ns(of, of), lop.one_to_many_ns(of));
            assert_eq!(Model::LoP(lop).arrival_ns(1, of), 300.0 + lop.latency_ns(of));
            let end = Model::LogGp(SHARED).arrival_ns(of, of) + SHARED.receive_overhead_ns;
            assert_eq!(end, SHARED.one_to_many_ns(of));
        }
    }
}
