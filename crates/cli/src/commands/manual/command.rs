//! Carries out `evenkeel completions`, `evenkeel man` and `evenkeel options`.

use super::arguments::{CompletionsArguments, ManArguments};
use crate::errors::FileError;
use crate::output::file::make_directory;
use evenkeel_diagnostics as diagnostics;
use evenkeel_options as options;

/// The completion script for a shell.
pub fn completions(mut grammar: clap::Command, arguments: &CompletionsArguments) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut grammar, "evenkeel", &mut text);
    text
}

/// Writes evenkeel.1 and one page per command.
pub fn man(grammar: clap::Command, arguments: &ManArguments) -> Result<(), FileError> {
    let directory = &arguments.directory;
    make_directory(directory)?;
    clap_mangen::generate_to(grammar.disable_help_subcommand(true), directory)
        .map_err(|e| FileError::DirectoryNotWritable { path: directory.clone(), why: e.to_string() })
}

/// The book's page of options, docs/src/options.md.
pub fn options_page() -> String {
    let mut text = String::from(
        "# Options\n\n\
         Every option can be given to `evenkeel run` and `evenkeel env` as `--name value`, or set in the\n\
         environment. The command line takes precedence. The engine inside the program reads the\n\
         environment only, so the variables work under any launcher that passes them to the ranks. A switch\n\
         (`0|1`) may stand alone: `--quiet` is `--quiet=1`. `evenkeel run` and `evenkeel env` refuse a\n\
         variable with a value that its option does not take, and `evenkeel run` warns of a variable that\n\
         begins with `EVENKEEL_` and is no option.\n\n\
         This page is generated from `crates/shared/options/src/lib.rs`: `evenkeel options --markdown > \
         docs/src/options.md`.\n\n\
         | option | variable | values | default |\n|---|---|---|---|\n",
    );
    for option in options::ALL {
        let default = match option.default {
            "" => "none".to_string(),
            default => format!("`{default}`"),
        };
        let (name, values) = (option.name, option.values.replace('|', "\\|"));
        text += &format!("| [`--{name}`](#{name}) | `{}` | {values} | {default} |\n", option.env);
    }
    for option in options::ALL {
        let doc = option.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let (name, values) = (option.name, option.values);
        text += &format!("\n## {name}\n\n`--{name} {values}`, `{}`: {doc}\n", option.env);
    }
    text + &format!(
        "\n## Where the shims are\n\n`EVENKEEL_LIB=DIRECTORY` tells the `evenkeel` program where its shims \
         are, if they are neither in `lib/evenkeel` beside it nor in `../lib/evenkeel`.\n\n\
         ## Diagnostics\n\n`{0}=debug` makes the `evenkeel` program, and the agents of a run over several \
         machines, say on standard error what they examine and decide. The value is a level (`error`, \
         `warn`, `info`, `debug`, `trace`, `off`), or modules with levels:\n\
         `{0}=evenkeel_cli::program=debug`. \
         [When something fails](failures.md#diagnostics) shows an example.\n",
        diagnostics::VARIABLE
    )
}
