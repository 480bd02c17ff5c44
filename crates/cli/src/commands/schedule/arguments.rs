//! The grammar of `evenkeel schedule`.

use clap::{ValueEnum, value_parser};
use evenkeel_schedule::Collective;
use std::path::PathBuf;

/// Show, check and draw collective algorithms
///
/// Every collective algorithm is written once, as a function from the number of ranks and parameters to
/// the steps of each rank. These commands work on the steps: nothing is run on a network.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel schedule list --ranks 64                           what there is, and what it costs
  evenkeel schedule show n-way-dissemination --ranks 9 --n 2  who tells whom in which round
  evenkeel schedule show allreduce-ring --ranks 5 --elements 10 --svg ring.svg
  evenkeel schedule show hierarchical --ranks 12 --param inner=mcs --param outer=dissemination --param node=4
  evenkeel schedule check n-wise-exchange --ranks 100 --n 3   is it right?")]
pub struct Schedule {
    #[command(subcommand)]
    pub task: ScheduleTask,
}

#[derive(Debug, clap::Subcommand)]
pub enum ScheduleTask {
    List(List),
    Show(Box<Show>),
    Check(Box<Check>),
    #[command(hide = true)]
    Gallery(Gallery),
}

/// List all algorithms and what they cost, counted from their steps
///
/// rounds: messages that must follow one another. sent: messages of the rank that sends most. must
/// respond: how many other ranks must do something between a rank's entering and its leaving; whoever
/// is late among these holds it up.
#[derive(Debug, clap::Args)]
pub struct List {
    /// Number of ranks
    #[arg(short = 'n', long, value_name = "N", default_value = "16", value_parser = value_parser!(u32).range(1..))]
    pub ranks: u32,
    /// Elements of a rank's vector; of its part for another rank, where parts are exchanged
    #[arg(long, value_name = "E", default_value = "16")]
    pub elements: u32,
    /// Only algorithms for this operation
    #[arg(long, value_enum)]
    pub operation: Option<OperationName>,
}

/// Draw an algorithm's messages, round by round, and tell what it costs
///
/// A message is in round r if r - 1 others had to arrive, one after the other, before it could be sent.
#[derive(Debug, clap::Args)]
pub struct Show {
    #[command(flatten)]
    pub which: Which,
    /// Write the picture to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print the steps of this rank instead
    #[arg(long, value_name = "RANK")]
    pub steps: Option<u32>,
}

/// Prove an algorithm right for a number of ranks, or say what is wrong
///
/// It completes, epoch after epoch, in every order in which steps may be taken and messages may arrive;
/// nobody leaves a barrier before all have entered; data is right; flags and memory are not used again
/// while they are needed. One run proves that unless it is decided while running who goes on; then
/// orders are tried: all of them for up to 3 ranks, and random ones.
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    pub which: Which,
    /// How many random orders to try as well
    #[arg(long, value_name = "K", default_value = "20")]
    pub random: u64,
    /// The seed of the random orders
    #[arg(long, value_name = "SEED", default_value = "1")]
    pub seed: u64,
}

/// Write the book's page of algorithms and its pictures
#[derive(Debug, clap::Args)]
pub struct Gallery {
    /// The book's sources
    pub directory: PathBuf,
}

/// An algorithm and what it is asked.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The algorithm, by its name in `evenkeel schedule list`
    pub algorithm: String,
    /// Number of ranks
    #[arg(long, value_name = "N", default_value = "8", value_parser = value_parser!(u32).range(1..))]
    pub ranks: u32,
    /// A parameter of the algorithm; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub parameters: Vec<String>,
    /// The parameter n: short for --param n=N
    #[arg(long = "n", value_name = "N")]
    pub n: Option<u32>,
    /// Elements of a rank's vector; of its part for another rank, where parts are exchanged
    #[arg(long, value_name = "E", default_value = "16")]
    pub elements: u32,
    /// The root of a broadcast or reduction
    #[arg(long, value_name = "RANK", default_value = "0")]
    pub root: u32,
    /// Which node each rank is on, for hierarchical algorithms: 0,0,1,1,2
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub nodes: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OperationName {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Allgather,
    Alltoall,
    Gather,
    Scatter,
    ReduceScatter,
    Scan,
    Exscan,
}

impl OperationName {
    pub fn operation(self) -> Collective {
        match self {
            OperationName::Barrier => Collective::Barrier,
            OperationName::Bcast => Collective::Bcast,
            OperationName::Reduce => Collective::Reduce,
            OperationName::Allreduce => Collective::Allreduce,
            OperationName::Allgather => Collective::Allgather,
            OperationName::Alltoall => Collective::Alltoall,
            OperationName::Gather => Collective::Gather,
            OperationName::Scatter => Collective::Scatter,
            OperationName::ReduceScatter => Collective::ReduceScatter,
            OperationName::Scan => Collective::Scan,
            OperationName::Exscan => Collective::Exscan,
        }
    }
}
