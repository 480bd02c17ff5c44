//! The command line of `evenkeel simulate`.

use super::rank_counts::RankCounts;
use super::rank_fault::RankFault;
use super::schedule_name::ScheduleName;
use crate::commands::value_parsers::{between, whole};
use clap::ValueEnum;
use evenkeel_schedule_sim::{Span, VirtualTime};
use std::path::PathBuf;

/// Arguments that mean nothing where ranks share cores.
const NOT_WITH_SHARED_CORES: &[&str] = &[
    "node",
    "multicast",
    "multi_send",
    "skew",
    "leave",
    "window",
    "noise",
    "slow",
    "stall",
    "dead",
    "svg",
    "transcript",
];

/// Simulate collective operations on machines that you do not have, with a million ranks and more
///
/// Runs a loop in virtual time: each rank computes, then calls a collective operation, again and again. The
/// operation consists of the steps of a schedule (`evenkeel schedule list`), messages cost what a model of
/// the machine says, and noise, skew and faults disturb the ranks. The same command gives the same numbers on
/// every machine.
///
/// The table says for each schedule and number of ranks:
///
/// loop: the time of one round of the loop; alone: its time if calls took no time and no rank waited (the
/// slowest rank's work and noise). The difference is what the operation costs.
///
/// completion: from when the last rank has entered a call until the last rank's steps are done. Without noise
/// this is the latency that papers print.
///
/// held: how long a rank is in a call. A rank that is late itself is held only briefly.
///
/// most late: the rank that others waited for longest, and its share of all that time.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel simulate dissemination tournament mcs:n=4 --ranks 64,1024,65536
  evenkeel simulate n-way-dissemination:n=1 n-way-dissemination:n=3 --machine L=5us,o=0.5us
  evenkeel simulate dissemination mcs --ranks 2..65536 --noise 20us/1ms --compute 100us --plot c.svg
  evenkeel simulate hierarchical --ranks 4096 --node L=100ns,o=30ns,g=10ns --ranks-per-node 64
  evenkeel simulate central-counter dissemination --ranks 2..64 --cores 2 --machine two-core-vm

Noise that was measured, ranks that leave early, and a rank that stalls:
  evenkeel noise --trace noise.json
  evenkeel simulate dissemination --ranks 1048576 --noise noise.json --compute 1ms --iterations 20
  evenkeel simulate dissemination --ranks 1024 --noise exp:20us/1ms --compute 100us --leave bypass
  evenkeel simulate dissemination -n 8 --stall 3=9us+20us --iterations 2 --compute 5us --svg s.svg

