//! A network in virtual time, in one process: the same for the same seed, with every fault that a real one
//! has.
//!
//! Each [`Network::step`] delivers one thing to its node and moves the clock to that moment. Nothing
//! runs by itself: the owner of the network steps, and then lets the node that received something act on it.

mod faults;
mod network;
mod transmission;
mod wire;

pub use faults::Faults;
pub use network::{Health, Network};
pub use wire::VirtualWire;
