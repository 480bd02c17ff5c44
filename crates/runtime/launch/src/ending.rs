//! Which event ended the job, its exit code, and the sentence that says so. Pure.

use crate::signals;

/// Why a job ended otherwise than by all ranks' success.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cause {
    /// A rank ended with a code other than 0. `rank` names it for people, as `rank 3`.
    Exit { rank: String, pid: i32, code: u8 },
    /// A rank was ended by a signal.
    Signal { rank: String, pid: i32, number: i32, has_core: bool },
    /// A rank ended with code 0 between MPI_Init and MPI_Finalize, where the others would wait for it.
    Deserted { rank: String, pid: i32 },
    /// A rank called MPI_Abort.
    Abort { rank: String, code: i32 },
    /// A rank's process manager client sent what is not understood.
    Protocol { rank: String, line: String },
    /// The user, or somebody else, sent a signal.
    Interrupted { number: i32 },
    /// The supervisor was killed.
    Orphaned,
    /// The node process of this host lives, or seems to, and has said nothing for longer than the patience.
    Unheard { host: String, patience_ms: u64 },
    /// Something has failed on another host.
    Elsewhere { is_patient: bool },
}

/// The exit code by which the engine says that a rank has ended because another one had died.
const PEER_DIED: u8 = 71;

/// The exit code of a job that did not fail by an exit code or a signal.
const FAILED: u8 = 1;

impl Cause {
    /// The exit code of the job.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Cause::Exit { code, .. } => *code,
            Cause::Signal { number, .. } | Cause::Interrupted { number } => by_signal(*number),
            // As the shell has it: the lowest eight bits, but a failure stays one.
            Cause::Abort { code, .. } => match *code as u8 {
                0 => FAILED,
                code => code,
            },
            Cause::Deserted { .. }
            | Cause::Protocol { .. }
            | Cause::Unheard { .. }
            | Cause::Elsewhere { .. } => FAILED,
            Cause::Orphaned => by_signal(libc::SIGKILL),
        }
    }

    /// Whether the other ranks may go on for a while: they may end by themselves, with a message of their
    /// own.
    pub(crate) fn is_patient(&self) -> bool {
        match self {
            Cause::Exit { .. } | Cause::Signal { .. } | Cause::Deserted { .. } => true,
            Cause::Elsewhere { is_patient } => *is_patient,
            _ => false,
        }
    }

    /// Whether a rank was ended by a signal.
    pub(crate) fn is_death(&self) -> bool {
        matches!(self, Cause::Signal { .. })
    }

    /// Whether it follows from another rank's death.
    pub(crate) fn is_consequence(&self) -> bool {
        matches!(self, Cause::Exit { code: PEER_DIED, .. })
    }

    /// What is said on standard error. Nothing if the user knows: they have sent the signal.
    ///
    /// `others` tells whether other ranks have been ended for it.
    pub(crate) fn sentence(&self, others: bool) -> Option<String> {
        let ended = if others { "; the other ranks were ended" } else { "" };
        Some(match self {
            Cause::Exit { rank, pid, code } => {
                format!("{rank} (process {pid}) ended with exit code {code}{ended}.")
            }
            Cause::Signal { rank, pid, number, has_core } => {
                let core = if *has_core { ", and left a core file" } else { "" };
                let name = signals::name(*number);
                format!("{rank} (process {pid}) was killed by {name}{core}{ended}.")
            }
            Cause::Deserted { rank, pid } => format!(
                "{rank} (process {pid}) ended with exit code 0 between MPI_Init and MPI_Finalize, where \
                 the others would wait for it{ended}. Have every rank call MPI_Finalize, or MPI_Abort."
            ),
            Cause::Abort { rank, code } => format!("{rank} called MPI_Abort with code {code}{ended}."),
            Cause::Protocol { rank, line } => format!(
                "{rank} sent a request that this launcher does not know (`{line}`){ended}. Use the MPI \
                 library's own launcher: --launcher mpiexec."
            ),
            Cause::Unheard { host, patience_ms } => format!(
                "the node process on {host} has been silent for {patience_ms} ms, and what it had started \
                 was killed. See whether it was stopped, or the host is overloaded; or raise --node-patience."
            ),
            Cause::Interrupted { .. } | Cause::Orphaned | Cause::Elsewhere { .. } => return None,
        })
    }
}

/// As shells have it.
pub(crate) fn by_signal(number: i32) -> u8 {
    (128 + (number & 0x7f)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_never_has_the_code_of_a_success() {
        let rank = || "rank 0".to_string();
        for code in [-1, 0, 1, 255, 256, i32::MAX, i32::MIN] {
            assert_ne!(Cause::Abort { rank: rank(), code }.code(), 0);
        }
        assert_eq!(Cause::Abort { rank: rank(), code: 5 }.code(), 5);
        assert_eq!(Cause::Interrupted { number: libc::SIGTERM }.code(), 143);
        assert_ne!(Cause::Deserted { rank: rank(), pid: 1 }.code(), 0);
    }

    #[test]
    fn a_silent_node_is_a_failure_with_a_sentence() {
        let cause = Cause::Unheard { host: "a".into(), patience_ms: 2000 };
        assert_eq!((cause.code(), cause.is_patient()), (1, false));
        assert!(cause.sentence(false).unwrap().contains("on a has been silent for 2000 ms"));
    }

    #[test]
    fn sentences_name_the_rank() {
        let killed = Cause::Signal { rank: "rank 3".into(), pid: 77, number: libc::SIGSEGV, has_core: false };
        let said = killed.sentence(true).unwrap();
        assert_eq!(said, "rank 3 (process 77) was killed by SIGSEGV; the other ranks were ended.");
        assert_eq!(Cause::Interrupted { number: libc::SIGINT }.sentence(true), None);
    }
}
