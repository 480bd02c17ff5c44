//! A job cannot be looked at.

use evenkeel_segment::foreign::ForeignError;
use thiserror::Error;

/// Why a job cannot be looked at.
#[derive(Debug, Error)]
pub enum JobError {
    /// There is none.
    #[error(
        "no job of yours runs under evenkeel on this machine. Start one with `evenkeel run`; a job that runs \
         without it, or is still in MPI_Init, cannot be looked at."
    )]
    None,

    /// There are several, and none was named.
    #[error(
        "several jobs run under evenkeel here: {}. Say which, by its number behind the command, as {}.",
        list(jobs),
        jobs.first().map_or(0, |job| job.0)
    )]
    Several {
        /// Their numbers and programs.
        jobs: Vec<(u32, String)>,
    },

    /// No process has this number.
    #[error("there is no process {pid} here. `evenkeel ps` lists the jobs that can be looked at.")]
    NoProcess {
        /// The number.
        pid: u32,
    },

    /// The process is no launcher and no rank of a job.
    #[error(
        "process {pid} is no launcher and no rank of a job that runs under evenkeel. `evenkeel ps` lists the \
         jobs that can be looked at."
    )]
    NoJob {
        /// The number.
        pid: u32,
    },

    /// The process belongs to somebody else.
    #[error(
        "process {pid} belongs to another user (user id {user}), and the kernel does not let you look at it. \
         Ask that user, or be root."
    )]
    OtherUser {
        /// The process.
        pid: u32,
        /// Its user.
        user: u32,
    },

    /// The kernel does not let this user read the job's memory.
    #[error(
        "cannot look at the job of process {pid}: the kernel does not allow reading its memory ({cause}). \
         Reading needs the same user, and where the Yama module restricts it (kernel.yama.ptrace_scope), a \
         job that was started without `--cma off`."
    )]
    Refused {
        /// A process of the job.
        pid: u32,
        /// What the kernel says.
        cause: std::io::Error,
    },

    /// `--remote-shell` or a variable in its place cannot be split into words.
    #[error(
        "cannot read the remote shell `{given}`: it names no program, or a quote is not closed. Give one \
         like `ssh -p 2222` with --remote-shell."
    )]
    RemoteShell {
        /// As given.
        given: String,
    },

    /// No host that was named can be looked at.
    #[error(
        "no job of yours can be looked at: there is none on this machine, and host {host} could not be \
         asked: {why}. evenkeel must be installed there at the same path, and --remote-shell must lead there."
    )]
    Unreached {
        /// The host.
        host: String,
        /// What happened.
        why: String,
    },

    /// The job runs under another version of evenkeel.
    #[error(
        "cannot look at the job of process {pid}: it runs under another version of evenkeel than this \
         program. Use the `evenkeel` program that started the job."
    )]
    OtherVersion {
        /// A process of the job.
        pid: u32,
    },
}

impl JobError {
    /// A process of the job, if it is about one.
    pub fn pid(&self) -> Option<u32> {
        match self {
            JobError::None
            | JobError::Several { .. }
            | JobError::RemoteShell { .. }
            | JobError::Unreached { .. } => None,
            JobError::NoProcess { pid }
            | JobError::NoJob { pid }
            | JobError::OtherUser { pid, .. }
            | JobError::Refused { pid, .. }
            | JobError::OtherVersion { pid } => Some(*pid),
        }
    }
}

impl From<ForeignError> for JobError {
    fn from(error: ForeignError) -> JobError {
        match error {
            ForeignError::Refused { pid, cause } => JobError::Refused { pid, cause },
            ForeignError::OtherVersion { pid } => JobError::OtherVersion { pid },
        }
    }
}

fn list(jobs: &[(u32, String)]) -> String {
    /// Of a program's command line.
    const SHOWN: usize = 40;
    let one =
        |(id, program): &(u32, String)| format!("{id} ({})", evenkeel_text::units::plain(program, SHOWN));
    jobs.iter().map(one).collect::<Vec<_>>().join(", ")
}
