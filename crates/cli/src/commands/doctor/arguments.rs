//! The command line of `evenkeel doctor`, and the hidden one of the processes that it starts for its trials.

use clap::Subcommand;
use std::ffi::OsString;

/// Say what evenkeel finds on this machine and what it can do for a program
///
/// Lists MPI libraries and shims, cores and quotas, and tries each kernel feature that evenkeel uses; for a
/// feature that is missing it says what evenkeel does without it. The exit code is 0 if evenkeel can be used
/// here (for the program, if one is named), and 1 if not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel doctor                             this machine
  evenkeel doctor ./app                       this machine, and which calls of a program are covered
  evenkeel doctor python3                     the MPI that this Python's mpi4py loads")]
pub struct DoctorArguments {
    /// A program to examine: an executable, a script, or python3
    pub program: Option<OsString>,
}

/// Another process of a trial.
#[derive(Debug, clap::Args)]
pub struct TrialArguments {
    /// What it does.
    #[command(subcommand)]
    pub role: TrialRole,
}

/// What a process does for a trial.
#[derive(Debug, Subcommand)]
pub enum TrialRole {
    /// Offers a memory file and some bytes until its standard input ends.
    Offer,
    /// Tries to open and read what another process offers.
    Reach {
        /// The other process.
        pid: i32,
        /// Its descriptor of the memory file.
        fd: i32,
        /// The address of the bytes in its memory.
        address: usize,
    },
    /// Has one of its own system calls caught.
    Catch,
}
