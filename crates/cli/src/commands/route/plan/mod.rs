//! `evenkeel route plan`.

pub mod command;
mod rehearsal;
