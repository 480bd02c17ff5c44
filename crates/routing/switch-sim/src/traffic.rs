//! Open-loop traffic: what hosts send, to which hosts, and how much.
//!
//! May use: the wiring and the interface of workloads. Must never: know what the network does with the
//! packets.

mod destinations;
mod error;
mod length;
mod open_loop;
mod pattern;

pub use error::TrafficError;
pub use length::Length;
pub(crate) use open_loop::DeliveryTotals;
pub use open_loop::{OpenLoop, Traffic};
pub use pattern::Pattern;
