//! A node's part in operations.

mod records;

pub(crate) use records::Participant;
