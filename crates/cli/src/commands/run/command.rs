//! Carries out `evenkeel run`.

use super::arguments::{DEFAULT_GRACE_MS, RunArguments, StdinChoice};
use super::checking::Checking;
use super::child;
use super::expected_report::ExpectedReport;
use super::named_hosts;
use super::rank_count::{self, MachineLimits};
use super::sharing::Sharing;
use super::stray_variables;
use super::supervision::Supervision;
use crate::commands::launch_arguments::EngineOptions;
use crate::errors::{CommandError, FileError, LaunchError};
use crate::inject::injections::Injections;
use crate::jobs::machines::Ways;
use crate::launch::hosts;
use crate::launch::launcher::{self, LaunchRequest};
use crate::launch::trace_folder::{self, RecordedStart};
use crate::launch::transports::Surroundings;
use crate::launch::{environment, preparation};
use crate::machine::cores;
use crate::output::file;
use crate::output::outcome::Outcome;
use crate::output::terminal;
use crate::program::loader::Search;
use crate::program::mpi::Maker;
use crate::program::search_path;
use evenkeel_launch::{HostLabel, Job, OutputStyle, StandardInput};
use evenkeel_node::{HostJob, InputChoice, NodeSettings, Place};
use evenkeel_options::{self as options, OptionSpec};
use std::ffi::{OsStr, OsString};
use std::iter;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tracing::info;

/// Runs the program, either as the parent of its ranks, or by becoming the launcher, so that its exit code is
/// ours and signals reach it directly. A child does so if the run is watched, or to leave a report. Returns
/// the line that a dry run prints, or the exit code.
pub fn run(mut arguments: RunArguments) -> Result<Outcome, CommandError> {
    let is_checked = arguments.check && !arguments.dry_run;
    let trace = arguments.options.value(&options::TRACE);
    let checking = is_checked.then(|| Checking::begin(&trace)).transpose()?;
    if let Some(checking) = &checking {
        arguments.options.set(checking.options());
    }
    let arguments = &arguments;
    arguments.options.check_environment(|_| true, |name| std::env::var_os(name))?;
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    for warning in stray_variables::warnings(names) {
        eprintln!("evenkeel: {warning}");
    }
    check_trace(&arguments.options)?;
    let injections = Injections::new(&arguments.injections)?;
    injections.restrict_cores()?;
    let extra = launcher_arguments(&arguments.launcher_args)?;
    let of_launcher = extra.clone();
    let supervision = Supervision::of(&arguments.options, move || named_hosts::of_launcher(&of_launcher))?;
    let sharing = Sharing::of(&arguments.options, arguments.ranks)?;
    let report = ExpectedReport::of(&arguments.options, &extra);
    let start = prepare(arguments, extra, &injections, supervision.as_ref(), sharing.as_ref())?;
    if arguments.dry_run {
        return Ok((start.for_shell() + "\n").into());
    }
    begin_trace(arguments)?;
    let membership = sharing.as_ref().map(Sharing::join).transpose()?;
    info!("the ranks are started: {}", start.for_shell());
    let becomes_launcher = matches!(start, Start::Launcher { .. });
    let launch = || launch(start, arguments.ranks, &injections);
    let outcome = match (supervision, checking) {
        (None, None) if report.is_some() && becomes_launcher => child::run_unwatched(launch),
        (None, None) => launch(),
        (Some(supervision), None) => supervision.run(launch),
        (None, Some(checking)) => checking.run(launch),
        (Some(supervision), Some(checking)) => {
            supervision.run(launch).map(|outcome| checking.finish(outcome))
        }
    };
    if let Some((sharing, membership)) = sharing.zip(membership) {
        sharing.finish(membership);
    }
    let code = outcome.as_ref().map_or(0, |outcome| outcome.code);
    if let Some(sentence) = report.filter(|_| outcome.is_ok()).and_then(|report| report.sentence(code)) {
        eprintln!("evenkeel: {sentence}");
    }
    if let Some(number) = outcome.as_ref().ok().and_then(|outcome| outcome.signal) {
        evenkeel_launch::die_of(number);
    }
    outcome
}

