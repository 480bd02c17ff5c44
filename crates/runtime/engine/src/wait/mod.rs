//! What a rank does while it waits.

pub mod communicator;
pub mod library;
pub mod policy;
