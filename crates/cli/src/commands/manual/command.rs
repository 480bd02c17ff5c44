//! What is generated from the grammar and the table of options: completions, manual pages, the book's
//! options page.

use crate::commands::Cli;
use crate::errors::Failure;
use clap::CommandFactory;
use evenkeel_options as options;
use std::io;
use std::path::Path;

/// The completion script for a shell.
pub fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "evenkeel", &mut text);
    text
}

/// Writes evenkeel.1 and one page per subcommand.
pub fn man(directory: &Path) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::Unwritable { path: directory.to_path_buf(), why: e.to_string() };
    std::fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(Cli::command().disable_help_subcommand(true), directory).map_err(failed)
}

/// docs/options.md.
pub fn options_markdown() -> String {
    let mut text = String::from(
        "# Options\n\n\
         Every option can be given to `evenkeel run` and `evenkeel env` as `--name value`, or stand in the environment;\n\
         the command line wins. The engine inside the program reads the environment only, so the variables work under\n\
         any launcher that hands them to the ranks. A switch (`0|1`) may stand alone: `--quiet` is `--quiet=1`.\n\n\
         This page is generated from `crates/shared/options/src/lib.rs`: `evenkeel options --markdown > docs/src/options.md`.\n\n\
         | option | variable | values | default |\n|---|---|---|---|\n",
    );
    for o in options::ALL {
        let default = if o.default.is_empty() { "none".to_string() } else { format!("`{}`", o.default) };
        let values = o.values.replace('|', "\\|");
        text += &format!("| [`--{0}`](#{0}) | `{1}` | {values} | {default} |\n", o.name, o.env);
    }
    for o in options::ALL {
        text += &format!("\n## {}\n\n`--{} {}`, `{}`: {}\n", o.name, o.name, o.values, o.env, squeeze(o.doc));
    }
    text += "\n## Where the shims are\n\n`EVENKEEL_LIB=DIRECTORY` tells the `evenkeel` program where its shims are, if they are neither in \
             `lib/evenkeel` beside it nor in `../lib/evenkeel`.\n";
    text
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