/// Starts the ranks. Returns only if this process is their parent, or if they cannot be started.
fn launch(start: Start, ranks: u32, injections: &Injections) -> Result<Outcome, CommandError> {
    injections.start(ranks)?;
    let columns = terminal::width_of_errors().map(|columns| columns.to_string());
    let columns = columns.map(|columns| (OsString::from(options::TERMINAL_COLUMNS), columns.into()));
    match start {
        Start::Own(mut job) => {
            job.variables.extend(columns);
            rank_count::allow_open_files(ranks);
            let code = evenkeel_launch::run(&job).map_err(LaunchError::from)?;
            Ok(Outcome::of_program(code))
        }
        Start::Hosts { places, mut job, settings } => {
            job.environment.extend(columns);
            Ok(hosts::run(&places, *job, settings)?)
        }
        Start::Launcher { words, variables } => {
            rank_count::allow_open_files(ranks);
            let (launcher, words) = words.split_first().expect("the launcher is the first word");
            let error = Command::new(launcher).args(words).envs(variables).envs(columns).exec();
            Err(LaunchError::Exec { launcher: PathBuf::from(launcher), why: error.to_string() }.into())
        }
    }
}

/// The folder of the trace that is to be written, if one is. A repetition writes at most its times. A program
/// that a rank starts has that rank's variables, and its trace is not to be written over.
fn written_trace(given: &EngineOptions) -> Option<PathBuf> {
    let value = |option: &OptionSpec| Some(given.value(option)).filter(|value| !value.is_empty());
    let is_given = given.given.iter().any(|(env, _)| env == options::TRACE.env);
    // Slurm also gives batch scripts a number of this kind.
    let mut of_ranks = options::LAUNCHERS_RANK.into_iter().filter(|name| !name.starts_with("SLURM"));
    if !is_given && of_ranks.any(|name| std::env::var_os(name).is_some()) {
        return None;
    }
    let is_written = value(&options::REPLAY).is_none() || given.value(&options::TRACE_LEVEL) != "order";
    value(&options::TRACE).filter(|_| is_written).map(PathBuf::from)
}

/// Refuses to write into the trace that is repeated, before anything is touched.
fn check_trace(given: &EngineOptions) -> Result<(), CommandError> {
    let repeated = given.value(&options::REPLAY);
    match written_trace(given).filter(|_| !repeated.is_empty()) {
        Some(written) => Ok(trace_folder::check_apart(Path::new(&repeated), &written)?),
        None => Ok(()),
    }
}

/// Refuses to write over the program and other files that the run reads, or one file twice.
fn check_files(given: &EngineOptions, program: &Path) -> Result<(), FileError> {
    let value = |option: &OptionSpec| Some(given.value(option)).filter(|value| !value.is_empty());
    let [report, counts] = [&options::REPORT, &options::AGENT_COUNTS].map(|o| value(o).map(PathBuf::from));
    let trace = written_trace(given).map(|folder| trace_folder::start_file(&folder));
    let outputs = [
        ("--report", report.as_deref()),
        ("--agent-counts", counts.as_deref()),
        ("--trace", trace.as_deref()),
    ];
    let table = value(&options::TABLE).map(PathBuf::from);
    let repeated = value(&options::REPLAY).map(PathBuf::from);
    let repeated = repeated.iter().flat_map(|folder| trace_folder::files(folder)).collect::<Vec<_>>();
    let others = table.iter().chain(&repeated).map(PathBuf::as_path);
    file::check_apart(&outputs, &iter::once(program).chain(others).collect::<Vec<_>>())
}

