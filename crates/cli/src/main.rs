//! The `evenkeel` program; everything it does is in the library beside it.

use evenkeel_cli::commands::{CommandLine, execute};
use evenkeel_cli::errors::CommandError;
use evenkeel_cli::output::standard_output;
use std::process::ExitCode;

fn main() -> ExitCode {
    evenkeel_diagnostics::start("evenkeel");
    answer().unwrap_or_else(|error| {
        eprintln!("evenkeel: {error}");
        ExitCode::from(error.exit_code())
    })
}

/// Carries out what the command line says, and prints what comes of it.
fn answer() -> Result<ExitCode, CommandError> {
    let line = match CommandLine::read() {
        Ok(line) => line,
        Err(usage) if usage.use_stderr() => usage.exit(),
        Err(help) => {
            standard_output::print(|_| help.print())?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let outcome = execute(line.command)?;
    standard_output::print(|out| out.write_all(&outcome.text))?;
    Ok(ExitCode::from(outcome.code))
}
