//! A cluster cannot be simulated.

use super::PlotError;
use thiserror::Error;

/// Why `evenkeel cluster` refuses.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// The simulator refuses.
    #[error("cannot simulate this cluster: {0}. `evenkeel cluster --help` shows examples.")]
    Refused(#[from] evenkeel_cluster_sim::SimulationError),
    /// Loads that do not ascend.
    #[error("--loads must ascend: {before} stands before {after}. Give them as in --loads 0.5,0.7,0.9.")]
    Loads {
        /// A load.
        before: f64,
        /// The next one.
        after: f64,
    },
    /// The plot library refuses.
    #[error("the plot could not be drawn ({0}).")]
    Plot(PlotError),
}
