//! `evenkeel route reconfigure`.

pub mod command;