/// Makes the folder of a trace that is to be recorded.
fn begin_trace(arguments: &RunArguments) -> Result<(), CommandError> {
    if let Some(folder) = written_trace(&arguments.options) {
        let start = RecordedStart::of_this_process(&arguments.program)?;
        trace_folder::begin(&folder, &start)?;
    }
    Ok(())
}

/// Who starts the ranks.
enum Start {
    /// This process.
    Own(Job),
    /// Node processes on several hosts.
    Hosts { places: Vec<Place>, job: Box<HostJob>, settings: NodeSettings },
    /// The launcher with its arguments, and variables for the launcher itself.
    Launcher { words: Vec<OsString>, variables: Vec<(String, String)> },
}

impl Start {
    /// The line as a user would type it.
    fn for_shell(&self) -> String {
        fn quoted<'a>(words: impl Iterator<Item = &'a OsString>) -> Vec<String> {
            words.map(environment::quote).collect()
        }
        let assigned = |name: &str, value: &OsStr| {
            let mut word = OsString::from(format!("{name}="));
            word.push(value);
            environment::quote(&word)
        };
        match self {
            Start::Launcher { words, variables } => {
                let variables = variables.iter().map(|(name, value)| assigned(name, value.as_ref()));
                variables.chain(quoted(words.iter())).collect::<Vec<_>>().join(" ")
            }
            Start::Own(job) => {
                let variables = job.variables.iter();
                let variables = variables.map(|(name, value)| assigned(&name.to_string_lossy(), value));
                let program = environment::quote(job.program.as_os_str());
                let words = iter::once(program).chain(quoted(job.arguments.iter()));
                let line = variables.chain(words).collect::<Vec<_>>().join(" ");
                format!("{line}  # {} times, by evenkeel itself", job.ranks)
            }
            Start::Hosts { places, job, .. } => {
                let line = quoted(iter::once(&job.program).chain(&job.arguments)).join(" ");
                let places = places.iter().map(|place| format!("{} on {}", place.ranks, place.host));
                let places = places.collect::<Vec<_>>().join(", ");
                format!("{line}  # ranks by evenkeel itself: {places}")
            }
        }
    }
}

