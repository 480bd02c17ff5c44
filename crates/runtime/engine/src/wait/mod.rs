//! How a rank waits, without knowing for what: the policy ([`settings`]), one wait by it ([`pause`]),
//! and what a long wait does for the host library and to notice deaths ([`chores`]).
//!
//! May use: the clock, the options. Must never look at shared memory: the loops over these are in
//! [`crate::blocking`] and [`crate::message`].

pub mod chores;
pub mod pause;
pub mod settings;
