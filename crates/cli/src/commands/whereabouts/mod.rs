//! `evenkeel where`: what each rank of a job is in, and which ranks hold up the others.

mod arguments;
mod command;
mod record;
mod stack_record;
mod stack_text;
mod text;

pub use arguments::{RespondArguments, WhereArguments};
pub use command::{respond, whereabouts};
