//! `evenkeel model`.

pub mod arguments;
pub mod command;
pub mod measure;
mod show;
