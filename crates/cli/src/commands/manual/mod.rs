//! `evenkeel completions`, `evenkeel man` and `evenkeel options`: what is generated from the command line's
//! grammar and from the table of options.

mod arguments;
mod command;

pub use arguments::{CompletionsArguments, ManArguments, OptionsArguments};
pub use command::{completions, man, options_page};
