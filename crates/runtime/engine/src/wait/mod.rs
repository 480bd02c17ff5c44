//! What a rank does while it waits.
pub mod chores;
pub mod settings;
