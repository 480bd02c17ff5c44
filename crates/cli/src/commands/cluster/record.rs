//! The frame of `--json`.

use evenkeel_cluster_sim::{Cluster, Interval};
use serde::Serialize;

/// The parameters of the cluster. Times are nanoseconds.
#[derive(Debug, Serialize)]
pub struct ClusterRecord {
    cores: usize,
    slots: usize,
    quantum_ns: u64,
    switch_ns: u64,
    latency_ns: u64,
    spin_ns: u64,
    local_quantum_ns: u64,
    slice_ns: u64,
    coarse_ns: u64,
    wait_share: f64,
    packing: String,
    queue: String,
}

impl ClusterRecord {
    /// The record of a cluster.
    pub fn new(cluster: &Cluster) -> ClusterRecord {
        ClusterRecord {
            cores: cluster.cores,
            slots: cluster.slots,
            quantum_ns: cluster.quantum_ns,
            switch_ns: cluster.switch_ns,
            latency_ns: cluster.latency_ns,
            spin_ns: cluster.spin_ns,
            local_quantum_ns: cluster.local_quantum_ns,
            slice_ns: cluster.slice_ns,
            coarse_ns: cluster.thresholds.coarse_ns,
            wait_share: cluster.thresholds.wait_share,
            packing: format!("{:?}", cluster.packing),
            queue: format!("{:?}", cluster.queue),
        }
    }
}

/// A mean over seeds, and half the width of its 95% confidence interval, which one seed does not have.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct IntervalRecord {
    mean: f64,
    half_width: Option<f64>,
}

impl From<Interval> for IntervalRecord {
    fn from(interval: Interval) -> IntervalRecord {
        let half_width = Some(interval.half_width).filter(|width| width.is_finite());
        IntervalRecord { mean: interval.mean, half_width }
    }
}

/// What was simulated, and the results.
#[derive(Debug, Serialize)]
pub struct Record<'a, Row> {
    /// `cluster scenario`, `cluster workload` or `cluster saturation`.
    pub kind: &'static str,
    /// Number of the layout.
    pub schema: u32,
    /// Of evenkeel.
    pub version: &'static str,
    /// The cluster.
    pub cluster: ClusterRecord,
    /// The results.
    pub results: &'a [Row],
}

impl<'a, Row> Record<'a, Row> {
    /// The record of a command.
    pub fn new(kind: &'static str, cluster: &Cluster, results: &'a [Row]) -> Record<'a, Row> {
        let version = env!("CARGO_PKG_VERSION");
        Record { kind, schema: 1, version, cluster: ClusterRecord::new(cluster), results }
    }
}
