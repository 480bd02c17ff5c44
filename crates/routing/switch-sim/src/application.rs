//! Application cores on models of three fabrics: what programs make of a network (Chen, Wyckoff:
//! "Simulation studies of Gigabit Ethernet versus Myrinet using real application cores", CANPC 2000).
//!
//! A [`Program`] is a core at work on all hosts: it says who sends what when, and is told what has
//! arrived. The same program runs on the phit simulator (wormhole switching: [`phit_network`]) and on whole
//! frames in switches with queues at their outputs ([`frame_network`]). A [`Fabric`] puts both together with
//! the parameters of the paper. What hosts themselves take for a message is left out, as there.

mod fabric;
mod frame_network;
mod outcome;
mod phit_network;
mod program;

pub use fabric::{Fabric, HOSTS, load, run};
pub use frame_network::{Framing, Line, Lines, Node, Order, Replicas};
pub use outcome::{Outcome, Statistics};
pub use program::{Core, Load, Program, Send};
