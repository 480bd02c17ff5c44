//! Application cores on models of three fabrics (Chen, Wyckoff: "Simulation studies of Gigabit Ethernet
//! versus Myrinet using real application cores", CANPC 2000).
//!
//! A [`Program`] is an application core at work on all hosts. It decides who sends what and when, and is
//! told what has arrived. The same program runs on the phit simulator, with wormhole switching
//! ([`phit_network`]), and on a network of switches that queue whole frames at their outputs
//! ([`frame_network`]). A [`Fabric`] combines a network with the parameters of the paper. As in the paper,
//! hosts take no time for a message.
//!
//! May use: the phit simulator, networks and orders. Must never: be used by the phit simulator.

mod application_core;
mod fabric;
mod frame_network;
mod framing;
mod names;
mod outcome;
mod phit_network;
mod program;
mod statistics;

pub use application_core::{ApplicationCore, CoreParameters};
pub use fabric::{Fabric, HOSTS, paper_parameters, run};
pub use frame_network::{FrameNetwork, Line, LineEnd, QueueDiscipline, Replication};
pub use framing::Framing;
pub use names::UnknownNameError;
pub use outcome::Outcome;
pub use program::{Message, Program};
pub use statistics::Statistics;
