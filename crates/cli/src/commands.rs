//! The top of the program: all commands, and what each calls. No other module knows more than its own
//! command.
//!
//! Each command has a folder: `arguments.rs` is its part of the command line's grammar and its `--help`,
//! `command.rs` carries it out; the other files are its steps and its output. May use: every layer below.
//! Commands must never use each other; what two of them need lies in a layer below.

pub mod check;
pub mod cluster;
pub mod debug;
pub mod doctor;
pub mod env;
pub mod exec;
pub mod export;
pub mod launch_arguments;
pub mod manual;
pub mod metrics;
pub mod model;
pub mod noise;
pub mod option_values;
pub mod predict;
pub mod ps;
pub mod replay;
pub mod report;
pub mod route;
pub mod run;
pub mod schedule;
pub mod simulate;
pub mod top;
pub mod tune;
pub mod value_parsers;
pub mod whereabouts;

use crate::errors::CommandError;
use crate::inject::injector::{self, InjectorArguments};
use crate::output::outcome::Outcome;
use clap::error::ErrorKind;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};
use evenkeel_options as options;
use std::any::TypeId;

const ABOUT: &str = "Runs MPI programs, unmodified, so that a rank that stalls does not stall the others.";

const EXAMPLES: &str = "\
Examples:
  evenkeel run -n 16 -- ./app input.dat       run a program, and say which ranks waited for which
  evenkeel run -n 4 -- python3 script.py      run Python with mpi4py
  evenkeel exec --hosts a,b,c -- uptime       run a command on several hosts
  evenkeel doctor ./app                       find out what works here, and which calls are covered
  evenkeel where --stacks                     why does my job hang: which ranks, in which functions
  evenkeel top                                watch a job: which ranks wait, and for which
  evenkeel metrics                            numbers about your jobs for Prometheus
  evenkeel run --trace t -n 16 -- ./app && evenkeel replay t     the same run again, exactly
  evenkeel export t                           MPI calls of a recorded run over time
  evenkeel debug t                            a page of a recorded run: which rank waited, and why
  evenkeel run --check -n 4 -- ./app          which MPI calls were wrong, and where
  evenkeel run -n 8 --timeout 10m -- ./test   a job that hangs says why, and is ended
  evenkeel noise                              measure how this machine disturbs programs
  evenkeel simulate dissemination             simulate collectives on machines that you do not have
  evenkeel model measure                      measure what signals and messages cost on this machine
  evenkeel tune                               find the fastest barriers for this machine
  evenkeel schedule list                      list the collective algorithms and what they cost
  evenkeel cluster scenario                   simulate how jobs share a cluster
  evenkeel route compute net.topo --lfts FILE forwarding tables for OpenSM that cannot deadlock
  evenkeel run -n 16 --report run.json -- ./app && evenkeel report run.json --html run.html
  mpirun $(evenkeel env -n 16 ./app) ./app    use your own launcher line

Exit codes: once the program runs, its own, as its launcher passes it on; 120 if a repetition (`evenkeel \
replay`) went differently, 121 if --check has found errors in a program that has succeeded, 124 if the job \
was ended because of --timeout or --deadlock end; 2 for wrong usage, 125 if evenkeel could not do it, 126 if \
the program cannot be executed, 127 if it was not found. Every error is a sentence on standard error that \
begins with `evenkeel:`; only what is said of wrong usage begins with `error:`.

EVENKEEL_LOG=debug makes evenkeel say on standard error what it examines and decides.";

/// The command line of the `evenkeel` program.
#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, about = ABOUT, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct CommandLine {
    /// What is to be done.
    #[command(subcommand)]
    pub command: Command,
}

/// All commands. Their `--help` is the documentation of their arguments.
#[derive(Debug, Subcommand)]
#[allow(
    missing_docs,
    reason = "clap prefers a variant's comment to that of the arguments, which is the help text"
)]
pub enum Command {
    Run(Box<run::RunArguments>),
    Exec(Box<exec::ExecArguments>),
    Env(Box<env::EnvArguments>),
    Doctor(doctor::DoctorArguments),
    Replay(replay::ReplayArguments),
    Check(check::CheckArguments),
    Export(export::ExportArguments),
    Debug(debug::DebugArguments),
    Predict(predict::PredictArguments),
    Report(report::ReportArguments),
    Ps(ps::PsArguments),
    Where(whereabouts::WhereArguments),
    Top(top::TopArguments),
    Metrics(metrics::MetricsArguments),
    Noise(noise::NoiseArguments),
    Simulate(Box<simulate::SimulateArguments>),
    Tune(Box<tune::TuneArguments>),
    Model(model::ModelArguments),
    Schedule(schedule::ScheduleArguments),
    Cluster(cluster::ClusterArguments),
    Route(route::RouteArguments),
    Completions(manual::CompletionsArguments),
    Man(manual::ManArguments),
    #[command(hide = true)]
    Options(manual::OptionsArguments),
    #[command(hide = true)]
    HostNode(exec::HostNodeArguments),
    #[command(hide = true)]
    WhereResponder(whereabouts::RespondArguments),
    #[command(hide = true)]
    DoctorPeer(doctor::TrialArguments),
    #[command(hide = true)]
    Injector(InjectorArguments),
}

