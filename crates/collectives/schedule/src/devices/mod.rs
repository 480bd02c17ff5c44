//! Hardware that performs barriers, simulated with its exact protocols.
//!
//! [`mod@barrier_unit`] is Höfler's barrier unit in a network switch (2005, section 3.1; designed, never
//! built). [`host`] is its other end, and [`packet`] is what they exchange, as printed and with the epoch
//! that the printed format lacks. [`dedicated_network`] is the network of section 3.2 (built for four
//! nodes). [`medium`] loses, repeats and reorders packets.
//!
//! Each device is a state machine: it takes a packet, a level or a time-out and returns what it sends.
//! Nothing waits or reads a clock, so a test can visit every state of a small system.
//!
//! May use: random numbers. Must never: wait, read a clock, or know anything of schedules.

pub mod barrier_unit;
pub mod dedicated_network;
pub mod host;
pub mod medium;
pub mod packet;

pub use packet::Protocol;
