//! `evenkeel where`: what each rank of a job is in, and which ranks hold up the others.

mod arguments;
mod command;
mod record;
mod text;

pub use arguments::WhereArguments;
pub use command::whereabouts;
