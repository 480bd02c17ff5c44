//! `evenkeel route simulate`: latency and throughput of routing schemes under traffic, as a table, a record
//! and pictures.
//!
//! [`routes`] reads networks and finds routes, [`result`] is what was simulated, [`table`], [`curves`] and
//! [`map`] show it.

mod arguments;
mod command;
mod curves;
mod map;
mod result;
mod routes;
mod table;

pub use arguments::SimulateArguments;
pub use command::simulate;
