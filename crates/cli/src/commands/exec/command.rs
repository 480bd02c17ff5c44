//! Carries out `evenkeel exec`, and `evenkeel host-node`.

use super::arguments::{ExecArguments, ExecStdin, HostNodeArguments, LabelChoice};
use crate::commands::launch_arguments::EngineOptions;
use crate::errors::{CommandError, LaunchError};
use crate::jobs::machines::Ways;
use crate::launch::hosts;
use crate::output::outcome::Outcome;
use crate::program::search_path;
use evenkeel_launch::HostLabel;
use evenkeel_node::{HostJob, InputChoice, Place};
use evenkeel_options::{self as options, OptionSpec};
use std::path::PathBuf;

/// Runs the command. Returns its exit code.
pub fn exec(arguments: &ExecArguments) -> Result<Outcome, CommandError> {
    let heeded = [
        &options::HOSTS,
        &options::REMOTE_SHELL,
        &options::NODE_PATIENCE_MS,
        &options::NETWORK,
        &options::PORTS,
    ];
    let is_heeded = |env: &str| heeded.iter().any(|option| option.env == env);
    EngineOptions::default().check_environment(is_heeded, |name| std::env::var_os(name))?;
    let value = |given: &Option<String>, option: &OptionSpec| given.clone().unwrap_or_else(|| option.get());
    let places = hosts::places_of_commands(&value(&arguments.hosts, &options::HOSTS), arguments.per_host)?;
    let ways = Ways { hosts: Vec::new(), shell: arguments.remote_shell.clone() };
    let settings = hosts::settings(
        ways.shell(None)?,
        arguments.fanout,
        &value(&arguments.node_patience, &options::NODE_PATIENCE_MS),
        &value(&arguments.network, &options::NETWORK),
        &value(&arguments.ports, &options::PORTS),
    );
    let mut program = PathBuf::from(&arguments.command[0]);
    if arguments.sending.send_program {
        program = search_path::find(&arguments.command[0], &search_path::directories())?;
    }
    let job = HostJob {
        sent: arguments.sending.files(&program, &[])?,
        program: program.into(),
        arguments: arguments.command[1..].to_vec(),
        environment: hosts::environment(Vec::new()),
        directory: match &arguments.chdir {
            Some(directory) => directory.clone().into(),
            None => std::env::current_dir().map_err(|why| LaunchError::NoDirectory { why })?.into(),
        },
        files: Vec::new(),
        is_mpi: false,
        label: label(arguments.label, &places),
        input: match arguments.stdin {
            ExecStdin::First => InputChoice::First,
            ExecStdin::All => InputChoice::All,
            ExecStdin::None => InputChoice::None,
        },
        grace_ms: arguments.grace,
        keep_going: arguments.keep_going,
    };
    Ok(hosts::run(&places, job, settings)?)
}

fn label(choice: LabelChoice, places: &[Place]) -> HostLabel {
    let are_several = places.len() > 1;
    match choice {
        LabelChoice::No => HostLabel::None,
        LabelChoice::Auto if !are_several => HostLabel::None,
        LabelChoice::Auto | LabelChoice::Host => HostLabel::Host,
    }
}

/// Is the node of this host.
pub fn serve_host(arguments: &HostNodeArguments) -> Outcome {
    Outcome::of_program(evenkeel_node::serve(&arguments.build, &arguments.network, &arguments.ports))
}
