//! `evenkeel route check`: proves tables, or says what is wrong with them.

mod arguments;
mod command;

pub use arguments::CheckArguments;
pub use command::check;
