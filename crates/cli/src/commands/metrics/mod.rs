//! `evenkeel metrics`: numbers about jobs for Prometheus and OpenTelemetry.
//!
//! `exporter` watches the jobs of this user, `exposition` puts what it knows into metrics, `server` serves
//! them.

mod arguments;
mod command;
mod exporter;
mod exposition;
mod server;

pub use arguments::MetricsArguments;
pub use command::metrics;
