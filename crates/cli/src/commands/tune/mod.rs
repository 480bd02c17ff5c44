//! `evenkeel tune`.

pub mod arguments;
pub mod command;
mod engine_ranks;
mod text;
