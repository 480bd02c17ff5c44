//! The parameters of one node, or of the network between hosts, from samples.

use super::medians::Medians;
use super::record::{Conditions, MeasuredParameters, Measurement, MeasurementError, ModelKind};
use super::{curves, loggp, notes};
use crate::samples::{Quantity, Series, SeriesSummary};
use crate::{Model, Node, Parameters};

/// The G of a network is the slope over messages of so many bytes and more.
pub const LONG_BYTES: u64 = 128 * 1024;
/// Bootstrap samples for intervals.
const RESAMPLES: u32 = 200;

/// Estimates the parameters of one node, or of the network between hosts. The same samples and seed give
/// the same result.
///
/// The G of a node is the slope over all sizes of messages. The G of a network is the slope over those of
/// [`LONG_BYTES`] and more, because what a network accepts at once (a full token bucket, a buffer of the
/// sender) hides its rate from shorter messages.
///
/// # Errors
/// If samples of a round trip, an overhead, or the gap are missing. For [`ModelKind::LoP`] also if there
/// are fewer than six numbers of peers.
pub fn estimate_parameters(
    series: &[Series],
    kind: ModelKind,
    name: &str,
    conditions: Conditions,
    seed: u64,
) -> Result<MeasuredParameters, MeasurementError> {
    let mut random = fastrand::Rng::with_seed(seed);
    let points: Vec<SeriesSummary> = series.iter().map(|s| s.summary(RESAMPLES, &mut random)).collect();
    let long_bytes = if conditions.of_network() { LONG_BYTES } else { 0 };
    let medians = Medians::of(series);
    let found = loggp::loggp(&medians, long_bytes)?;
    let resampled: Vec<Medians> = (0..RESAMPLES).map(|_| Medians::resampled(series, &mut random)).collect();
    let curves = curves::curves(&medians, &resampled);
    let model: Model = match kind {
        ModelKind::LogGp => found.model.into(),
        ModelKind::LoP => curves::lop(&medians).ok_or(MeasurementError::FewPeers)?.into(),
    };
    let source = format!("{} on {}, {}", conditions.command, conditions.processor, conditions.kernel);
    let parameters = if conditions.of_network() {
        Parameters::of_network(name, &source, model)
    } else {
        // LoP's functions of ranks that share cores already contain the switches.
        let contains_switches = kind == ModelKind::LoP && curves.iter().any(|c| c.oversubscribed);
        let switch_ns = medians.with_one_peer(Quantity::Switch).filter(|_| !contains_switches);
        let cores = u32::try_from(conditions.cores.len()).ok().filter(|n| *n > 0);
        Parameters::of_node(name, Node { source, model, ranks: None, cores, switch_ns })
    };
    let notes = notes::notes(&found, &points, &curves, &conditions, kind);
    let measurement = Measurement {
        points,
        estimates: loggp::estimates(&medians, &found, &resampled, long_bytes),
        curves,
        checks: loggp::checks(&medians, &found.model),
        notes,
        conditions,
    };
    Ok(MeasuredParameters { kind: "model".into(), parameters, measurement })
}
