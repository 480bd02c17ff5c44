//! A network in virtual time, in one process: the same for the same seed, with every fault that a real one
//! has.
//!
//! Each [`VirtualNetwork::step`] delivers one transmission to its node and moves the clock to that moment.
//! Nothing runs by itself: the owner of the network steps, and then lets the node that received something act
//! on it.
//!
//! May use: its own clock and random numbers. Must never: look at the machine's clock.

mod faults;
mod network;
mod state;
mod transmission;
mod wire;

pub use faults::Faults;
pub use network::VirtualNetwork;
pub use state::Liveness;
pub use wire::VirtualWire;
