//! The agent as a process: its loop, its sleep, and which nodes and ranks still live.
//!
//! [`agent`] is the loop. It moves [`communicators`] on, does what ranks tell it over the
//! [`command_pipe`], sleeps by an [`idle_strategy`], and finds out which nodes ([`liveness`]) and ranks
//! ([`local_ranks`]) are gone; with the other agents it finds out which rank died first
//! ([`first_death`]), for which a thread notes
//! when ranks end ([`rank_watcher`], [`run_delay`]). [`daemon`] makes it a process of
//! its own; [`traffic`] counts what it has sent. Messages go over a
//! [`network`], and [`refusals`] tells of processes on it that are none of the job.

pub mod agent;
pub mod command_pipe;
pub mod communicators;
pub mod daemon;
pub mod first_contact;
pub mod first_death;
pub mod idle_strategy;
pub mod liveness;
pub mod local_ranks;
pub mod network;
pub mod rank_watcher;
pub mod refusals;
pub mod run_delay;
pub mod traffic;
