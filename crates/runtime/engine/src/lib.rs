//! Starts, progresses and completes collectives over the segment of one node.
//!
//! The way of a call: a front end hands in a [`call::Call`]; [`plan`] cuts it into instances by what
//! all ranks know to be equal; [`comm`] ([`served`] by the segment) and [`state`] number them and guard
//! the window; [`operation`] makes a rank's [`deposit`] and sees to its [`completion`] when what it
//! needs is there; [`wait`] decides what a rank does meanwhile (`waiting` is the loop); [`tally`]
//! counts. [`small`] is the same in one go for what is called most. Barriers go their own, shorter way
//! ([`barrier`]) and need not be waited for ([`deferral`], [`again`]); where a table names a schedule
//! for them they are run by that ([`scheduled`], [`program`]), and [`builtin`] says which schedules the
//! engine's own ways are: data within a node goes by those that are made of deposits
//! ([`evenkeel_schedule::deposits`]). Point-to-point messages that may overtake pending barriers are
//! [`message`]'s. Communicators that span nodes are [`across`]'s. [`world`] knows who shares the node,
//! which [`candidate`] finds out.
//!
//! May use: spanning, segment, schedule, table, options, record, libc. Must never know MPI, choose a path by
//! anything that ranks may see differently, hold a rank for something it does not need, or combine in
//! another order than that of the ranks.

pub mod barrier;
pub mod blocking;
pub mod clock;
pub mod collective;
pub mod comm;
pub mod communicator;
pub mod copy;
pub mod deferral;
pub mod job;
pub mod message;
pub mod nonblocking;
pub mod record;
pub mod reduction;
pub mod spanning;
pub mod wait;
