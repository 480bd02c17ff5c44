//! `evenkeel run` and `evenkeel env`.

pub mod command;
