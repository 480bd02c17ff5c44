//! A network cannot be routed, simulated or led from tables to tables.

use super::PlotError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a command of `evenkeel route` refuses.
#[derive(Debug, Error)]
pub enum RouteError {
    /// Commands without a help text that says more.
    #[error("cannot route: {0}. `evenkeel route --help` and the --help of its commands show examples.")]
    Route(#[from] RouteReason),
    /// `evenkeel route simulate`.
    #[error("cannot simulate this network: {0}. `evenkeel route simulate --help` shows examples.")]
    Simulate(RouteReason),
    /// `evenkeel route plan`.
    #[error("cannot plan this: {0}. `evenkeel route plan --help` shows examples.")]
    Plan(RouteReason),
}

/// The obstacle.
#[derive(Debug, Error)]
pub enum RouteReason {
    /// A file that cannot be read.
    #[error("{} cannot be read: {why}", .file.display())]
    NotReadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A file that holds no network.
    #[error("{} is not a network: {why}", .file.display())]
    NotANetwork {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file that holds no tables.
    #[error("{} holds no tables: {why}", .file.display())]
    NotTables {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Tables that belong to another network, or lack paths.
    #[error(
        "the tables of {} connect {whole} of {pairs} pairs of end nodes; they name {switches} switches and, \
         in {destinations} entries, destinations that the network does not have. Give the tables of this \
         network; `evenkeel route check` lists what is missing", .file.display()
    )]
    OtherTables {
        /// The file.
        file: PathBuf,
        /// Ordered pairs of end nodes with a path.
        whole: u64,
        /// All ordered pairs of end nodes.
        pairs: u64,
        /// Switches in the file that the network does not have.
        switches: usize,
        /// Entries for destinations that the network does not have.
        destinations: usize,
    },
    /// Two networks whose switches cannot be matched.
    #[error(
        "{} has no GUIDs for all of its switches and adapters, so it is unknown which of them is which in \
         the other network. Give both networks as `ibnetdiscover` prints them", .file.display()
    )]
    NoGuids {
        /// The file.
        file: PathBuf,
    },
    /// A network that is not connected.
    #[error("{} is in pieces: no tables can connect all of its switches", .file.display())]
    InPieces {
        /// The file.
        file: PathBuf,
    },
    /// A network without traffic.
    #[error("{} has fewer than two end nodes, so there is nothing to send", .file.display())]
    TooFewEndNodes {
        /// The file.
        file: PathBuf,
    },
    /// InfiniBand has 49,151 addresses.
    #[error("there are more destinations than addresses")]
    TooManyDestinations,
    /// A network that cannot be made.
    #[error("{0}")]
    Generator(String),
    /// `--effort`.
    #[error("--effort must be above 0 and at most 1000")]
    Effort,
    /// `--lanes` with a scheme that uses one.
    #[error("only the scheme `ascending` uses several lanes; `{scheme}` uses one")]
    OneLaneOnly {
        /// The scheme.
        scheme: String,
    },
    /// The exhaustive scheme on a large network.
    #[error("all orders can be tried for at most {most} switches, and there are {switches}")]
    TooManySwitches {
        /// The most switches.
        most: usize,
        /// The switches of the network.
        switches: usize,
    },
    /// The adaptive scheme with one lane.
    #[error("adaptive routing needs a second lane to escape on: give it two lanes or more")]
    AdaptiveNeedsTwoLanes,
    /// OpenSM or ibsim.
    #[error(transparent)]
    OpenSm(#[from] OpenSmError),
    /// No directory for temporary files.
    #[error("no directory for OpenSM's files can be made: {0}")]
    ScratchDirectory(std::io::Error),
    /// OpenSM is missing although it was asked for.
    #[error("{missing}; install the Debian packages opensm and ibsim-utils, or {without}")]
    OpenSmNeeded {
        /// What is missing.
        missing: OpenSmError,
        /// How to do without it.
        without: &'static str,
    },
    /// OpenSM set other tables than it was given.
    #[error("OpenSM changed the tables that it was given")]
    ChangedByOpenSm,
    /// Parameters of the simulation that make no sense.
    #[error("{0}")]
    Parameters(String),
    /// `--load` of a simulation.
    #[error("a load must be above 0 and at most 1: a host's channel carries one phit in a cycle")]
    Load,
    /// `--lfts` with several networks.
    #[error("tables belong to one network: give one")]
    TablesOfOneNetwork,
    /// The simulator stopped.
    #[error("{0}")]
    Halted(String),
    /// No steps lead from the current tables to new ones.
    #[error("{0}")]
    NoUpdatePlan(String),
    /// A step that the checker refuses.
    #[error("step {step} would be wrong: {why}")]
    WrongStep {
        /// Counted from 1.
        step: usize,
        /// What the checker found.
        why: String,
    },
    /// `--switch` or `--also`.
    #[error("there is no switch {number}: they are 0 to {last}")]
    NoSuchSwitch {
        /// As given.
        number: u32,
        /// The last switch.
        last: usize,
    },
    /// `--switch` and `--also`.
    #[error("switch {0} is named twice")]
    SwitchTwice(u32),
    /// Without these switches the network would not be connected.
    #[error("without switch {0} the network would be in pieces")]
    NeededSwitch(String),
    /// `--apart`.
    #[error(
        "the last switch would go when the first one comes back: --apart, times the switches of --also, must \
         be less than --each"
    )]
    ApartTooLong,
    /// `--loss`, `--load` and `--each` of a reconfiguration.
    #[error("--loss must be from 0 to 0.9, --load above 0 and at most 1, and --each {windows} or more")]
    ReconfigurationRanges {
        /// The least value of `--each`.
        windows: u64,
    },
    /// The plot library refuses.
    #[error("the plot could not be drawn ({0})")]
    Plot(PlotError),
}

/// Why OpenSM did not do its part.
#[derive(Debug, Error)]
pub enum OpenSmError {
    /// A program is not installed.
    #[error("there is no `{0}`")]
    NoProgram(&'static str),
    /// The simulator of the switches.
    #[error("ibsim: {0}")]
    Ibsim(String),
    /// OpenSM itself.
    #[error("OpenSM's engine `{engine}`: {why}")]
    Engine {
        /// The routing engine.
        engine: String,
        /// What happened.
        why: String,
    },
}
