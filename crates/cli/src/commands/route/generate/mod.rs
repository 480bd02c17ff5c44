//! `evenkeel route generate`.

pub mod command;
