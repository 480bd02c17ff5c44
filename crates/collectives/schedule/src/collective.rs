//! The collectives: what each does with the ranks' data, and in which order an algorithm may combine it.

use crate::problem::Problem;
use crate::step::Rank;

/// What a collective does with data. e stands for [`Problem::elements`], n for the number of ranks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Collective {
    /// No rank leaves before all ranks have entered. No data.
    Barrier,
    /// The root's input (e) becomes the output (e) of every other rank.
    Bcast,
    /// The inputs (e) of all ranks, combined, become the root's output (e).
    Reduce,
    /// The inputs (e) of all ranks, combined, become the output (e) of every rank.
    Allreduce,
    /// The inputs (e) of all ranks, one after the other, become the output (n·e) of every rank.
    Allgather,
    /// Part i (e) of the input (n·e) of rank j becomes part j of the output of rank i (n·e).
    Alltoall,
    /// The inputs (e) of all ranks, one after the other, become the root's output (n·e).
    Gather,
    /// Part i (e) of the root's input (n·e) becomes the output (e) of rank i.
    Scatter,
    /// Parts i (e) of all inputs (n·e), combined, become the output (e) of rank i.
    ReduceScatter,
    /// The inputs (e) of ranks 0 to i, combined, become the output (e) of rank i.
    Scan,
    /// The inputs (e) of ranks 0 to i-1, combined, become the output (e) of rank i. Rank 0 has no output.
    Exscan,
}

impl Collective {
    /// All collectives, in the order in which they are listed to users.
    pub const ALL: [Collective; 11] = [
        Collective::Barrier,
        Collective::Bcast,
        Collective::Reduce,
        Collective::Allreduce,
        Collective::Allgather,
        Collective::Alltoall,
        Collective::Gather,
        Collective::Scatter,
        Collective::ReduceScatter,
        Collective::Scan,
        Collective::Exscan,
    ];

    /// The name on command lines and in files: `reduce-scatter`.
    pub const fn name(self) -> &'static str {
        match self {
            Collective::Barrier => "barrier",
            Collective::Bcast => "bcast",
            Collective::Reduce => "reduce",
            Collective::Allreduce => "allreduce",
            Collective::Allgather => "allgather",
            Collective::Alltoall => "alltoall",
            Collective::Gather => "gather",
            Collective::Scatter => "scatter",
            Collective::ReduceScatter => "reduce-scatter",
            Collective::Scan => "scan",
            Collective::Exscan => "exscan",
        }
    }

    /// The number of elements in a rank's input buffer.
    pub fn input_elements(self, problem: &Problem, rank: Rank) -> u64 {
        match self {
            Collective::Barrier => 0,
            Collective::Bcast | Collective::Scatter if rank != problem.root => 0,
            Collective::Alltoall | Collective::Scatter | Collective::ReduceScatter => {
                u64::from(problem.elements) * u64::from(problem.ranks)
            }
            _ => problem.elements.into(),
        }
    }

    /// The number of elements in a rank's output buffer.
    pub fn output_elements(self, problem: &Problem, rank: Rank) -> u64 {
        match self {
            Collective::Barrier => 0,
            Collective::Bcast if rank == problem.root => 0,
            Collective::Exscan if rank == Rank(0) => 0,
            Collective::Reduce | Collective::Gather if rank != problem.root => 0,
            Collective::Allgather | Collective::Alltoall | Collective::Gather => {
                u64::from(problem.elements) * u64::from(problem.ranks)
            }
            _ => problem.elements.into(),
        }
    }
}

/// The order in which an algorithm combines the ranks' contributions. The checker verifies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CombiningOrder {
    /// The algorithm combines nothing.
    Nothing,
    /// x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁)): the order of ranks in exactly this grouping, as the engine combines.
    Fold,
    /// The order of ranks in another grouping: correct for every associative operator.
    Ranks,
    /// Another order: correct for operators that are associative and commutative.
    Any,
}
