//! Allreduces: the inputs of all ranks, combined, become the output of every rank.
//!
//! No rank finishes an epoch that another has not entered, since each rank needs the contribution of
//! every rank. A rank that enters the next epoch has read what it was sent in this one. So with two banks
//! a rank that sends in epoch e knows, without acknowledgements, that the messages of epoch e - 2 have
//! been read. Where a second half distributes complete results, one bank is enough: the results say that
//! the messages of the first half have been read, and they lie in the output, which is new in each epoch.
//! A rank that has sent something is known to be in the epoch, so the last message may go directly into
//! its output.

pub(crate) mod central_counter;
pub mod parts;
pub(crate) mod rabenseifner;
pub(crate) mod recursive_doubling;
pub(crate) mod reduce_broadcast;
pub(crate) mod ring;
pub(crate) mod simultaneous_broadcast;
