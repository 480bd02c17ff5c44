//! How the nodes of a communicator carry one collective out among themselves.
//!
//! An agent makes a [`run`] of a [`schedule`] for each collective. A run has three [`buffer`]s; it takes
//! steps from other nodes' agents and produces steps for them. It knows neither the ranks nor the
//! network.

pub mod buffer;
pub mod run;
pub mod schedule;
