//! What an algorithm tells of itself, and the function that it is.

use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::Rank;

/// What a collective operation does with data. Lengths below: e is [`Problem::elements`], n the number
/// of ranks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Collective {
    /// Nobody leaves before all have entered. No data.
    Barrier,
    /// The root's input (e) comes to be every other rank's output (e).
    Bcast,
    /// Everybody's input (e), combined, is the root's output (e).
    Reduce,
    /// Everybody's input (e), combined, is everybody's output (e).
    Allreduce,
    /// Everybody's input (e), one after the other, is everybody's output (n·e).
    Allgather,
    /// The i-th part (e) of rank j's input (n·e) is the j-th part of rank i's output (n·e).
    Alltoall,
    /// Everybody's input (e), one after the other, is the root's output (n·e).
    Gather,
    /// The i-th part (e) of the root's input (n·e) is rank i's output (e).
    Scatter,
    /// The i-th parts (e) of all inputs (n·e), combined, are rank i's output (e).
    ReduceScatter,
    /// The inputs (e) of ranks 0 to i, combined, are rank i's output (e).
    Scan,
    /// The inputs (e) of ranks 0 to i-1, combined, are rank i's output (e); rank 0 has none.
    Exscan,
}

impl Collective {
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

    /// Elements of a rank's input buffer.
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

    /// Elements of a rank's output buffer.
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

/// In which order an algorithm combines, as far as it combines at all. The checker holds an algorithm to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CombiningOrder {
    /// It combines nothing.
    Nothing,
    /// x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁)): the order of ranks and this one grouping, as the engine combines.
    Fold,
    /// The order of ranks, in another grouping: right for every associative operation.
    Ranks,
    /// Another order: right for associative operations that are commutative too.
    Any,
}

/// A number that an algorithm can be given.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub default: u32,
    pub min: u32,
    pub max: u32,
    /// Names of the values from `least` on, where they are choices and not numbers.
    pub choices: &'static [&'static str],
    pub about: &'static str,
}

/// An algorithm. What can be computed from its steps is not written down here.
pub struct Algorithm {
    /// As typed on a command line: `n-way-dissemination`.
    pub name: &'static str,
    pub collective: Collective,
    pub order: CombiningOrder,
    /// One sentence that says how it works.
    pub about: &'static str,
    /// Who described it where.
    pub source: &'static str,
    /// Its cost in the models' letters, as the source or the field gives it: L latency, o overhead, g gap,
    /// P ranks, M bytes, G gap per byte.
    pub cost: &'static str,
    pub parameters: &'static [Parameter],
    /// The memory it needs and how many rounds it has, equal for all ranks. Rounds may be empty at some
    /// ranks.
    pub resources: fn(&Problem) -> Resources,
    /// Appends the steps of one round of one rank, in time proportional to their number or, where a tree
    /// has to be walked down, to its depth.
    pub round: fn(&Problem, Rank, u32, &mut Round),
}

impl std::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} ({})", self.name, self.collective.name())
    }
}

impl Parameter {
    /// The value that a word stands for: a number or one of the choices' names.
    pub fn parse(&self, word: &str) -> Option<u32> {
        match self.choices.iter().position(|c| *c == word) {
            Some(i) => Some(self.min + i as u32),
            None if self.choices.is_empty() => word.parse().ok(),
            None => None,
        }
    }

    /// A value as it is typed.
    pub fn show(&self, value: u32) -> String {
        match self.choices.get(value.wrapping_sub(self.min) as usize) {
            Some(name) => (*name).to_string(),
            None => value.to_string(),
        }
    }

    /// What may be typed: `1..64`, `multicast|binomial`.
    pub fn range(&self) -> String {
        match self.choices {
            [] if self.max == u32::MAX => format!("{} or more", self.min),
            [] => format!("{}..{}", self.min, self.max),
            choices => choices.join("|"),
        }
    }
}
