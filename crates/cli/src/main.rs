//! The `evenkeel` program; everything it does is in the library beside it.

use clap::Parser;
use evenkeel_cli::commands::doctor::{command as doctor, sibling};
use evenkeel_cli::commands::manual::command as manual;
use evenkeel_cli::commands::model::command as model;
use evenkeel_cli::commands::noise::command as noise;
use evenkeel_cli::commands::report::command as record_file;
use evenkeel_cli::commands::route::command as route;
use evenkeel_cli::commands::run::command as run;
use evenkeel_cli::commands::schedule::command as schedule;
use evenkeel_cli::commands::simulate::command as simulate;
use evenkeel_cli::commands::tune::command as tune;
use evenkeel_cli::commands::{Cli, Task};
use evenkeel_cli::errors::Failure;
use evenkeel_cli::inject;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    evenkeel_diagnostics::start("evenkeel");
    match act(Cli::parse().command) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("evenkeel: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn act(task: Task) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    let text: Vec<u8> = match task {
        Task::Run(arguments) => match run::run(&arguments)? {},
        Task::Env(arguments) => run::env(&arguments)?.into(),
        Task::Doctor(arguments) => {
            let verdict = doctor::doctor(arguments.program.as_deref())?;
            code = if verdict.usable { ExitCode::SUCCESS } else { ExitCode::FAILURE };
            verdict.text.into()
        }
        Task::Report(arguments) => record_file::report(&arguments)?.into(),
        Task::Noise(arguments) => noise::noise(&arguments)?.into(),
        Task::Simulate(arguments) => simulate::simulate(&arguments)?.into(),
        Task::Tune(arguments) => tune::tune(&arguments)?.into(),
        Task::Model(arguments) => model::model(&arguments)?.into(),
        Task::Schedule(arguments) => schedule::schedule(&arguments.task)?.into(),
        Task::Route(arguments) => {
            let verdict = route::route(&arguments)?;
            code = if verdict.right { ExitCode::SUCCESS } else { ExitCode::FAILURE };
            verdict.text.into()
        }
        Task::Completions(arguments) => manual::completions(arguments.shell),
        Task::Man(arguments) => {
            manual::man(&arguments.directory)?;
            Vec::new()
        }
        Task::Options(_) => manual::options_markdown().into(),
        Task::DoctorPeer(arguments) => sibling::act(&arguments.role),
        Task::Injector(arguments) => {
            inject::injector::act(&arguments)?;
            Vec::new()
        }
    };
    // A reader that has seen enough (`evenkeel doctor | head`) is no failure.
    let _ = std::io::stdout().write_all(&text).and_then(|()| std::io::stdout().flush());
    Ok(code)
}
