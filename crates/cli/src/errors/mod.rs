//! Every sentence with which evenkeel refuses, in one place: what failed, where it looked, why, what to
//! do. Exit codes are those of env(1) and its kin: 125 evenkeel could not do it, 126 the program cannot
//! be executed, 127 the program was not found. Once the launcher runs, the exit code is the launcher's.

use crate::program::elf::machine_name;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Failure {
    #[error("cannot run `{program}`: there is no such program (looked in {}). Check the spelling; a program in this directory is called `./{program}`.", list(.looked))]
    NotFound { program: String, looked: Vec<PathBuf> },

    #[error("cannot run {}: there is no such file. Check the spelling.", .path.display())]
    NoSuchFile { path: PathBuf },

    #[error("cannot run {}: it is a directory. Give the program in it.", .path.display())]
    IsDirectory { path: PathBuf },

    #[error("cannot run {}: it is there, but this user may not execute it. Say `chmod +x {0}`, or put its interpreter in front of it, for instance `python3 {0}`.", .path.display())]
    NotExecutable { path: PathBuf },

    #[error("cannot run {}: {why}. evenkeel runs programs for this machine's processor ({}); use one that was built for it.", .path.display(), machine_name(crate::program::elf::own_machine()))]
    OtherMachine { path: PathBuf, why: String },

    #[error("cannot run {}: it is neither a program nor a script that begins with `#!`. Put its interpreter in front of it, for instance `python3 {0}`.", .path.display())]
    NotAProgram { path: PathBuf },

    #[error("cannot read {}: {why}. Make the file readable, or name the program's MPI with --mpi.", .path.display())]
    Unreadable { path: PathBuf, why: String },

    #[error("cannot run {}: its first line asks for `{interpreter}`, which is not there (looked in {}). Install it, or put another interpreter in front of the script.", .script.display(), list(.looked))]
    NoInterpreter { script: PathBuf, interpreter: String, looked: Vec<PathBuf> },

    #[error("cannot run {}: its interpreter is a script whose interpreter is a script, and so on without an end. Put the interpreter in front of the script.", .path.display())]
    ScriptLoop { path: PathBuf },

    #[error("cannot help {}: it is linked statically{}, so nothing can be preloaded into it. Link it with the shared MPI library, or start it without evenkeel.", .path.display(), if *.with_mpi { " and has its MPI inside" } else { "" })]
    Static { path: PathBuf, with_mpi: bool },

    #[error("cannot tell the MPI of {}: it is not linked with an MPI library (its libraries: {}). If it starts an MPI program itself or loads MPI later, say which MPI: --mpi openmpi or --mpi mpich; if it is no MPI program, start it without evenkeel.", .path.display(), names(.libraries))]
    NoMpi { path: PathBuf, libraries: Vec<String> },

    #[error("cannot run {}: {needed_by} needs {soname}, which is not there (looked in {}). Install that MPI, or say where it is with LD_LIBRARY_PATH.", .path.display(), list(.looked))]
    MpiMissing { path: PathBuf, needed_by: String, soname: String, looked: Vec<PathBuf> },

    #[error("cannot help {}: it uses {}, an MPI ({soname}) for which evenkeel has no shim; it knows Open MPI 4 and 5, MPICH 3 to 5 and its relatives, and the MPI 5 standard ABI. Build the program with one of these, or start it without evenkeel.", .path.display(), .library.display())]
    UnknownMpi { path: PathBuf, library: PathBuf, soname: String },

    #[error(
        "cannot tell the MPI of this Python program: {interpreter} has no usable mpi4py ({said}). Install mpi4py for this interpreter, or say which MPI the program uses: --mpi openmpi or --mpi mpich."
    )]
    NoMpi4py { interpreter: String, said: String },

    #[error("cannot do that: --mpi {wanted} was asked for, but {} uses {} ({}). Leave --mpi out, or rebuild the program with that MPI.", .path.display(), .library.display(), .title)]
    OtherMpi { path: PathBuf, wanted: &'static str, library: PathBuf, title: &'static str },

    #[error(
        "cannot find an MPI library for --mpi {wanted} (looked in LD_LIBRARY_PATH, beside the launchers on PATH, in the linker's cache and its default directories). Install it, or add its directory to LD_LIBRARY_PATH."
    )]
    NotInstalled { wanted: &'static str },

    #[error(
        "cannot tell which MPI is meant: --mpi auto needs the program. Name it at the end, `evenkeel env ./program`, or say --mpi openmpi or --mpi mpich."
    )]
    NothingToLookAt,

    #[error("cannot find evenkeel's shims (looked in {}). Build them with `make build`, or say where they are: EVENKEEL_LIB=DIRECTORY.", list(.looked))]
    NoShims { looked: Vec<PathBuf> },

    #[error("cannot serve {}: evenkeel has no shim for {title} in {} (there: {}). Install that MPI's headers and run `make build` again.", .library.display(), .directory.display(), names(.present))]
    NoShim { library: PathBuf, title: &'static str, directory: PathBuf, present: Vec<String> },

    #[error("cannot use the shim {}: it is of evenkeel {theirs}, and this is evenkeel {ours}. Run `make build` (or `make install`) again, so that both are of one version.", .shim.display())]
    ShimVersion { shim: PathBuf, theirs: String, ours: String },

    #[error("cannot find the launcher of {} (looked for {} in {}). Install it, or name it with --launcher.", .library.display(), .names.join(", "), list(.looked))]
    NoLauncher { library: PathBuf, names: Vec<String>, looked: Vec<PathBuf> },

    #[error("cannot use the launcher `{launcher}`: there is no such program (looked in {}). Check the spelling of --launcher.", list(.looked))]
    LauncherMissing { launcher: String, looked: Vec<PathBuf> },

    #[error("cannot read --launcher-args `{arguments}`: a quote is not closed. Close it.")]
    LauncherArguments { arguments: String },

    #[error(
        "cannot start {ranks} ranks: only {most} processes are allowed here ({limit}). Ask for fewer, or raise that limit."
    )]
    TooManyRanks { ranks: u32, most: u64, limit: String },

    #[error("cannot write the report {}: {why}. Give --report a file in a directory that exists and is writable.", .path.display())]
    ReportPlace { path: PathBuf, why: String },

    #[error(
        "cannot print this as launcher arguments: {variable}={value} has a blank or a comma in it, and the shell or the launcher would take it apart. Use --format shell, or move evenkeel to a path without them."
    )]
    NotOneWord { variable: String, value: String },

    #[error("cannot start {}: {why}. Check that it can be executed by itself.", .launcher.display())]
    Exec { launcher: PathBuf, why: String },

    #[error("cannot read the record {}: {why}. Give a file that `evenkeel run --report FILE` has written.", .path.display())]
    RecordUnreadable { path: PathBuf, why: String },

    #[error("cannot read the record {}: its layout is number {theirs}, and this evenkeel knows up to {ours}. Use an evenkeel as new as the one that wrote it.", .path.display())]
    RecordNewer { path: PathBuf, theirs: u32, ours: u32 },

    #[error("cannot inject {kind} twice into one run. Give --inject {kind} once.")]
    InjectedTwice { kind: &'static str },

    #[error("cannot inject {what}: {why}. Leave that --inject out, or inject something else.")]
    Inject { what: String, why: String },

    #[error(
        "cannot inject a CPU quota: {why}. Making control groups takes root, or a group that is delegated to you; under systemd, `systemd-run --user --scope -p CPUQuota=50% evenkeel run ...` without --inject quota does the same."
    )]
    InjectQuota { why: String },

    #[error(
        "cannot measure core {core}: this process may use only {usable}. Leave --cores out, or name some of these."
    )]
    NotOurCore { core: usize, usable: String },

    #[error("cannot simulate that: {why}. `evenkeel simulate --help` has examples.")]
    Simulate { why: String },

    #[error("cannot route: {why}. `evenkeel route --help` and the --help of its commands have examples.")]
    Route { why: String },

    #[error("cannot simulate that network: {why}. `evenkeel route simulate --help` has examples.")]
    RouteSimulate { why: String },

    #[error("cannot plan that: {why}. `evenkeel route plan --help` has examples.")]
    RoutePlan { why: String },

    #[error(
        "cannot use `{given}` as a machine: {why}. Give one of {known}, a file of parameters, or the parameters themselves: L=1.5us,o=300ns,g=200ns,G=80ps."
    )]
    Machine { given: String, why: String, known: String },

    #[error("cannot measure: {why}. Try again; if it happens again, try with fewer --ranks.")]
    Measuring { why: String },

    #[error(
        "cannot fit LoP to {ranks} ranks on {cores} cores: a round trip has five parameters, so it takes six numbers of peers that leave each rank a core, or six that do not. Ask for more --ranks, or for --model loggp."
    )]
    FewRanks { ranks: usize, cores: usize },

    #[error(
        "cannot measure a network among --hosts {given}: {why}. Name two different hosts or more, or leave --hosts out to measure this machine's shared memory."
    )]
    Hosts { given: String, why: String },

    #[error(
        "cannot fit LoP to {hosts} hosts: a round trip has five parameters, so it takes six numbers of peers, which are {needed} hosts. Name more --hosts, or ask for --model loggp."
    )]
    FewHosts { hosts: usize, needed: usize },

    #[error(
        "cannot read --remote-shell `{given}`: there is no program in it, or a quote is not closed. Write it as `ssh -p 2222`."
    )]
    RemoteShell { given: String },

    #[error(
        "cannot start a measuring process on host {host}: {why}. It was started by `{line}`; see that this works by itself (without input it ends at once), that evenkeel lies at the same path there, and name another way to hosts with --remote-shell if need be."
    )]
    HostStart { host: String, line: String, why: String },

    #[error(
        "cannot go on measuring without host {host}: {why}. Nothing has been written. Look at that host and its network, then measure again, or leave it out of --hosts."
    )]
    HostLost { host: String, why: String },

    #[error(
        "cannot tell where to write the table: neither XDG_CONFIG_HOME nor HOME is set. Name a file with --table, or write none with --dry-run."
    )]
    NoTablePlace,

    #[error("cannot add to {}: {why}, and it is not to be lost. Name another file with --table, or move this one away.", .path.display())]
    NotATable { path: PathBuf, why: String },

    #[error("cannot find parameters `{name}`: no built-in set has that name (there are {}), and there is no such file. Check the spelling, or write a file with `evenkeel model measure --json FILE`.", names(.known))]
    NoModel { name: String, known: Vec<String> },

    #[error("cannot read the parameters {}: {why}. Give a file that `evenkeel model measure --json FILE` has written, or a name of `evenkeel model list`.", .path.display())]
    ModelUnreadable { path: PathBuf, why: String },

    #[error("cannot put {what} together: {why}. Leave --node out, or give a network and a node.")]
    ModelPair { what: String, why: String },

    #[error("cannot find the algorithm `{name}`{meant}. `evenkeel schedule list` lists all.")]
    NoAlgorithm { name: String, meant: String },

    #[error("cannot read --param `{given}`: there is no value in it. Write NAME=VALUE.")]
    NoValue { given: String },

    #[error("cannot show the steps of rank {rank}: there are {ranks} ranks, and the last is {}. Name one of them.", ranks - 1)]
    NoSuchRank { rank: u32, ranks: u32 },

    #[error(transparent)]
    Schedule(#[from] evenkeel_schedule::ScheduleError),

    #[error(
        "cannot count {algorithm} with {ranks} ranks: it would take more than {gib} GiB to keep account of who knows what of whom. Ask for fewer ranks or elements, or for another operation; `evenkeel simulate` goes further."
    )]
    TooLargeToCheck { algorithm: &'static str, ranks: u32, gib: u64 },

    #[error(
        "{what} is wrong: {defect}. Look at the algorithm's file in crates/collectives/schedule/src/algorithms."
    )]
    ScheduleWrong { what: String, defect: Box<evenkeel_schedule::check::CheckError> },

    #[error("cannot write {}: {why}. Give a file in a directory that exists and is writable.", .path.display())]
    Unwritable { path: PathBuf, why: String },
}

impl Failure {
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::NotFound { .. } | Failure::NoSuchFile { .. } | Failure::NoInterpreter { .. } => 127,
            Failure::IsDirectory { .. }
            | Failure::NotExecutable { .. }
            | Failure::OtherMachine { .. }
            | Failure::NotAProgram { .. }
            | Failure::ScriptLoop { .. } => 126,
            _ => 125,
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().map(|p: &PathBuf| Path::display(p).to_string()).collect();
    if shown.is_empty() { "no directory at all".into() } else { shown.join(", ") }
}

fn names(list: &[String]) -> String {
    if list.is_empty() { "none".into() } else { list.join(", ") }
}