A machine is the name of a built-in set of parameters, a file, or its parameters themselves: L (latency), o \
(overhead; or os and or, of sender and receiver), g (gap between messages), G (gap per byte), as in \
L=1.5us,o=300ns,g=200ns,G=80ps. A span of time is fixed, as 10us, or random with a mean: exp:10us, \
uniform:10us, pareto:1.5:10us.")]
pub struct SimulateArguments {
    /// Schedules, with parameters if they have some: dissemination, n-way-dissemination:n=3,
    /// hierarchical:inner=mcs,n=4
    #[arg(required = true, value_name = "SCHEDULE")]
    pub schedules: Vec<ScheduleName>,
    /// Numbers of ranks: 64,1000 or 2..1024, which means 2, 4, 8, … 1024
    #[arg(short = 'n', long, value_name = "LIST", default_value = "2..1024")]
    pub ranks: RankCounts,
    /// The network between nodes: a name, a file, or L=…,o=…,g=…,G=…
    #[arg(long, value_name = "MACHINE", default_value = "L=1.5us,o=300ns,g=200ns,G=80ps")]
    #[arg(help_heading = "Machine")]
    pub machine: String,
    /// What carries messages between ranks of one node, given like --machine
    #[arg(long, value_name = "MACHINE", requires = "ranks_per_node", help_heading = "Machine")]
    pub node: Option<String>,
    /// Ranks of each node
    #[arg(long, value_name = "N", requires = "node", value_parser = whole::<u32>(1..))]
    #[arg(help_heading = "Machine")]
    pub ranks_per_node: Option<u32>,
    /// All ranks are on one machine with so many cores and take turns on them. Context switches cost time,
    /// messages cost nothing
    ///
    /// Where there are no more ranks than cores, each rank has a core, and messages cost what they do without
    /// --cores. Ranks are not disturbed, and leave when their own steps are done.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=65_536))]
    #[arg(conflicts_with_all = NOT_WITH_SHARED_CORES, help_heading = "Machine")]
    pub cores: Option<u32>,
    /// The time of a context switch, with --cores [what the machine's parameters say]
    #[arg(long, value_name = "TIME", requires = "cores", help_heading = "Machine")]
    pub switch: Option<VirtualTime>,
    /// Number of random orders in which ranks take turns on their cores, with --cores. Each simulation keeps
    /// one order, and the result depends on it
    #[arg(long, value_name = "N", default_value = "20", requires = "cores")]
    #[arg(value_parser = whole::<u32>(1..=10_000), help_heading = "Machine")]
    pub orders: u32,
    /// Where one send can reach many ranks
    #[arg(long, value_enum, default_value = "none", help_heading = "Machine")]
    pub multicast: Multicast,
    /// Network cards can send one message to several ranks
    #[arg(long, help_heading = "Machine")]
    pub multi_send: bool,
    /// Time of combining and copying per byte, in nanoseconds
    #[arg(long, value_name = "NANOSECONDS", default_value = "0.1", value_parser = between::<0, 1_000_000>)]
    #[arg(help_heading = "Machine")]
    pub work_per_byte: f64,
    /// Rounds of the loop
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole::<u32>(1..))]
    #[arg(help_heading = "Program")]
    pub iterations: u32,
    /// How long a rank computes before each call
    #[arg(long, value_name = "SPAN", default_value = "0", help_heading = "Program")]
    pub compute: Span,
    /// How late a rank begins
    #[arg(long, value_name = "SPAN", default_value = "0", help_heading = "Program")]
    pub skew: Span,
    /// Elements of the vector, for operations that have one
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Program")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub elements: u32,
    /// Bytes of an element
    #[arg(long, value_name = "N", default_value = "8", help_heading = "Program")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub element_bytes: u64,
    /// The root, for operations that have one
    #[arg(long, value_name = "RANK", default_value = "0", help_heading = "Program")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub root: u32,
    /// When ranks leave a call
    #[arg(long, value_enum, default_value = "strict", help_heading = "Program")]
    pub leave: Leave,
    /// By how many calls a rank may be ahead, with --leave bypass
    #[arg(long, value_name = "N", default_value = "64", value_parser = whole::<u32>(1..=4096))]
    #[arg(help_heading = "Program")]
    pub window: u32,
    /// When processors are away: none, LENGTH/INTERVAL, periodic:LENGTH/PERIOD, aligned:LENGTH/PERIOD, or a
    /// file of `evenkeel noise --trace`
    ///
    /// LENGTH and INTERVAL are spans: exp:20us/1ms is a random length with a mean of 20 µs after random
    /// intervals with a mean of 1 ms. An interval without a distribution has that of the length. With
    /// periodic: each rank has a phase of its own, with aligned: all ranks have the same.
    #[arg(long, value_name = "NOISE", default_value = "none", help_heading = "Disturbance")]
    pub noise: String,
    /// A rank that takes so many times as long for everything: 3=2.5
    #[arg(long, value_name = "RANK=FACTOR", help_heading = "Disturbance")]
    pub slow: Vec<RankFault>,
    /// A rank that does nothing for a while: 3=10us+20ms, beginning at 10 µs
    #[arg(long, value_name = "RANK=AT+LENGTH", help_heading = "Disturbance")]
    pub stall: Vec<RankFault>,
    /// A rank that dies: 3=50us
    #[arg(long, value_name = "RANK=AT", help_heading = "Disturbance")]
    pub dead: Vec<RankFault>,
    /// Another seed gives other random numbers
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Disturbance")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub seed: u64,
    /// Write all numbers to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Draw completion and tails against ranks, and the ranks that others waited for, to this file (SVG)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Draw what each rank does when, and all messages, to this file; for one schedule and up to 64 ranks
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub svg: Option<PathBuf>,
    /// Write what each rank does when, and all messages, as text to this file; for one schedule and up to
    /// 64 ranks
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub transcript: Option<PathBuf>,
}

/// Where one send can reach many ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Multicast {
    /// Nowhere
    None,
    /// Within a node
    Node,
    /// Between nodes
    Network,
    /// Everywhere
    All,
}

/// When ranks leave a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Leave {
    /// When their own steps are done, which they carry out themselves
    Strict,
    /// As soon as they have contributed and have what they need (in barriers: at once), while an agent that
    /// nothing disturbs carries out their steps
    Bypass,
}
