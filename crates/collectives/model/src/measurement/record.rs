//! The content of the file that a measurement writes.

use crate::Parameters;
use crate::fit::Distance;
use crate::samples::{Quantity, SeriesSummary};
use serde::{Deserialize, Serialize};

/// The conditions of a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// The version of evenkeel.
    pub version: String,
    /// The command that repeats the measurement.
    pub command: String,
    /// The name and release of the kernel.
    pub kernel: String,
    /// The name of the processor.
    pub processor: String,
    /// When the measurement started, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// How long it took, in nanoseconds.
    pub elapsed_ns: u64,
    /// The cores that ranks were bound to, in the order of ranks. Between hosts: that of each host's
    /// process.
    pub cores: Vec<u32>,
    /// The hosts whose network was measured. Empty if the ranks of one host were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Why ranks could not be bound to their cores, if so.
    pub unpinned: Option<String>,
    /// What reading the clock takes, in nanoseconds. It is subtracted from all times.
    pub clock_ns: f64,
    /// The pause before each pass, in nanoseconds.
    pub pause_ns: u64,
    /// The load average before the measurement, if the kernel tells it: other programs show here.
    pub load: Option<f64>,
}

impl Conditions {
    /// Whether a network was measured, instead of the ranks of one node.
    pub fn of_network(&self) -> bool {
        !self.hosts.is_empty()
    }
}

/// The model whose parameters the file is to contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Constants, for ranks that have a core each.
    #[default]
    LogGp,
    /// Functions of the number of peers.
    LoP,
}

/// A parameter with its 95% interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The symbol in the literature: L, o_s, o_r, g, G; s for a switch of cores.
    pub symbol: String,
    /// The name.
    pub name: String,
    /// The unit of the values.
    pub unit: String,
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// What it was computed from.
    pub from: String,
}

/// A fitted function of the number of peers, evaluated at the measured numbers of peers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What was timed.
    pub quantity: Quantity,
    /// Whether there were more ranks than cores.
    pub oversubscribed: bool,
    /// The numbers of peers.
    pub peers: Vec<u32>,
    /// The values of the curve.
    pub value_ns: Vec<f64>,
    /// The lower ends of the 95% intervals.
    pub low_ns: Vec<f64>,
    /// The upper ends of the 95% intervals.
    pub high_ns: Vec<f64>,
    /// How far the curve is from the points that it was fitted to.
    pub seen: Distance,
    /// How far it is from points that were held out. None if there were too few points.
    pub held_out: Option<Distance>,
}

/// A time that the parameters predict and that they were not computed from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What was timed.
    pub what: String,
    /// The number of peers.
    pub peers: u32,
    /// The bytes of a message.
    pub bytes: u64,
    /// The prediction.
    pub predicted_ns: f64,
    /// The median.
    pub measured_ns: f64,
}

/// Everything that a measurement found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The conditions of the measurement.
    pub conditions: Conditions,
    /// The summary of each series.
    pub points: Vec<SeriesSummary>,
    /// The parameters of LogGP with intervals.
    pub estimates: Vec<Estimate>,
    /// The functions of LoP.
    pub curves: Vec<Curve>,
    /// Predictions compared with measured times.
    pub checks: Vec<Check>,
    /// What a user should know before using the numbers.
    pub notes: Vec<String>,
}

/// The file that a measurement writes: parameters, which every command that takes parameters reads, and
/// how they were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredParameters {
    /// Tells the page, which also shows other records, what this is: always `model`.
    pub kind: String,
    /// The parameters.
    #[serde(flatten)]
    pub parameters: Parameters,
    /// How they were found.
    pub measurement: Measurement,
}

/// Why parameters cannot be estimated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasurementError {
    /// A series that every estimate needs is missing.
    #[error("there are no samples of {0:?} with one peer")]
    Missing(Quantity),
    /// LoP needs more numbers of peers.
    #[error(
        "there are too few numbers of peers for LoP: a round trip has five parameters and needs six of a \
         kind, all with a core for each rank or all without"
    )]
    FewPeers,
}
