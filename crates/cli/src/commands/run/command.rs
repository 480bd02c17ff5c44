//! `evenkeel run` and `evenkeel env`: from a program's name to a launcher's command line.

use crate::commands::{Env, Format, Run};
use crate::errors::Failure;
use crate::inject::injections::Injections;
use crate::launch::environment;
use crate::launch::launcher::{self, Job, Launcher};
use crate::launch::shim;
use crate::machine::limits as quota;
use crate::program::examination::{self as program, Kind, Program};
use crate::program::loader::Search;
use crate::program::mpi::{self, Library, Wanted};
use evenkeel_barrier_table::location::NONE;
use evenkeel_options as options;
use std::convert::Infallible;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything that is known before the launcher starts.
struct Plan {
    library: Library,
    variables: Vec<(String, String)>,
    /// See [`Shims::one_session`](shim::Shims::one_session).
    one_session: Option<PathBuf>,
    /// A sentence for the user: the program will run, but without evenkeel's help.
    warning: Option<String>,
}

/// Becomes the launcher: its exit code is ours, and signals reach it because there is no one in between.
pub fn run(run: &Run) -> Result<Infallible, Failure> {
    let injections = Injections::of(&run.inject)?;
    injections.restrict()?;
    let (line, own) = command_line(run, &injections)?;
    if run.dry_run {
        let mut words: Vec<String> =
            own.iter().map(|(k, v)| environment::quote(&format!("{k}={v}"))).collect();
        words.extend(line.iter().map(|w| environment::quote(w)));
        println!("{}", words.join(" "));
        std::process::exit(0);
    }
    injections.start(run.ranks)?;
    let error = Command::new(&line[0]).args(&line[1..]).envs(own).exec();
    Err(Failure::Exec { launcher: PathBuf::from(&line[0]), why: error.to_string() })
}

/// The words, and variables for the launcher itself.
type CommandLine = (Vec<String>, Vec<(String, String)>);

fn command_line(run: &Run, injections: &Injections) -> Result<CommandLine, Failure> {
    check_ranks(run.ranks, quota::process_limit())?;
    let on_path = program::search_path();
    let file = program::find(&run.program[0], &on_path)?;
    let given = with_whole_paths(&run.options.given)?;
    let search = Search::of_this_machine();
    let plan = plan(Some(&file), run.choice.mpi, &given, &search, &on_path)?;
    if let Some(warning) = &plan.warning {
        eprintln!("evenkeel: {warning}");
    }
    let launcher = launcher_for(&plan.library, run.choice.launcher.as_deref(), &on_path)?;
    let mut extra = Vec::new();
    for arguments in &run.launcher_args {
        extra.extend(
            shell_words::split(arguments)
                .map_err(|_| Failure::LauncherArguments { arguments: arguments.clone() })?,
        );
    }
    let place =
        injections.restricts() || plan.variables.iter().all(|(k, v)| k != options::PLACE.env || v != "none");
    let job = Job {
        ranks: run.ranks,
        variables: [plan.variables, injections.variables()].concat(),
        extra,
        // Launchers look for a bare name in the current directory first; the file that was looked at is the
        // one to run.
        program: file.display().to_string(),
        arguments: run.program[1..].to_vec(),
        place,
    };
    let cores = quota::physical_cores(&quota::usable_cores());
    let preloaded = std::env::var("LD_PRELOAD").unwrap_or_default();
    let own = launcher::own_variables(
        launcher.style,
        rustix::process::geteuid().is_root(),
        plan.one_session.as_deref(),
        &preloaded,
    );
    Ok((launcher::command(&launcher, &job, cores)?, own))
}

/// Prints what `evenkeel env` prints.
pub fn env(env: &Env) -> Result<String, Failure> {
    let on_path = program::search_path();
    let file = env.program.as_deref().map(|p| program::find(p, &on_path)).transpose()?;
    let given = with_whole_paths(&env.options.given)?;
    let plan = plan(file.as_deref(), env.choice.mpi, &given, &Search::of_this_machine(), &on_path)?;
    if let Some(warning) = &plan.warning {
        eprintln!("evenkeel: {warning}");
    }
    match env.format {
        Format::Shell => Ok(environment::as_shell(&plan.variables)),
        Format::Args => {
            let style = match env.choice.launcher.as_deref() {
                Some(name) if mpi::file_name(Path::new(name)).starts_with("srun") => launcher::Style::Slurm,
                _ => launcher::Style::of(plan.library.maker),
            };
            Ok(environment::as_arguments(style, &plan.variables)? + "\n")
        }
    }
}

