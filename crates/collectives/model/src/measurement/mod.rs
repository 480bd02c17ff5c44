//! From samples to parameters: the estimates of a measurement, their intervals, and how good they are.
//!
//! [`estimate_parameters`] is the entry. [`MeasuredParameters`] is the content of the file that a
//! measurement writes. The layers, top down: `estimate` puts everything together, `notes` warns,
//! `curves` fits LoP, `loggp` computes LogGP, `medians` holds the medians of all series, `record`
//! is the data.

mod curves;
mod estimate;
mod loggp;
mod medians;
mod notes;
mod record;

pub use estimate::{LONG_BYTES, estimate_parameters};
pub use record::{
    Check, Conditions, Curve, Estimate, MeasuredParameters, Measurement, MeasurementError, ModelKind,
};
