//! Why there is no stack.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why the stacks of a process cannot be taken. Each is the end of a sentence: `cannot …, because …`.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum StackError {
    /// The process has ended.
    #[error("the process has ended")]
    Gone,
    /// A debugger is at work.
    #[error("process {by} traces it already, as a debugger does")]
    Traced {
        /// The tracer.
        by: u32,
    },
    /// It belongs to somebody else.
    #[error("it belongs to another user (user id {user})")]
    OtherUser {
        /// Its user.
        user: u32,
    },
    /// The Yama module.
    #[error(
        "the kernel's Yama module allows only {}",
        match scope {
            1 => "its parents to trace it (kernel.yama.ptrace_scope is 1; ranks allow it unless they run \
                  with `--cma off`)",
            2 => "administrators to trace processes (kernel.yama.ptrace_scope is 2)",
            _ => "no one to trace processes (kernel.yama.ptrace_scope is 3)",
        }
    )]
    Yama {
        /// `kernel.yama.ptrace_scope`.
        scope: u32,
    },
    /// Forbidden otherwise.
    #[error(
        "ptrace is forbidden here ({cause}), as containers do (allow it with `--cap-add SYS_PTRACE` or \
         `--security-opt seccomp=unconfined`)"
    )]
    Forbidden {
        /// What the kernel says.
        cause: String,
    },
    /// It sleeps in the kernel and cannot be stopped.
    #[error(
        "it sleeps uninterruptibly in the kernel{}",
        place.as_ref().map_or(String::new(), |place| format!(" ({place})"))
    )]
    Uninterruptible {
        /// The kernel's function.
        place: Option<String>,
    },
    /// It has not stopped.
    #[error("it did not stop within {milliseconds} ms")]
    DidNotStop {
        /// How long it was waited for.
        milliseconds: u64,
    },
    /// The system call that it sleeps in would fail if it were stopped.
    #[error("stopping it would end the system call that it sleeps in")]
    WouldDisturb,
    /// Anything else.
    #[error("the kernel refuses ({cause})")]
    System {
        /// What the kernel says.
        cause: String,
    },
}
