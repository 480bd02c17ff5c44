//! A simulator of switched networks, phit by phit. It shows what routing tables, traffic and changes of the
//! network do to throughput and latency.
//!
//! A [`Simulator`] combines a [`Wiring`] (switches, hosts, channels), [`Parameters`] (wormhole, virtual
//! cut-through or store-and-forward switching; lanes, buffers, times) and a [`Routing`] function. A
//! [`Workload`] decides what hosts send. [`OpenLoop`] is a workload of random [`Traffic`], and
//! [`measure()`] turns it into a [`LoadPoint`] of a latency-throughput curve, with confidence intervals.
//! Time is in cycles. A channel moves one phit per cycle, unless it is made slower.
//!
//! The same arguments give the same results on every machine. Every few thousand cycles the simulator
//! checks that no phit and no packet is lost, and looks for deadlocks. A [`Deadlock`] ends the simulation
//! and names the packets that wait for each other.
//!
//! May use: std, serde, thiserror, and the networks and tables of `evenkeel-route`. Must never: do I/O,
//! read a clock, or depend on the iteration order of a hash map.

pub mod application;
mod measurement;
mod packet;
mod parameters;
pub mod reconfiguration;
mod routing;
mod simulator;
mod traffic;
mod wiring;

pub use measurement::{
    Experiment, Interval, LoadPoint, StoppingRules, Throughput, measure, run_parallel, throughput,
};
pub use packet::{Packet, PacketId};
pub use parameters::{Parameters, ParametersError, Switching};
pub use routing::{AnyRouting, EscapeRouting, Routing, SourceRouting, TableRouting, VirtualLane};
pub use simulator::{
    ConservationError, Deadlock, NewPacket, SimulationError, Simulator, TrafficCount, Workload,
};
pub use traffic::{Length, OpenLoop, Pattern, Traffic, TrafficError};
pub use wiring::{ChannelId, Node, Wiring};
