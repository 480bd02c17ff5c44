//! `evenkeel report`.

pub mod command;
