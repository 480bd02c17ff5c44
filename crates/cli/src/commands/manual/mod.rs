//! `evenkeel completions`, `evenkeel man` and `evenkeel options`.

pub mod command;
