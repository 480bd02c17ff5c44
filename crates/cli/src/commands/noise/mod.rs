//! `evenkeel noise`.

pub mod command;
