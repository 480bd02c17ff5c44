//! `evenkeel route application`.

pub mod command;
