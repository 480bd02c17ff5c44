//! The shim, the launcher or the environment of the ranks is not what a run needs.

use super::program::{list, names};
use std::path::PathBuf;
use thiserror::Error;

/// Why a run, or the line that `evenkeel env` prints, cannot be prepared.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// There is no directory of shims.
    #[error(
        "cannot find evenkeel's shims (searched {}). Build them with `make build`, or name their directory: \
         EVENKEEL_LIB=DIRECTORY.",
        list(.searched)
    )]
    NoShims {
        /// The directories that were searched.
        searched: Vec<PathBuf>,
    },

    /// No shim fits the MPI.
    #[error(
        "cannot serve {}: evenkeel has no shim for {title} in {} (there: {}). Install that MPI's headers and \
         run `make build` again.",
        .library.display(), .directory.display(), names(.present)
    )]
    NoShim {
        /// The MPI library.
        library: PathBuf,
        /// What it is.
        title: &'static str,
        /// The directory of shims.
        directory: PathBuf,
        /// The names of the shims in it.
        present: Vec<String>,
    },

    /// The shim is of another version of evenkeel.
    #[error(
        "cannot use the shim {}: it belongs to evenkeel {theirs}, and this is evenkeel {ours}. Run `make \
         build` (or `make install`) again, so that both have one version.",
        .shim.display()
    )]
    ShimVersion {
        /// The shim.
        shim: PathBuf,
        /// Its version.
        theirs: String,
        /// This program's version.
        ours: String,
    },

    /// The launcher of an MPI is not installed.
    #[error(
        "cannot find the launcher of {} (searched for {} in {}). Install it, or name it with --launcher.",
        .library.display(), .names.join(", "), list(.searched)
    )]
    NoLauncher {
        /// The MPI library.
        library: PathBuf,
        /// Names that its launcher may have.
        names: Vec<String>,
        /// The directories that were searched.
        searched: Vec<PathBuf>,
    },

    /// A launcher of a system whose command line evenkeel does not know.
    #[error(
        "cannot start ranks by {}: it belongs to {system}, and evenkeel does not know how it passes \
         variables on. Start the program yourself, with the variables that `evenkeel env --format shell` \
         prints (LD_PRELOAD among them) set for the ranks.",
        .launcher.display()
    )]
    UnknownLauncher {
        /// The program.
        launcher: PathBuf,
        /// The system that it belongs to.
        system: &'static str,
    },

    /// `--launcher` names no program.
    #[error(
        "cannot use the launcher `{launcher}`: no such program was found (searched {}). Check the spelling \
         of --launcher.",
        list(.searched)
    )]
    LauncherMissing {
        /// What was given.
        launcher: String,
        /// The directories that were searched.
        searched: Vec<PathBuf>,
    },

    /// `--launcher-args` cannot be split into words.
    #[error("cannot read --launcher-args `{arguments}`: a quote is not closed. Close it.")]
    LauncherArguments {
        /// What was given.
        arguments: String,
    },

    /// The kernel allows fewer processes.
    #[error(
        "cannot start {ranks} ranks: only {most} processes are allowed here ({limit}). Ask for fewer ranks, \
         or raise that limit."
    )]
    TooManyRanks {
        /// Ranks that were asked for.
        ranks: u32,
        /// Processes that are allowed.
        most: u64,
        /// The file or command that says so.
        limit: String,
    },

    /// A process may have fewer files open.
    #[error(
        "cannot start {ranks} ranks: their launcher has {per_rank} files open for each, and a process may \
         have {most} (ulimit -Hn). Ask for fewer ranks, raise that limit, or start them on several hosts."
    )]
    TooManyRanksForFiles {
        /// Ranks that were asked for.
        ranks: u32,
        /// Open files for each.
        per_rank: u64,
        /// The most that a process may have.
        most: u64,
    },

    /// There is less memory.
    #[error(
        "cannot start {ranks} ranks: a rank takes {per_rank_mib} MiB of memory or more, and there are {mib} \
         MiB ({limit}). Ask for fewer ranks, or start them on several hosts."
    )]
    TooManyRanksForMemory {
        /// Ranks that were asked for.
        ranks: u32,
        /// What each takes at least.
        per_rank_mib: u64,
        /// What there is.
        mib: u64,
        /// The file that says so.
        limit: String,
    },

    /// A value would be split by the shell or the launcher.
    #[error(
        "cannot print this as launcher arguments: {variable}={value} contains a blank or a comma, at which \
         the shell or the launcher would split it. Use --format shell, or move evenkeel to a path without \
         them."
    )]
    NotOneWord {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
    },

    /// There is no library to serve the ranks with.
    #[error(
        "cannot start the ranks of {} without its launcher: they need PMIx, and no libpmix.so.2 is beside it \
         or among the system's libraries. Install one (on Debian: apt install libpmix2), or leave \
         --launcher out.",
        .library.display()
    )]
    OwnLauncherCannot {
        /// The MPI library.
        library: PathBuf,
    },

    /// Arguments for another launcher.
    #[error("cannot use --launcher-args `{argument}` with --launcher evenkeel. Leave one of them out.")]
    OwnLauncherArguments {
        /// The first of them.
        argument: String,
    },

    /// A line for evenkeel's own launcher, which takes none.
    #[error(
        "cannot make a line for --launcher evenkeel: `evenkeel env` is for other launchers. Start the \
         program by `evenkeel run --launcher evenkeel`, or leave --launcher out."
    )]
    EnvOfOwnLauncher,

    /// An option that no rank could heed.
    #[error(
        "cannot print {option} for another launcher: `evenkeel run` itself heeds it, and ends the job. Start \
         the program by `evenkeel run {option}`, or leave it out."
    )]
    EnvOfRun {
        /// The option.
        option: String,
    },

    /// A variable whose value is not understood.
    #[error("cannot use {variable}={value}: {why}. Correct or unset it.")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What is wrong.
        why: String,
    },

    /// An option of evenkeel's own launcher, and another launcher.
    #[error(
        "cannot use {option} here: it needs --launcher evenkeel. Add that, or use what the launcher itself \
         offers: --launcher-args."
    )]
    OnlyOwnLauncher {
        /// The option.
        option: &'static str,
    },

    /// An option that says something of hosts on which evenkeel starts the ranks itself.
    #[error("cannot use {option} here: it needs --launcher evenkeel and --hosts.")]
    OnlyOnHosts {
        /// The option.
        option: &'static str,
    },

    /// An option of evenkeel's own launcher, which does not start this job.
    #[error(
        "cannot use {option} for this program: between hosts, Open MPI's own launcher starts its ranks. \
         Leave the option out, or see what that launcher offers: --launcher-args."
    )]
    NotForOpenMpi {
        /// The option.
        option: &'static str,
    },

    /// A file cannot be sent to hosts.
    #[error("cannot send {} to the hosts: {why}.", .path.display())]
    Unsendable {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },

    /// Two files that are to be sent have one name.
    #[error(
        "cannot send both {} and {}: they have one name, and come into one folder. Rename one.",
        .one.display(), .other.display()
    )]
    SentTwice {
        /// The first.
        one: PathBuf,
        /// The second.
        other: PathBuf,
    },

    /// A host is named twice.
    #[error("cannot use --hosts: host {host} is named twice. Name it once, with a number: {host}:2.")]
    HostTwice {
        /// The host.
        host: String,
    },

    /// A name that is none.
    #[error(
        "cannot use --hosts: `{given}` names no host. Write names of hosts with commas between them: \
         --hosts a,b,c."
    )]
    NoHost {
        /// What was given.
        given: String,
    },

    /// A place in a list that another launcher has.
    #[error(
        "cannot use --hosts: `{given}` stands for a host of a list that only Open MPI's launcher knows. \
         Write the name of the host, or give this to that launcher: --launcher-args '--host {given}'."
    )]
    RelativeHost {
        /// What was given.
        given: String,
    },

    /// The number behind a host's name is none.
    #[error(
        "cannot use --hosts: what follows the colon in `{given}` is a number of processes, from 1 to {most}. \
         Write a:4 for four processes on host a. A port of ssh goes into its configuration, or into \
         --remote-shell \"ssh -p PORT\"."
    )]
    HostSlots {
        /// What was given.
        given: String,
        /// The largest number of processes on a host.
        most: u32,
    },

    /// More processes than a job may have.
    #[error(
        "cannot start {total} processes on these hosts: a job has {most} at most. Lower -n, or the numbers \
         behind the hosts' names: they are numbers of processes, and no ports."
    )]
    TooManyProcesses {
        /// Processes on all hosts.
        total: u64,
        /// The largest number of them.
        most: u32,
    },

    /// The hosts take fewer ranks.
    #[error(
        "cannot start {ranks} ranks on these hosts: --hosts gives them {slots} in all. Raise the numbers \
         behind the hosts' names, or leave them out."
    )]
    TooFewSlots {
        /// Ranks that were asked for.
        ranks: u32,
        /// Ranks that the hosts take.
        slots: u32,
    },

    /// An option that acts on one host.
    #[error(
        "cannot use {option} with --launcher evenkeel and --hosts: it acts on the ranks of one host. Leave \
         one of them out."
    )]
    OnlyOneHost {
        /// The option.
        option: &'static str,
    },

    /// This process has no working directory.
    #[error("cannot run this in the working directory: {why}. Go to another one, or name one: --chdir.")]
    NoDirectory {
        /// What the system says.
        why: std::io::Error,
    },

    /// A job on several hosts was not started.
    #[error("{0}")]
    Node(#[from] evenkeel_node::NodeError),

    /// evenkeel could not start the ranks itself.
    #[error("{0}")]
    Job(#[from] evenkeel_launch::JobError),

    /// The job cannot take turns with others.
    #[error("{0}")]
    Share(#[from] evenkeel_share::ShareError),

    /// Jobs take turns on one machine.
    #[error(
        "cannot use --share with {what}: jobs take turns on the one machine on which `evenkeel run` starts \
         all of their ranks. Leave one of them out."
    )]
    ShareElsewhere {
        /// What leads elsewhere.
        what: String,
    },

    /// The launcher could not be executed.
    #[error("cannot start {}: {why}. Check that it starts by itself.", .launcher.display())]
    Exec {
        /// The launcher.
        launcher: PathBuf,
        /// What the system says.
        why: String,
    },
}