fn plan(
    file: Option<&Path>,
    wanted: Wanted,
    given: &[(String, String)],
    search: &Search,
    on_path: &[PathBuf],
) -> Result<Plan, Failure> {
    let program = file.map(|f| program::examine(f, search, on_path)).transpose()?;
    let (library, warning) = library(program.as_ref(), wanted, search, on_path)?;
    let shims = shim::installed()?;
    let shim = shims.for_library(&library)?;
    let preloaded = std::env::var("LD_PRELOAD").unwrap_or_default();
    let chosen = environment::chosen(given, |name| std::env::var(name).ok());
    let variables = environment::variables(&shim.path, &preloaded, &chosen);
    Ok(Plan { library, variables, one_session: shims.one_session(), warning })
}

/// The MPI library to serve, from what the program says and what the user says.
fn library(
    program: Option<&Program>,
    wanted: Wanted,
    search: &Search,
    on_path: &[PathBuf],
) -> Result<(Library, Option<String>), Failure> {
    let by_name = || {
        mpi::installed(wanted, search, on_path)
            .into_iter()
            .next()
            .ok_or(Failure::NotInstalled { wanted: wanted.name() })
    };
    match program {
        None if wanted == Wanted::Auto => Err(Failure::NothingToLookAt),
        None => Ok((by_name()?, None)),
        Some(program) => match &program.mpi {
            Ok(library) if wanted.accepts(library.abi) => Ok((library.clone(), None)),
            Ok(library) => Err(Failure::OtherMpi {
                path: program.path.clone(),
                wanted: wanted.name(),
                library: library.path.clone(),
                title: library.abi.title(),
            }),
            Err(why) if wanted == Wanted::Auto => Err(program.failure(why)),
            Err(_) => {
                let warning = (program.kind == Kind::Static).then(|| {
                    let path = program.path.display();
                    format!("{path} is linked statically: nothing can be preloaded into it, so it runs as it would without evenkeel. Link it with the shared MPI library to change that.")
                });
                Ok((by_name()?, warning))
            }
        },
    }
}

fn launcher_for(library: &Library, named: Option<&str>, on_path: &[PathBuf]) -> Result<Launcher, Failure> {
    match named {
        Some(name) => launcher::named(name, library.maker, on_path),
        None => launcher::of_library(library, on_path),
    }
}

/// More ranks than processes are allowed would fail half way, in the launcher's words.
pub fn check_ranks(ranks: u32, limit: Option<(u64, String)>) -> Result<(), Failure> {
    match limit {
        Some((most, limit)) if u64::from(ranks) > most => Err(Failure::TooManyRanks { ranks, most, limit }),
        _ => Ok(()),
    }
}

/// The options with the files that they name by whole paths: the ranks may have another working directory.
fn with_whole_paths(given: &[(String, String)]) -> Result<Vec<(String, String)>, Failure> {
    let whole = |(env, value): &(String, String)| {
        let value = match env {
            env if env == options::REPORT.env => check_report(Path::new(value))?.display().to_string(),
            // The engine says it if it cannot be read.
            env if env == options::TABLE.env && value != NONE => {
                std::path::absolute(value).map_or_else(|_| value.clone(), |p| p.display().to_string())
            }
            _ => value.clone(),
        };
        Ok((env.clone(), value))
    };
    given.iter().map(whole).collect()
}

/// A report that cannot be written is better known before the run than after it. The path becomes absolute.
fn check_report(file: &Path) -> Result<PathBuf, Failure> {
    let failed = |why: String| Failure::ReportPlace { path: file.to_path_buf(), why };
    let file = std::path::absolute(file).map_err(|e| failed(e.to_string()))?;
    if file.is_dir() {
        return Err(failed("it is a directory".into()));
    }
    let directory = file.parent().unwrap_or(Path::new("/"));
    if !directory.is_dir() {
        return Err(failed(format!("there is no directory {}", directory.display())));
    }
    let target = if file.exists() { file.as_path() } else { directory };
    rustix::fs::access(target, rustix::fs::Access::WRITE_OK).map_err(|e| failed(e.to_string()))?;
    Ok(file)
}
