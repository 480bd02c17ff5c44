//! The node that orders all operations.

mod ordering;

pub(crate) use ordering::Sequencer;
