//! `evenkeel schedule`.

pub mod arguments;
pub mod command;
