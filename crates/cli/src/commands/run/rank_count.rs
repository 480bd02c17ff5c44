//! Refuses more ranks than this machine can have at the very most. A launcher would fail half way, with an
//! error of its own or none, after minutes in which the machine does nothing else.

use crate::errors::LaunchError;
use crate::machine::{memory, open_files, process_limit};

/// Files that each launcher has open for a rank that it has started: its output, its errors, and a connection
/// or its input. Measured: Open MPI 4 and 5 have 3, and Hydra 4.
const FILES_PER_RANK: u64 = 3;
/// With so many per rank, and as many beside them, launchers have enough.
const ENOUGH_FILES_PER_RANK: u64 = 4;
const ENOUGH_OTHER_FILES: u64 = 64;
/// Memory of its own that a rank has at the end of MPI_Init, at least. Measured: Open MPI 4 has 3.3 MiB,
/// MPICH 4 has 6.4 MiB; the kernel needs 0.5 MiB for such a process.
const BYTES_PER_RANK: u64 = 3 << 20;

/// What a machine has for ranks. A limit is named by the file or the command that says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineLimits {
    /// Processes.
    pub processes: Option<(u64, String)>,
    /// Files that a process may have open, at most.
    pub files: Option<u64>,
    /// Bytes of memory.
    pub memory: Option<(u64, String)>,
}

impl MachineLimits {
    /// Those of this process.
    pub fn own() -> MachineLimits {
        let files = open_files::limits().1;
        MachineLimits { processes: process_limit::own(), files, memory: memory::own() }
    }

    /// Refuses so many ranks if they cannot all run here.
    pub fn check(&self, ranks: u32) -> Result<(), LaunchError> {
        let count = u64::from(ranks);
        if let Some((most, limit)) = self.processes.clone().filter(|(most, _)| count > *most) {
            return Err(LaunchError::TooManyRanks { ranks, most, limit });
        }
        if let Some(most) = self.files.filter(|files| count * FILES_PER_RANK > *files) {
            return Err(LaunchError::TooManyRanksForFiles { ranks, per_rank: FILES_PER_RANK, most });
        }
        match self.memory.clone() {
            Some((bytes, limit)) if count * BYTES_PER_RANK > bytes => {
                let mib = bytes >> 20;
                let per_rank_mib = BYTES_PER_RANK >> 20;
                Err(LaunchError::TooManyRanksForMemory { ranks, per_rank_mib, mib, limit })
            }
            _ => Ok(()),
        }
    }
}

/// Lets this process, which is about to become the launcher, have the files open that it needs for so many
/// ranks. Launchers do not do so themselves: Open MPI's hangs where it has too few. Ranks inherit the limit,
/// so it stays as it is if it is enough.
pub fn allow_open_files(ranks: u32) {
    open_files::allow(u64::from(ranks) * ENOUGH_FILES_PER_RANK + ENOUGH_OTHER_FILES);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused_with_the_limit() {
        let limits = MachineLimits {
            processes: Some((5000, "/sys/fs/cgroup/pids.max".into())),
            files: Some(3000),
            memory: Some((1 << 30, "/proc/meminfo".into())),
        };
        let said = |ranks| limits.check(ranks).map_err(|error| error.to_string());
        assert_eq!(said(341), Ok(()));
        let of_memory = "cannot start 342 ranks: a rank takes 3 MiB of memory or more, and there are 1024 \
                         MiB (/proc/meminfo). Ask for fewer ranks, or start them on several hosts.";
        assert_eq!(said(342), Err(of_memory.into()));
        let of_files = "cannot start 1001 ranks: their launcher has 3 files open for each, and a process may \
                        have 3000 (ulimit -Hn). Ask for fewer ranks, raise that limit, or start them on \
                        several hosts.";
        assert_eq!(said(1001), Err(of_files.into()));
        assert!(said(5001).unwrap_err().contains("only 5000 processes are allowed here (/sys/fs/cgroup/"));
        assert_eq!(MachineLimits::default().check(u32::MAX).map_err(|error| error.to_string()), Ok(()));
    }
}