fn prepare(
    arguments: &RunArguments,
    extra: Vec<String>,
    injections: &Injections,
    supervision: Option<&Supervision>,
    sharing: Option<&Sharing>,
) -> Result<Start, CommandError> {
    MachineLimits::own()
        .check(arguments.ranks)
        .or_else(|error| if may_be_for_other_hosts(arguments, &extra) { Ok(()) } else { Err(error) })?;
    let on_path = search_path::directories();
    let file = search_path::find(&arguments.program[0], &on_path)?;
    check_files(&arguments.options, &file)?;
    let given = arguments.options.with_absolute_paths()?;
    let search = Search::of_this_machine();
    let prepared = preparation::prepare(Some(&file), arguments.mpi.mpi, &given, &search, &on_path)?;
    if let Some(warning) = &prepared.warning {
        eprintln!("evenkeel: {warning}");
    }
    let of_run = supervision.map(Supervision::variable).into_iter();
    let of_run = of_run.chain(sharing.map(Sharing::variable)).collect();
    let variables = [prepared.variables, injections.variables(), of_run].concat();
    let is_own = arguments.mpi.launcher.as_deref() == Some(launcher::OWN);
    let on_hosts = named_by_user(arguments, is_own)?;
    if let Some(list) = on_hosts.as_ref().filter(|_| prepared.library.maker == Maker::Mpich) {
        launcher::check_own(&prepared.library, &search, &extra)?;
        refuse_on_hosts(arguments, sharing)?;
        return start_on_hosts(arguments, list, &file, variables);
    }
    if is_own && on_hosts.is_none() {
        let pmix = launcher::check_own(&prepared.library, &search, &extra)?;
        sharing.map_or(Ok(()), |sharing| sharing.check_launcher(None, &extra))?;
        let style = launcher::LauncherStyle::of(prepared.library.maker);
        let presets = Surroundings::of_this_machine(&prepared.library.path).presets(style, &extra);
        return Ok(Start::Own(job(arguments, file, pmix, [variables, presets].concat())));
    }
    arguments.start.refuse(on_hosts.is_some())?;
    let (mut extra, mut of_launcher) = (extra, Vec::new());
    if let Some(list) = &on_hosts {
        eprintln!(
            "evenkeel: between hosts, ranks of Open MPI need its own launcher, which starts this job: \
             --launcher evenkeel serves them on one host."
        );
        (extra, of_launcher) = for_open_mpi(arguments, list, extra)?;
    }
    let named = arguments.mpi.launcher.as_deref().filter(|_| on_hosts.is_none());
    let launcher = match named {
        Some(name) => launcher::named(name, prepared.library.maker, &on_path)?,
        None => launcher::of_library(&prepared.library, &on_path)?,
    };
    sharing.map_or(Ok(()), |sharing| sharing.check_launcher(Some(launcher.style), &extra))?;
    let places = variables.iter().all(|(name, value)| name != options::PLACE.env || value != "none");
    let request = LaunchRequest {
        ranks: arguments.ranks,
        variables,
        extra,
        // Launchers search a bare name in the current directory first. The file that was examined is the one
        // to run.
        program: file.into_os_string(),
        arguments: arguments.program[1..].to_vec(),
        evenkeel_places: places || injections.restricts_cores(),
    };
    let mut variables = launcher::own_variables(
        launcher.style,
        rustix::process::geteuid().is_root(),
        prepared.one_session.as_deref(),
        &environment::preloaded(),
    );
    variables.extend(of_launcher);
    let surroundings = Surroundings::of_this_machine(&prepared.library.path);
    variables.extend(surroundings.presets(launcher.style, &request.extra));
    let physical_cores = cores::physical(&cores::usable());
    Ok(Start::Launcher { words: launcher::command(&launcher, &request, physical_cores)?, variables })
}

/// Whether ranks may run on other hosts, where limits are others.
fn may_be_for_other_hosts(arguments: &RunArguments, extra: &[String]) -> bool {
    let launcher = arguments.mpi.launcher.as_deref().map(Path::new);
    let is_srun = launcher.is_some_and(|launcher| search_path::file_name(launcher).starts_with("srun"));
    let is_named = !arguments.options.value(&options::HOSTS).is_empty();
    is_srun || is_named || !named_hosts::of_launcher(extra).is_empty()
}

/// The hosts on which evenkeel is to start ranks itself, as the user names them.
fn named_by_user(arguments: &RunArguments, is_own: bool) -> Result<Option<String>, LaunchError> {
    let list = arguments.options.value(&options::HOSTS);
    let is_named = is_own && !list.is_empty();
    let start = &arguments.start;
    let of_hosts = [
        ("--fanout", start.fanout.is_some()),
        ("--chdir", start.chdir.is_some()),
        ("--send and --send-program", start.sending.is_given()),
    ];
    match of_hosts.iter().find(|(_, is_given)| *is_given && !is_named) {
        Some((option, _)) => Err(LaunchError::OnlyOnHosts { option }),
        None => Ok(is_named.then_some(list)),
    }
}

/// Refuses what acts on the ranks of one host.
fn refuse_on_hosts(arguments: &RunArguments, sharing: Option<&Sharing>) -> Result<(), LaunchError> {
    match () {
        () if sharing.is_some() => Err(LaunchError::ShareElsewhere { what: "--hosts".into() }),
        () if !arguments.injections.is_empty() => Err(LaunchError::OnlyOneHost { option: "--inject" }),
        () => Ok(()),
    }
}

