//! `evenkeel route compute`.

pub mod command;
