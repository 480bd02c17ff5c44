//! `evenkeel route compare`.

pub mod command;
