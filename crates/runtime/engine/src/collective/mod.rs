//! Collective operations among the ranks of one node, without any waiting.
//!
//! A [`call`] is cut into instances by a [`plan`]; an [`operation`] carries it out: in each instance a
//! rank makes its [`deposit`], and when the deposits that it needs are there, it copies or combines
//! them ([`completion`], [`shared_fold`]). [`builtin`] names the schedules that these operations amount
//! to.
//!
//! May use: comm, reduction, copy, record. Must never wait, choose by anything that ranks may know
//! differently, or combine in another order than that of the ranks.

pub mod builtin;
pub mod call;
pub mod completion;
pub mod deposit;
pub mod operation;
pub mod piece;
pub mod plan;
pub mod savings;
pub mod shared_fold;
