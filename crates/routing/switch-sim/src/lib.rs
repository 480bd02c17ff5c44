//! Switched networks phit by phit: what routing tables, traffic and changes of the network do to
//! throughput and latency.
//!
//! A [`Simulator`] is a [`Wiring`] (switches, hosts, channels) with [`Parameters`] (wormhole, virtual
//! cut-through or store-and-forward switching; lanes, buffers and times) and a [`Routing`] function. A
//! [`Workload`] says what hosts send: [`OpenLoop`] is random [`Traffic`], and [`measure()`] makes of it
//! one [`Point`] of a latency-throughput curve, with confidence intervals. Time is counted in cycles; a
//! channel moves a phit in a cycle unless it is said to be slower.
//!
//! The same arguments give the same outcome on every machine. Every phit and packet is accounted for
//! every few thousand cycles, and a deadlock ends the simulation with the packets that wait for each
//! other ([`Deadlock`]). This crate may use the networks and tables of `evenkeel-route`; it must never
//! do I/O or look at a clock.

pub mod application;
mod measurement;
mod parameters;
pub mod reconfiguration;
mod routing;
mod simulator;
mod traffic;
mod wiring;

pub use measurement::{Interval, Job, Point, Rules, Throughput, measure, run_jobs, throughput};
pub use parameters::{Impossible, Parameters, Switching};
pub use routing::{EscapeRouting, Lane, Routes, Routing, SourceRouting, TableRouting};
pub use simulator::{Count, Deadlock, Halt, Packet, PacketId, Post, Simulator, Workload};
pub use traffic::{Destinations, Length, OpenLoop, Pattern, Traffic};
pub use wiring::{ChannelId, End, Wiring};
