//! Where a rank is among the others, and the variables that say so.

use std::ffi::OsString;

/// The numbers of a rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankPlace {
    pub(crate) rank: u32,
    pub(crate) all_ranks: u32,
    /// The same among the ranks of its host.
    pub(crate) local_rank: u32,
    pub(crate) local_ranks: u32,
}

impl RankPlace {
    /// Of a rank whose job is on one host.
    pub(crate) fn on_one_host(rank: u32, ranks: u32) -> RankPlace {
        RankPlace { rank, all_ranks: ranks, local_rank: rank, local_ranks: ranks }
    }

    /// What the rank finds in its environment.
    pub(crate) fn variables(self) -> impl Iterator<Item = (OsString, OsString)> {
        let numbers = [
            ("PMI_RANK", self.rank.to_string()),
            ("PMI_SIZE", self.all_ranks.to_string()),
            // The shim compares it with the size of the job that the rank finds itself in.
            ("EVENKEEL_LAUNCHED_RANKS", self.all_ranks.to_string()),
            ("MPI_LOCALRANKID", self.local_rank.to_string()),
            ("MPI_LOCALNRANKS", self.local_ranks.to_string()),
            // As with mpiexec.hydra: gfortran's units for the terminal are written at once, though to a pipe.
            ("GFORTRAN_UNBUFFERED_PRECONNECTED", "y".to_string()),
        ];
        numbers.into_iter().map(|(name, value)| (name.into(), value.into()))
    }
}