/// The start of ranks on several hosts.
fn start_on_hosts(
    arguments: &RunArguments,
    list: &str,
    program: &Path,
    variables: Vec<(String, String)>,
) -> Result<Start, CommandError> {
    let (given, start) = (&arguments.options, &arguments.start);
    let shell = Some(given.value(&options::REMOTE_SHELL)).filter(|shell| !shell.is_empty());
    let preloaded = variables.iter().filter(|(name, _)| name == "LD_PRELOAD");
    let preloaded = preloaded.flat_map(|(_, value)| value.split(':')).filter(|file| file.contains('/'));
    let files: Vec<OsString> = preloaded.map(OsString::from).collect();
    let mut beside: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    // A rank starts the agent of its host from the folder of the shim.
    let agent = beside.first().and_then(|shim| shim.parent()).map(|folder| folder.join("evenkeel-agent"));
    beside.extend(agent.filter(|agent| agent.is_file()));
    let settings = hosts::settings(
        Ways { hosts: Vec::new(), shell }.shell(None)?,
        start.fanout.unwrap_or(hosts::DEFAULT_FANOUT),
        &given.value(&options::NODE_PATIENCE_MS),
        &given.value(&options::NETWORK),
        &given.value(&options::PORTS),
    );
    let job = HostJob {
        program: program.into(),
        arguments: arguments.program[1..].to_vec(),
        environment: hosts::environment(variables),
        directory: match &start.chdir {
            Some(directory) => directory.clone().into(),
            None => std::env::current_dir().map_err(|why| LaunchError::NoDirectory { why })?.into(),
        },
        files,
        sent: start.sending.files(program, &beside)?,
        is_mpi: true,
        label: if start.label { HostLabel::Rank } else { HostLabel::None },
        input: match start.stdin {
            Some(StdinChoice::None) => InputChoice::None,
            _ => InputChoice::First,
        },
        grace_ms: start.grace.unwrap_or(DEFAULT_GRACE_MS),
        keep_going: start.keep_going,
    };
    let places = hosts::places_of_ranks(list, arguments.ranks)?;
    Ok(Start::Hosts { places, job: Box::new(job), settings })
}

/// Arguments of Open MPI's launcher that start ranks on these hosts, and variables for the launcher itself.
#[allow(clippy::type_complexity, reason = "two lists that have nothing in common")]
fn for_open_mpi(
    arguments: &RunArguments,
    list: &str,
    extra: Vec<String>,
) -> Result<(Vec<String>, Vec<(String, String)>), LaunchError> {
    let places = hosts::places_of_ranks(list, arguments.ranks)?;
    let list: Vec<String> = places.iter().map(|place| format!("{}:{}", place.host, place.ranks)).collect();
    let extra = ["--host".to_string(), list.join(",")].into_iter().chain(extra).collect();
    let shell = arguments.options.value(&options::REMOTE_SHELL);
    let names = ["OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent"];
    let named = names.iter().filter(|_| !shell.is_empty());
    Ok((extra, named.map(|name| (name.to_string(), shell.clone())).collect()))
}

/// The job that evenkeel starts itself.
fn job(
    arguments: &RunArguments,
    program: PathBuf,
    pmix: Option<PathBuf>,
    variables: Vec<(String, String)>,
) -> Job {
    let start = &arguments.start;
    Job {
        ranks: arguments.ranks,
        program,
        arguments: arguments.program[1..].to_vec(),
        variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        pmix,
        output: if start.label { OutputStyle::Labelled } else { OutputStyle::Lines },
        input: match start.stdin {
            Some(StdinChoice::None) => StandardInput::None,
            _ => StandardInput::First,
        },
        grace: Duration::from_millis(start.grace.unwrap_or(DEFAULT_GRACE_MS)),
        keep_going: start.keep_going,
    }
}

/// The words of all `--launcher-args`.
fn launcher_arguments(given: &[String]) -> Result<Vec<String>, LaunchError> {
    let mut words = Vec::new();
    for arguments in given {
        words.extend(
            shell_words::split(arguments)
                .map_err(|_| LaunchError::LauncherArguments { arguments: arguments.clone() })?,
        );
    }
    Ok(words)
}
