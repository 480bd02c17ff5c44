//! The collectives of MPI by their names.

/// The collectives that move or combine data, and the barrier, in all groups of ranks (those of neighbours
/// are others). MPI's names without prefix, in lower case.
pub const COLLECTIVES: [&str; 17] = [
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
];
