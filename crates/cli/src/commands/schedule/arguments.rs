//! The command line of `evenkeel schedule`.

use crate::commands::value_parsers::whole;
use clap::ValueEnum;
use evenkeel_schedule::Collective;
use std::path::PathBuf;

/// Show, check and draw collective algorithms
///
/// Every collective algorithm is written once, as a function from the number of ranks and parameters to the
/// steps of each rank. These commands work on the steps; nothing runs on a network.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel schedule list --ranks 64                           the algorithms, and what each costs
  evenkeel schedule show n-way-dissemination --ranks 9 --n 2  which rank signals which
  evenkeel schedule show allreduce-ring --ranks 5 --elements 10 --svg ring.svg
  evenkeel schedule show hierarchical --ranks 12 --param inner=mcs --param node=4
  evenkeel schedule check n-wise-exchange --ranks 100 --n 3   prove that it is right")]
pub struct ScheduleArguments {
    /// What is to be done.
    #[command(subcommand)]
    pub command: ScheduleCommand,
}

/// The subcommands.
#[derive(Debug, clap::Subcommand)]
#[allow(
    missing_docs,
    reason = "clap prefers a variant's comment to that of the arguments, which is the help text"
)]
pub enum ScheduleCommand {
    List(ListArguments),
    Show(Box<ShowArguments>),
    Check(Box<CheckArguments>),
    #[command(hide = true)]
    Gallery(GalleryArguments),
}

/// List all algorithms and what they cost, counted from their steps
///
/// rounds: messages that must follow one another. sent: messages of the rank that sends most. must respond:
/// how many other ranks must do something between a rank's entering and its leaving; if one of these is late,
/// the rank waits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel schedule list --operation barrier --ranks 64
  evenkeel schedule list --operation allreduce --elements 1000")]
pub struct ListArguments {
    /// Number of ranks
    #[arg(short = 'n', long, value_name = "N", default_value = "16")]
    #[arg(value_parser = whole::<u32>(1..))]
    pub ranks: u32,
    /// Elements of a rank's vector; where ranks exchange parts, of a part
    #[arg(long, value_name = "E", default_value = "16")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub elements: u32,
    /// Only algorithms for this operation
    #[arg(long, value_enum)]
    pub operation: Option<OperationName>,
}

/// Draw an algorithm's messages, round by round, and say what it costs
///
/// A message is in round r if r - 1 others had to arrive, one after the other, before it could be sent.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel schedule show dissemination --ranks 8
  evenkeel schedule show mcs --ranks 20 --n 4 --svg mcs.svg   as a picture, for more ranks
  evenkeel schedule show bcast-flat --ranks 4 --steps 0       the steps of rank 0")]
pub struct ShowArguments {
    /// The schedule.
    #[command(flatten)]
    pub selection: ScheduleSelection,
    /// Write the picture to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print the steps of this rank instead
    #[arg(long, value_name = "RANK")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub steps: Option<u32>,
}

/// Prove that an algorithm is right for a number of ranks, or say what is wrong
///
/// It is right if it completes, epoch after epoch, in every order in which steps may be taken and messages
/// may arrive; if no rank leaves a barrier before all have entered; if data is right; and if flags and memory
/// are not reused while they are needed. One run proves that, unless the algorithm decides while it runs
/// which rank continues. Then orders are tried: all of them for up to 3 ranks, and random ones.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel schedule check dissemination --ranks 1000
  evenkeel schedule check central-counter --ranks 3           every order of steps and messages
  evenkeel schedule check hierarchical --ranks 5 --nodes 0,1,0,1,2 --param outer=mcs")]
pub struct CheckArguments {
    /// The schedule.
    #[command(flatten)]
    pub selection: ScheduleSelection,
    /// How many random orders to try as well
    #[arg(long, value_name = "K", default_value = "20")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub random: u64,
    /// The seed of the random orders
    #[arg(long, value_name = "SEED", default_value = "1")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub seed: u64,
}

/// Write the book's page of algorithms and its pictures
#[derive(Debug, clap::Args)]
pub struct GalleryArguments {
    /// The directory of the book's sources
    pub directory: PathBuf,
}

/// An algorithm, and the problem that it is to solve.
#[derive(Debug, clap::Args)]
pub struct ScheduleSelection {
    /// The algorithm, by its name in `evenkeel schedule list`
    pub algorithm: String,
    /// Number of ranks
    #[arg(long, value_name = "N", default_value = "8", value_parser = whole::<u32>(1..))]
    pub ranks: u32,
    /// A parameter of the algorithm; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub parameters: Vec<String>,
    /// The parameter n: short for --param n=N
    #[arg(long = "n", value_name = "N")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub n: Option<u32>,
    /// Elements of a rank's vector; where ranks exchange parts, of a part
    #[arg(long, value_name = "E", default_value = "16")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub elements: u32,
    /// The root of a broadcast or reduction
    #[arg(long, value_name = "RANK", default_value = "0")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub root: u32,
    /// The node of each rank, for hierarchical algorithms: 0,0,1,1,2
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(value_parser = whole::<u32>(0..))]
    pub nodes: Vec<u32>,
}

/// The collective operations that have algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "each is the MPI function of that name")]
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

impl From<OperationName> for Collective {
    fn from(name: OperationName) -> Collective {
        match name {
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
