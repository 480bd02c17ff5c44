//! How a rank has ended, and whether that is a failure. Pure.

use crate::ending::Cause;
use rustix::process::WaitStatus;

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Death {
    /// By itself, with an exit code.
    Exit(u8),
    /// By a signal.
    Signal { number: i32, has_core: bool },
}

impl Death {
    /// What the kernel says; None if the process has not ended.
    pub(super) fn of(status: WaitStatus) -> Option<Death> {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Some(Death::Exit(code as u8)),
            (None, Some(number)) => {
                Some(Death::Signal { number, has_core: status.as_raw() as u32 & 0x80 != 0 })
            }
            (None, None) => None,
        }
    }

    /// Why the job has failed if a rank ends like this; None if it has not.
    ///
    /// `is_awaited`: whether the rank is between MPI_Init and MPI_Finalize, and there are others that would
    /// wait for it.
    pub(super) fn cause(self, rank: String, pid: i32, is_awaited: bool) -> Option<Cause> {
        match self {
            Death::Exit(0) if !is_awaited => None,
            Death::Exit(0) => Some(Cause::Deserted { rank, pid }),
            Death::Exit(code) => Some(Cause::Exit { rank, pid, code }),
            Death::Signal { number, has_core } => Some(Cause::Signal { rank, pid, number, has_core }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_is_a_failure_if_others_wait() {
        let cause = |death: Death, is_awaited| death.cause("rank 1".into(), 7, is_awaited);
        assert_eq!(cause(Death::Exit(0), false), None);
        assert_eq!(cause(Death::Exit(0), true), Some(Cause::Deserted { rank: "rank 1".into(), pid: 7 }));
        for is_awaited in [false, true] {
            let exit = cause(Death::Exit(3), is_awaited);
            assert_eq!(exit.map(|cause| cause.code()), Some(3));
            let killed = cause(Death::Signal { number: 11, has_core: true }, is_awaited);
            assert_eq!(killed.map(|cause| cause.code()), Some(139));
        }
    }
}
