//! `evenkeel route simulate`.

pub mod arguments;
pub mod command;
mod plot;
mod routes;
mod text;
