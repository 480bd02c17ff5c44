//! `evenkeel simulate`.

pub mod arguments;
pub mod command;
mod plot;
mod setup;
mod text;
