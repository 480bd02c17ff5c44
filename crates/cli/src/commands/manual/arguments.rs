//! The command lines of `evenkeel completions`, `evenkeel man` and `evenkeel options`.

use std::path::PathBuf;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel completions bash > ~/.local/share/bash-completion/completions/evenkeel
  evenkeel completions fish > ~/.config/fish/completions/evenkeel.fish")]
pub struct CompletionsArguments {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Write the manual pages into a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel man ~/.local/share/man/man1        then: man evenkeel-run")]
pub struct ManArguments {
    /// The directory, which is made if it is not there
    pub directory: PathBuf,
}

/// Print the table of options for the book
#[derive(Debug, clap::Args)]
pub struct OptionsArguments {
    /// As Markdown, the only format
    #[arg(long)]
    pub markdown: bool,
}
