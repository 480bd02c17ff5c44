//! How a rank waits, whatever it waits for: the policy ([`settings`]), one wait under this policy
//! ([`pause`]), how long it will last ([`expectation`]), what a long wait does for the host library
//! ([`library`], [`usual`]) and to notice deaths ([`chores`]), and whether other processes want the core
//! ([`crowding`]).
//!
//! May use: clock, options. Must never: read shared memory. The loops that do are in `blocking` and
//! `message`.

pub mod chores;
pub mod crowding;
pub mod expectation;
pub mod library;
pub mod pause;
pub mod settings;
pub mod usual;
