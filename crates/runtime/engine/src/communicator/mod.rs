//! What this process knows of a communicator.

pub mod node;
pub mod registry;
pub mod spanning;