impl CommandLine {
    /// What was typed; an error is a text for the user, among them `--help`.
    pub fn read() -> Result<CommandLine, clap::Error> {
        let mut grammar = with_negative_numbers(CommandLine::command());
        let matches = grammar.try_get_matches_from_mut(std::env::args_os()).map_err(with_the_word)?;
        CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut grammar))
    }
}

/// Names what is not UTF-8, which the library does not.
fn with_the_word(error: clap::Error) -> clap::Error {
    // The program and its arguments, which may be any bytes, come last.
    let first = || std::env::args_os().skip(1).find(|word| word.to_str().is_none());
    match first().filter(|_| error.kind() == ErrorKind::InvalidUtf8) {
        None => error,
        Some(word) => clap::Error::raw(
            ErrorKind::InvalidUtf8,
            format!(
                "{word:?} is not UTF-8, which options and their values must be. A program that is run, and \
                 its arguments, may be any bytes. Correct it; if it is the name of a file, give the file \
                 another name, or a link.\n"
            ),
        ),
    }
}

/// The grammar in which `-1` is a value of what takes numbers, so that it is refused with their range. Else
/// it would be taken for an option that is not known.
fn with_negative_numbers(grammar: clap::Command) -> clap::Command {
    let takes_numbers = |arg: &Arg| {
        let kind = arg.get_value_parser().type_id();
        let kinds = [TypeId::of::<u8>(), TypeId::of::<u16>(), TypeId::of::<u32>(), TypeId::of::<u64>()];
        let others = [TypeId::of::<usize>(), TypeId::of::<f64>(), TypeId::of::<simulate::RankCounts>()];
        let is_number = kinds.iter().chain(&others).any(|number| kind == *number);
        // All options of the engine that take anything but words: MILLISECONDS, CALLS, DURATION, ….
        let option = options::ALL.iter().find(|option| arg.get_id() == option.name);
        is_number || option.is_some_and(|option| option_values::closed_list(option).is_none())
    };
    let grammar = grammar.mut_args(|arg| {
        let takes_numbers = arg.get_action().takes_values() && takes_numbers(&arg);
        if takes_numbers { arg.allow_negative_numbers(true) } else { arg }
    });
    grammar.mut_subcommands(with_negative_numbers)
}

/// Carries a command out.
pub fn execute(command: Command) -> Result<Outcome, CommandError> {
    Ok(match command {
        Command::Run(arguments) => run::run(*arguments)?,
        Command::Exec(arguments) => exec::exec(&arguments)?,
        Command::Env(arguments) => env::env(&arguments)?.into(),
        Command::Doctor(arguments) => doctor::doctor(&arguments)?,
        Command::Replay(arguments) => replay::replay(&arguments)?,
        Command::Check(arguments) => check::check(&arguments)?,
        Command::Export(arguments) => export::export(&arguments)?.into(),
        Command::Debug(arguments) => debug::debug(&arguments)?.into(),
        Command::Predict(arguments) => predict::predict(&arguments)?.into(),
        Command::Report(arguments) => report::report(&arguments)?.into(),
        Command::Ps(arguments) => ps::ps(&arguments).into(),
        Command::Where(arguments) => whereabouts::whereabouts(&arguments)?.into(),
        Command::Top(arguments) => top::top(&arguments)?.into(),
        Command::Metrics(arguments) => metrics::metrics(&arguments)?.into(),
        Command::Noise(arguments) => noise::noise(&arguments)?.into(),
        Command::Simulate(arguments) => simulate::simulate(&arguments)?.into(),
        Command::Tune(arguments) => tune::tune(&arguments)?.into(),
        Command::Model(arguments) => model::model(&arguments)?.into(),
        Command::Schedule(arguments) => schedule::schedule(&arguments)?.into(),
        Command::Cluster(arguments) => cluster::cluster(&arguments)?.into(),
        Command::Route(arguments) => route::route(&arguments)?,
        Command::Completions(arguments) => manual::completions(CommandLine::command(), &arguments).into(),
        Command::Man(arguments) => manual::man(CommandLine::command(), &arguments)?.into(),
        Command::Options(_) => manual::options_page().into(),
        Command::HostNode(arguments) => exec::serve_host(&arguments),
        Command::WhereResponder(_) => whereabouts::respond().into(),
        Command::DoctorPeer(arguments) => doctor::take_part_in_trial(&arguments).into(),
        Command::Injector(arguments) => injector::disturb(&arguments)?.into(),
    })
}
