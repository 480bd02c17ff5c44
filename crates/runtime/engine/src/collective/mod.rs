//! Collective operations among the ranks of one node, without any waiting.
//!
//! A [`plan`] cuts a [`call`] into instances, and an [`operation`] carries it out. In each instance a rank
//! makes its [`deposit`]; when the deposits that it needs are there, it copies or combines them
//! ([`completion`], [`shared_fold`]), or reads them from another rank's memory ([`remote_read`],
//! [`remote_fold`]).
//! A rank whose call does not fit a deposit ends the job ([`mismatch`]).
//! For ranks that are further ahead than the window allows it enters instances that it reads
//! ([`ranks_ahead`]). [`builtin`] names the schedules that describe these operations.
//!
//! May use: comm, reduction, copy, record. Must never: wait, choose by facts that may differ between ranks,
//! or combine in any order but rank order.

pub mod builtin;
pub mod call;
pub mod completion;
pub mod deposit;
pub(crate) mod mismatch;
pub mod operation;
pub mod piece;
pub mod plan;
pub(crate) mod ranks_ahead;
pub(crate) mod remote_fold;
pub mod remote_read;
pub mod shared_fold;
