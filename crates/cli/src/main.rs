//! The `evenkeel` program; everything it does is in the library beside it.

use clap::Parser;
use evenkeel_cli::commands::{CommandLine, execute};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    evenkeel_diagnostics::start("evenkeel");
    match execute(CommandLine::parse().command) {
        Ok(outcome) => {
            // A reader that closes the pipe early, as in `evenkeel doctor | head`, is not an error.
            let mut out = std::io::stdout();
            let _ = out.write_all(&outcome.text).and_then(|()| out.flush());
            ExitCode::from(outcome.code)
        }
        Err(error) => {
            eprintln!("evenkeel: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
