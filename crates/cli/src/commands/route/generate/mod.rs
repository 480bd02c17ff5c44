//! `evenkeel route generate`: makes networks, regular or random.

mod arguments;
mod command;

pub use arguments::GenerateArguments;
pub use command::generate;
