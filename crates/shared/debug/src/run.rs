//! A run: the calls of all ranks in the order of time, on one clock.

use crate::collectives::Collectives;
use crate::functions::Function;
use crate::messages::Messages;
pub use crate::place::Place;
use evenkeel_trace::times::file::{Module, Site};
use evenkeel_trace::times::shape::Shape;

/// The calls of a thread of a rank, one after the other. A rank whose main thread alone calls MPI is one
/// lane.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// The rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// The thread, 0 for the one that has called `MPI_Init`.
    pub thread: u32,
    /// When the rank began, ns since the first one did.
    pub starts: i64,
    /// When each call began, ns.
    pub begin: Vec<i64>,
    /// When each call ended, ns; not before it began, nor after the next one begins.
    pub end: Vec<i64>,
    /// Which of [`Run::shapes`].
    pub shape: Vec<u32>,
    /// The rank ended in the last call.
    pub is_open: bool,
}

impl Lane {
    /// How many calls.
    pub fn calls(&self) -> usize {
        self.begin.len()
    }

    /// How many calls began before a moment.
    pub fn before(&self, at: i64) -> usize {
        self.begin.partition_point(|&begin| begin < at)
    }

    /// When the last call ended.
    pub fn ends(&self) -> i64 {
        self.end.last().copied().unwrap_or(self.starts)
    }
}

/// A rank's process.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Where it ran.
    pub host: String,
    /// Its number there.
    pub process: u32,
    /// Why its calls are not all there; empty if they are.
    pub remark: String,
}

/// A communicator.
#[derive(Clone, Debug, Default)]
pub struct Communicator {
    /// What is shown.
    pub name: String,
    /// World ranks of its members, and of the remote group.
    pub members: Vec<i32>,
    /// Empty for an intracommunicator.
    pub remote: Vec<i32>,
}

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodePlace {
    /// What is shown: `solve solver.c:77`, or as much as is known.
    pub name: String,
    /// The file with the source, as the debug information names it; empty if it is not known.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

/// All that is known of a run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// In the order of ranks, and of threads.
    pub lanes: Vec<Lane>,
    /// By rank.
    pub processes: Vec<Process>,
    /// Names of functions.
    pub functions: Vec<String>,
    /// What the names mean.
    pub meanings: Vec<Function>,
    /// What calls have in common; numbers in it are those of this run.
    pub shapes: Vec<Shape>,
    /// Files with code.
    pub modules: Vec<Module>,
    /// Where MPI was called.
    pub sites: Vec<Site>,
    /// The same, looked up; empty before that.
    pub places: Vec<CodePlace>,
    /// By number.
    pub communicators: Vec<Communicator>,
    /// Which receive took which message.
    pub messages: Messages,
    /// Which calls were one collective.
    pub collectives: Collectives,
    /// Hosts whose clocks were not compared.
    pub hosts: usize,
}

impl Run {
    /// When the last call ended, ns since the first rank began.
    pub fn length(&self) -> i64 {
        self.lanes.iter().map(Lane::ends).max().unwrap_or(0)
    }

    /// How many calls.
    pub fn calls(&self) -> usize {
        self.lanes.iter().map(Lane::calls).sum()
    }

    /// When a call began.
    pub fn begin(&self, place: Place) -> i64 {
        self.lanes[place.lane as usize].begin[place.call as usize]
    }

    /// When a call ended.
    pub fn end(&self, place: Place) -> i64 {
        self.lanes[place.lane as usize].end[place.call as usize]
    }

    /// What is known of a call.
    pub fn shape(&self, place: Place) -> &Shape {
        &self.shapes[self.lanes[place.lane as usize].shape[place.call as usize] as usize]
    }

    /// The function of a call.
    pub fn function(&self, place: Place) -> &Function {
        &self.meanings[self.shape(place).function as usize]
    }

    /// The name of the function of a call.
    pub fn name(&self, place: Place) -> &str {
        &self.functions[self.shape(place).function as usize]
    }

    /// Where a call was made: empty if it is not known.
    pub fn site(&self, place: Place) -> &str {
        self.places.get(self.shape(place).site as usize).map_or("", |place| place.name.as_str())
    }

    /// The rank of a lane.
    pub fn rank(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].rank
    }

    /// What a lane is called: `rank 3`, or `rank 3, thread 1`.
    pub fn lane_name(&self, lane: u32) -> String {
        match &self.lanes[lane as usize] {
            Lane { rank, thread: 0, .. } => format!("rank {rank}"),
            Lane { rank, thread, .. } => format!("rank {rank}, thread {thread}"),
        }
    }

    /// The place with these numbers, if there is one.
    pub fn place(&self, lane: u32, call: u32) -> Option<Place> {
        let known = self.lanes.get(lane as usize)?;
        ((call as usize) < known.calls()).then_some(Place { lane, call })
    }

    /// The world rank of a peer in a communicator, as a member of its first group sees it.
    pub fn world_rank(&self, comm: u32, peer: i32) -> Option<u32> {
        let comm = self.communicators.get(comm as usize)?;
        let rank = *comm.members.get(usize::try_from(peer).ok()?)?;
        u32::try_from(rank).ok()
    }
}
