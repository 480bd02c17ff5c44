//! `evenkeel route check`.

pub mod command;
