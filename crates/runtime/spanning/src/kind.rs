//! The collectives of MPI.

use evenkeel_record::COLLECTIVES;
use evenkeel_schedule::deposits::{self, Participation};
use evenkeel_schedule::{Collective, Rank};
use std::ffi::CStr;

/// One of the 17 collectives of MPI. The numbers are those of C's `enum ek_kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub enum CollectiveKind {
    /// MPI_Barrier
    Barrier,
    /// MPI_Bcast
    Bcast,
    /// MPI_Reduce
    Reduce,
    /// MPI_Allreduce
    Allreduce,
    /// MPI_Gather
    Gather,
    /// MPI_Gatherv
    Gatherv,
    /// MPI_Scatter
    Scatter,
    /// MPI_Scatterv
    Scatterv,
    /// MPI_Allgather
    Allgather,
    /// MPI_Allgatherv
    Allgatherv,
    /// MPI_Alltoall
    Alltoall,
    /// MPI_Alltoallv
    Alltoallv,
    /// MPI_Alltoallw
    Alltoallw,
    /// MPI_Reduce_scatter
    ReduceScatter,
    /// MPI_Reduce_scatter_block
    ReduceScatterBlock,
    /// MPI_Scan
    Scan,
    /// MPI_Exscan
    Exscan,
}

impl CollectiveKind {
    /// How many there are.
    ///
    /// cbindgen:ignore
    pub const COUNT: usize = 17;

    /// All of them, in the order of their numbers.
    pub const ALL: [CollectiveKind; CollectiveKind::COUNT] = {
        use CollectiveKind::*;
        [
            Barrier,
            Bcast,
            Reduce,
            Allreduce,
            Gather,
            Gatherv,
            Scatter,
            Scatterv,
            Allgather,
            Allgatherv,
            Alltoall,
            Alltoallv,
            Alltoallw,
            ReduceScatter,
            ReduceScatterBlock,
            Scan,
            Exscan,
        ]
    };

    /// The collective with this number, if there is one.
    pub fn from_u32(number: u32) -> Option<CollectiveKind> {
        CollectiveKind::ALL.get(number as usize).copied()
    }

    /// MPI's name without prefix, in lower case: one of [`COLLECTIVES`].
    pub fn name(self) -> &'static str {
        COLLECTIVES[self as usize]
    }

    /// MPI's name, for programs that read it in this process's memory.
    pub fn mpi_name(self) -> &'static CStr {
        [
            c"MPI_Barrier",
            c"MPI_Bcast",
            c"MPI_Reduce",
            c"MPI_Allreduce",
            c"MPI_Gather",
            c"MPI_Gatherv",
            c"MPI_Scatter",
            c"MPI_Scatterv",
            c"MPI_Allgather",
            c"MPI_Allgatherv",
            c"MPI_Alltoall",
            c"MPI_Alltoallv",
            c"MPI_Alltoallw",
            c"MPI_Reduce_scatter",
            c"MPI_Reduce_scatter_block",
            c"MPI_Scan",
            c"MPI_Exscan",
        ][self as usize]
    }

    /// Whether arrivals are counted: every rank takes part, and some rank needs all the others.
    #[inline(always)]
    pub fn is_counted(self) -> bool {
        deposits::some_rank_needs_all(self.operation())
    }

    /// The collective of the schedules that it is an instance of. The variants of one differ in
    /// how much a rank contributes, not in which rank contributes what to which.
    #[inline(always)]
    pub const fn operation(self) -> Collective {
        use CollectiveKind::*;
        match self {
            Barrier => Collective::Barrier,
            Bcast => Collective::Bcast,
            Reduce => Collective::Reduce,
            Allreduce => Collective::Allreduce,
            Gather | Gatherv => Collective::Gather,
            Scatter | Scatterv => Collective::Scatter,
            Allgather | Allgatherv => Collective::Allgather,
            Alltoall | Alltoallv | Alltoallw => Collective::Alltoall,
            ReduceScatter | ReduceScatterBlock => Collective::ReduceScatter,
            Scan => Collective::Scan,
            Exscan => Collective::Exscan,
        }
    }

    /// What `me` among `ranks` contributes, and whose contributions it needs.
    #[inline(always)]
    pub const fn participation(self, ranks: usize, root: usize, me: usize) -> Participation {
        deposits::participation(self.operation(), ranks as u32, Rank(root as u32), Rank(me as u32))
    }

    /// How many contributions, those of ranks 0, 1, …, make up what `me` among `ranks` gets.
    #[inline(always)]
    pub const fn operands(self, ranks: usize, me: usize) -> usize {
        deposits::operand_count(self.operation(), ranks as u32, Rank(me as u32)) as usize
    }

    /// Whether only the ranks involved know how much is moved.
    pub fn is_private(self) -> bool {
        use CollectiveKind::*;
        matches!(self, Gatherv | Scatterv | Alltoallv | Alltoallw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_names_one_collective() {
        for (number, kind) in CollectiveKind::ALL.into_iter().enumerate() {
            assert_eq!((kind as usize, CollectiveKind::from_u32(number as u32)), (number, Some(kind)));
        }
        assert_eq!(CollectiveKind::from_u32(CollectiveKind::COUNT as u32), None);
    }

    #[test]
    fn both_names_are_of_the_same_collective() {
        for kind in CollectiveKind::ALL {
            let name = kind.mpi_name().to_str().unwrap().strip_prefix("MPI_").unwrap();
            assert_eq!(name.to_lowercase(), kind.name());
        }
    }
}
