//! `evenkeel top`: a job in the terminal, as it runs.
//!
//! `rows` puts ranks into words and in order, `plain` is the table without a terminal, `screen` draws,
//! `control` says what keys do, `live` is the loop between them.

mod arguments;
mod command;
mod control;
mod live;
mod plain;
mod rows;
mod screen;

pub use arguments::TopArguments;
pub use command::top;
