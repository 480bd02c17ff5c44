//! From samples to parameters: what a measurement found, with its intervals and what it is worth.

mod curves;
mod estimates;

use crate::fit::Distance;
use crate::samples::{Quantity, Series, SeriesSummary};
use crate::{LoP, LogGp, Model, Node, Parameters};
use serde::{Deserialize, Serialize};

/// A network's G is the slope of messages of so many bytes and more.
pub const LONG_BYTES: u64 = 128 * 1024;
/// Draws for intervals.
const REDRAWS: u32 = 200;

/// What surrounded a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Of evenkeel.
    pub version: String,
    /// How to measure the same again.
    pub command: String,
    /// Name and release of the kernel.
    pub kernel: String,
    pub processor: String,
    pub started_unix_ns: u64,
    pub elapsed_ns: u64,
    /// Cores that ranks were held on, in the order of ranks; between hosts, that of each one's process.
    pub cores: Vec<u32>,
    /// The hosts whose network was measured; empty: ranks of one host were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Why ranks could not be held on their cores, if so.
    pub unpinned: Option<String>,
    /// What reading the clock takes; taken off all times.
    pub clock_ns: f64,
    /// Pause before each pass.
    pub pause_ns: u64,
    /// Times that ranks were ready to run and others ran, if the kernel says: load from outside shows here.
    pub load: Option<f64>,
}

/// Which model the file is to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Constants, of ranks that have a core each.
    #[default]
    LogGp,
    /// Functions of the number of peers.
    LoP,
}

/// A parameter with its 95% interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// As in the papers: L, o_s, o_r, g, G; s for handing over a core.
    pub symbol: String,
    pub name: String,
    pub unit: String,
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// What it was taken from.
    pub from: String,
}

/// A fitted function of the number of peers, at the numbers that were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    pub quantity: Quantity,
    pub oversubscribed: bool,
    pub peers: Vec<u32>,
    pub value_ns: Vec<f64>,
    /// 95% interval of the curve at each.
    pub low_ns: Vec<f64>,
    pub high_ns: Vec<f64>,
    /// From the points it was fitted to.
    pub seen: Distance,
    /// From points that were held out.
    pub held_out: Option<Distance>,
}

/// A time that the parameters predict and that did not go into them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    pub what: String,
    pub peers: u32,
    pub bytes: u64,
    pub predicted_ns: f64,
    pub measured_ns: f64,
}

/// All that a measurement found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub conditions: Conditions,
    pub points: Vec<SeriesSummary>,
    pub estimates: Vec<Estimate>,
    pub curves: Vec<Curve>,
    pub checks: Vec<Check>,
    /// What is to be known before the numbers are used.
    pub notes: Vec<String>,
}

/// The file that a measurement writes: parameters, which any command reads that takes some, and how
/// they were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredParameters {
    /// Tells the page, which shows other things too, what this is: always `model`.
    pub kind: String,
    #[serde(flatten)]
    pub parameters: Parameters,
    pub measurement: Measurement,
}

/// Why there are no parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasurementError {
    #[error("there are no samples of {0:?} with one peer")]
    Missing(Quantity),
    #[error(
        "there are too few numbers of peers for LoP: a round trip has five parameters and needs six of a kind, all with a core for each rank or all without"
    )]
    FewPeers,
}

impl Conditions {
    /// Whether a network was measured, not what ranks of a node have between them.
    pub fn of_network(&self) -> bool {
        !self.hosts.is_empty()
    }
}

/// Parameters of one node, or of the network between hosts, from samples. The same samples and seed
/// give the same result.
///
/// G is a node's slope over all sizes, and a network's over those of [`LONG_BYTES`] and more: what a
/// network lets pass at once (a full bucket, a buffer of the sender's) hides its rate from shorter
/// messages.
///
/// # Errors
/// If samples of a round trip, an overhead, or the gap are missing; for [`ModelKind::LoP`], with fewer than
/// six numbers of peers.
pub fn estimate_parameters(
    series: &[Series],
    kind: ModelKind,
    name: &str,
    conditions: Conditions,
    seed: u64,
) -> Result<MeasuredParameters, MeasurementError> {
    let mut random = fastrand::Rng::with_seed(seed);
    let points: Vec<SeriesSummary> = series.iter().map(|s| s.point(REDRAWS, &mut random)).collect();
    let long_bytes = if conditions.of_network() { LONG_BYTES } else { 0 };
    let seen = estimates::Seen::of(series, long_bytes);
    let found = seen.loggp()?;
    let redrawn: Vec<estimates::Seen> =
        (0..REDRAWS).map(|_| estimates::Seen::redrawn(series, long_bytes, &mut random)).collect();
    let curves = curves::curves(&seen, &redrawn);
    let model: Model = match kind {
        ModelKind::LogGp => found.model.into(),
        ModelKind::LoP => curves::lop(&seen).ok_or(MeasurementError::FewPeers)?.into(),
    };
    let source = format!("{} on {}, {}", conditions.command, conditions.processor, conditions.kernel);
    let switch_ns = seen.one(Quantity::Switch);
    let node = || Node {
        source: source.clone(),
        model,
        ranks: None,
        cores: u32::try_from(conditions.cores.len()).ok().filter(|n| *n > 0),
        // LoP's functions of ranks that share cores have the switches in them already.
        switch_ns: if kind == ModelKind::LoP && curves.iter().any(|c| c.oversubscribed) {
            None
        } else {
            switch_ns
        },
    };
    let parameters = if conditions.of_network() {
        Parameters::of_network(name, &source, model)
    } else {
        Parameters::of_node(name, node())
    };
    let notes = notes(&found, &points, &curves, &conditions, kind);
    let measurement = Measurement {
        points,
        estimates: estimates::estimates(&seen, &found, &redrawn),
        curves,
        checks: estimates::checks(&seen, &found.model),
        notes,
        conditions,
    };
    Ok(MeasuredParameters { kind: "model".into(), parameters, measurement })
}

