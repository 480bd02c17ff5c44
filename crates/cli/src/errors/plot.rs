//! Plots that cannot be drawn.

use thiserror::Error;

/// The reason that the plot library gives. Its own errors have types that name its backends.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct PlotError(pub String);
