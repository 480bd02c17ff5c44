//! Devices that hold barriers by themselves, simulated with their exact protocols.
//!
//! [`mod@unit`] is Höfler's barrier unit in a network switch (2005, section 3.1; designed, never
//! built), with [`host`] as its other end and [`packet`] between them; as printed, and with the epoch
//! that it lacks. [`network`] is the dedicated network of section 3.2 (built for four nodes).
//! [`medium`] loses, repeats and reorders packets.
//!
//! Each is a state machine: it takes a packet, a level or a time-out and returns what it sends. Nothing
//! here waits or looks at a clock, so that all ways through a small system can be gone.

pub mod host;
pub mod medium;
pub mod network;
pub mod packet;
pub mod unit;

/// Which of the two protocols of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// As printed: packets of 11 bits. A repeated packet cannot be told from a new one.
    Printed,
    /// With the epoch behind the 11 bits.
    WithEpoch,
}