/// What LogGP was found to be, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    model: LogGp,
    /// Even two ranks had to share a core.
    oversubscribed: bool,
    /// The overheads are more than half of a round trip: part of receiving was counted twice, and L is the
    /// least there can be.
    no_latency: bool,
}

/// Passes that differ by more than this have seen two machines.
const RESTLESS: f64 = 1.3;

fn notes(
    found: &Found,
    points: &[SeriesSummary],
    curves: &[Curve],
    conditions: &Conditions,
    kind: ModelKind,
) -> Vec<String> {
    let cores = conditions.cores.len();
    let mut notes = Vec::new();
    if conditions.of_network() {
        notes_of_network(found, points, &mut notes);
    } else if found.oversubscribed {
        notes.push(
            "There is one core only: every number has a context switch in it, also those of two ranks."
                .into(),
        );
    }
    if !conditions.of_network() && curves.iter().any(|c| c.oversubscribed) {
        notes.push(format!(
            "There are {cores} cores: with {cores} peers and more ranks share them, and times have context switches in them. They tell what this machine does with so many ranks, not what its memory can do.",
        ));
    }
    if found.no_latency && !conditions.of_network() {
        notes.push("Taking a signal that is there costs as much as a whole way here: in shared memory the latency is the reader's cache miss. L is taken to be 1 ns, and o_r what half of a round trip leaves.".into());
    }
    let trip = points.iter().find(|p| p.quantity == Quantity::RoundTrip && p.peers == 1);
    if let Some(p) =
        trip.filter(|p| p.median_high_ns > RESTLESS * p.median_low_ns || p.p75_ns > 1.5 * p.p25_ns)
    {
        notes.push(format!(
            "Round trips with one peer were not of one kind: a quarter took {:.0} ns and less, a quarter {:.0} ns and more. A hypervisor that moves cores, or a clock that changes, does that. More --passes, or another moment.",
            p.p25_ns, p.p75_ns
        ));
    }
    if let Some(why) = &conditions.unpinned {
        notes.push(format!("Ranks could not be held on their cores ({why}): they wandered."));
    }
    if conditions.load.is_some_and(|load| load > 0.5) {
        notes.push(format!(
            "Others were running too (load {:.1} before the start): measure again on a quiet machine.",
            conditions.load.unwrap_or(0.0)
        ));
    }
    if let Some(worst) = curves
        .iter()
        .filter_map(|c| c.held_out)
        .map(|d| d.median)
        .reduce(f64::max)
        .filter(|m| *m > 0.15 && kind == ModelKind::LoP)
    {
        notes.push(format!("The shape of LoP does not fit well here: points that were held out are missed by {:.0}% (median of the worst curve).", worst * 100.0));
    }
    notes
}

fn notes_of_network(found: &Found, points: &[SeriesSummary], notes: &mut Vec<String>) {
    let shared = points
        .iter()
        .filter(|p| p.quantity == Quantity::RoundTrip && p.oversubscribed)
        .map(|p| p.peers)
        .min();
    if let Some(peers) = shared {
        notes.push(format!(
            "Hosts are virtual: some are one machine, which with {peers} peers and more has fewer cores than processes that wait. Then times have context switches in them, and tell what this machine does with so many hosts, not what a network can do.",
        ));
    }
    if found.no_latency {
        notes.push("Overheads fill half of a round trip: messages are carried by the processors of the two ends, as between virtual hosts. L is taken to be 1 ns, and o_r what half of a round trip leaves.".into());
    }
}

/// LoP, if the file holds one.
pub fn lop_of(parameters: &Parameters) -> Option<&LoP> {
    match parameters.node.as_ref().map(|n| &n.model) {
        Some(Model::LoP(lop)) => Some(lop),
        _ => None,
    }
}
