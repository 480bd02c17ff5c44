//! This process among the ranks of its job: who they are, who shares its node, and what they all know alike.

use crate::barrier::scheduled::Scheduled;
use crate::clock::Ticks;
use crate::collective::plan::NodeFacts;
use crate::job::agent_link::Job;
use crate::job::neighbour::Neighbour;
use crate::message::visibility::Stamp;
use crate::record::tally::Timeline;
use crate::wait::settings::Waiting;
use evenkeel_barrier_table::{BarrierTable, RankPlacement};
use evenkeel_segment::block::{Block, BlockAllocator, WORLD};
use evenkeel_segment::channel::Channels;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::process::{self, WatchedProcess};
use evenkeel_segment::{Board, Geometry, Mapped, NodeStatus, Segment};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock};

pub struct World {
    pub segment: Segment,
    pub me: usize,
    pub ranks: usize,
    /// Per world rank: its place on this node, or None if it is elsewhere or did not join.
    pub(crate) local: Vec<Option<usize>>,
    /// The ranks of this node, in world order, this one included.
    pub neighbours: Vec<Neighbour>,
    pub my_place: usize,
    pub facts: NodeFacts,
    pub fencing: Fencing,
    /// Barriers may be deferred by any rank of this node, and every process can be made to execute a fence:
    /// entering one takes none.
    pub enters_unfenced: bool,
    pub waiting: Waiting,
    pub patience_ns: u64,
    pub threaded: bool,
    pub recording: bool,
    pub began: Ticks,
    pub began_cpu_ns: u64,
    pub timeline: Timeline,
    /// By which schedules barriers are run, if all ranks of this node have the same table and can use it.
    pub(crate) table: Option<BarrierTable>,
    /// The job's nodes, once their agents are there.
    pub(crate) job: OnceLock<Job>,
    /// Set where the host reports faults to the program.
    pub(crate) reports_faults: OnceLock<()>,
}

static WORLD_POINTER: AtomicPtr<World> = AtomicPtr::new(std::ptr::null_mut());

/// The world of this process, once [`Candidate::agree`](crate::job::bootstrap::Candidate::agree) has said
/// that there is one.
#[inline(always)]
pub fn world() -> Option<&'static World> {
    // SAFETY: set once to a leaked box, or back to null; never freed.
    unsafe { WORLD_POINTER.load(Ordering::Acquire).as_ref() }
}

/// From here on this process has a world.
pub(crate) fn enter(world: World) -> &'static World {
    let world = Box::leak(Box::new(world));
    WORLD_POINTER.store(world, Ordering::Release);
    world
}

/// Sentences for the record; each is printed once.
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps a sentence for the record and prints it, once a process.
pub fn note(sentence: &str) {
    let mut notes = NOTES.lock().unwrap_or_else(|e| e.into_inner());
    if !notes.iter().any(|n| n == sentence) {
        say(sentence);
        notes.push(sentence.to_string());
    }
}

/// Prints a sentence in one piece: several ranks may speak at once.
fn say(sentence: &str) {
    let line = format!("evenkeel: {sentence}\n");
    // nobody to tell if that fails
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

pub fn notes() -> Vec<String> {
    NOTES.lock().unwrap_or_else(|e| e.into_inner()).clone()
}

impl World {
    /// By which schedule barriers of a communicator of so many ranks of this node are run; None: in the
    /// built-in way.
    pub fn scheduled(&self, ranks: usize) -> Option<Scheduled> {
        let schedule = self
            .table
            .as_ref()?
            .barrier(ranks, RankPlacement { ranks_here: self.neighbours.len(), cores: self.facts.cores })?;
        let name = schedule.name();
        Scheduled::new(schedule).map_err(|why| note(&format!("the table's schedule {name} for {ranks} ranks cannot be run: {why}; the built-in way is used"))).ok()
    }

    pub fn blocks(&self) -> BlockAllocator<'_, Segment> {
        BlockAllocator::new(&self.segment, room_for_blocks(&self.segment, self.ranks))
    }

    /// What the processes of this node tell each other about themselves.
    pub fn status(&self) -> NodeStatus<'_, Segment> {
        NodeStatus::new(&self.segment)
    }

    /// The channels between all ranks; None if not all share this node, or if there is no room for channels.
    pub fn channels(&self) -> Option<Channels> {
        Channels::new(self.ranks, self.segment.bytes()).filter(|_| self.neighbours.len() == self.ranks)
    }

    /// Whether all members of a communicator have entered a barrier, which this process may not know, not
    /// know yet, or not know any more: what the segment says. `seen`: members that are known to have
    /// entered it; a later look at the same barrier goes on there.
    pub fn is_complete(&self, stamp: Stamp, seen: &mut usize) -> bool {
        let Some(block) = Block::from_id(stamp.comm) else { return true };
        let board = Board {
            memory: self.segment.at(block.offset()),
            geometry: Geometry::new(stamp.ranks as usize),
            fencing: Fencing::Both,
        };
        // In another use of its block it is gone, which all members have agreed to, after its last barrier.
        !self.blocks().is_current(block) || board.all_entered(stamp.number, seen)
    }

    /// How the two sides of those bells agree; see `fencing` in [`crate::comm::shared`].
    pub fn message_fencing(&self) -> Fencing {
        if self.ranks == 2 { self.fencing } else { Fencing::Both }
    }

    /// The bell of a process, for those who wait for messages.
    pub fn eventcount(&self, channels: &Channels, place: usize) -> Mapped {
        self.segment.at(channels.eventcount(place))
    }

    /// The place of a world rank on this node.
    pub fn place_of(&self, world_rank: usize) -> Option<usize> {
        *self.local.get(world_rank)?
    }

    /// Id of COMM_WORLD: 0 if not all its ranks share this node.
    pub fn world_comm_id(&self) -> u64 {
        if self.ranks > 1 && self.neighbours.len() == self.ranks { WORLD.id() } else { 0 }
    }

    /// Says that this process will take no further part.
    pub fn leave(&self) {
        self.status().set_left(self.my_place);
    }

    /// Whether the rank at a place of this node has done its part in everything.
    pub fn has_left(&self, place: usize) -> bool {
        self.status().has_left(place)
    }

    /// Whether one of the other ranks at `places` is running or ready to run, as far as that can be told at
    /// little cost.
    pub fn anybody_runs(&self, places: &[usize]) -> bool {
        const FEW: usize = 8;
        // Of a process with threads the kernel tells about the first one only, which may not be the one in
        // MPI.
        let others = || places.iter().filter(|&&p| p != self.my_place);
        self.threaded
            || others().count() > FEW
            || others().any(|&p| process::is_runnable(self.neighbour(p).pid))
    }

    /// The process at a place of this node; the agent's place comes after those of the ranks.
    pub(crate) fn neighbour(&self, place: usize) -> &Neighbour {
        self.neighbours
            .get(place)
            .unwrap_or_else(|| &self.job().expect("places after the ranks' are of agents").agent)
    }

    /// Whether the host reports a rank's death to the program, so that nobody is ended because of it.
    pub fn reports_faults(&self) -> bool {
        self.reports_faults.get().is_some()
    }

    /// To be said before there is any communicator, by all ranks or by none.
    pub fn report_faults(&self) {
        let _ = self.reports_faults.set(());
    }

    /// Whether a rank of this node has died before it had done its part; no, of ranks elsewhere.
    pub fn has_died(&self, world_rank: usize) -> bool {
        self.place_of(world_rank).is_some_and(|place| self.anybody_has_died(&[place]))
    }

    /// Whether a rank at one of these places of this node has died before it had done its part.
    pub(crate) fn anybody_has_died(&self, places: &[usize]) -> bool {
        let has_died = |place: usize| {
            let neighbour = self.neighbour(place);
            neighbour.watched.get_or_init(|| WatchedProcess::new(neighbour.pid)).is_dead()
                && !self.has_left(place)
        };
        places.iter().any(|&place| place != self.my_place && has_died(place))
    }

    /// Ends this process with a sentence if one of the ranks at `places` has died, or their agent, or a node.
    pub fn check_alive(&self, places: impl Iterator<Item = usize>, doing: &str) {
        self.check_nodes(doing);
        for place in places {
            let neighbour = self.neighbour(place);
            if place == self.my_place
                || !neighbour.watched.get_or_init(|| WatchedProcess::new(neighbour.pid)).is_dead()
            {
                continue;
            }
            if self.has_left(place) {
                continue; // it has done its part in everything and ended in good order
            }
            let (rank, pid) = (neighbour.world_rank, neighbour.pid);
            if place == self.neighbours.len() {
                self.end(&format!(
                    "this node's agent (process {pid}) has died while rank {} waits in MPI_{doing} for other nodes; ending this job. \
                     Look whether somebody has killed it, or the system for want of memory; EVENKEEL_NODES=library works without agents", self.me
                ));
            }
            self.end(&format!(
                "rank {rank} (process {pid}) has died while rank {} waits in MPI_{doing}; ending this job. \
                 Look for what rank {rank} wrote last, or at its exit status",
                self.me
            ));
        }
    }

    /// Prints a sentence and ends this process; only the first of the node's ranks to get here prints.
    pub fn end(&self, sentence: &str) -> ! {
        if self.status().claim_end_announcement() {
            say(sentence);
        }
        // SAFETY: flushes what the program has printed; then leaves without running handlers that might wait
        // for peers.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(EXIT_PEER_DIED)
        }
    }
}

/// Exit status of a rank that ends because another one has died.
pub const EXIT_PEER_DIED: i32 = 71;

/// In a child after fork: no world any more.
pub fn forget() {
    WORLD_POINTER.store(std::ptr::null_mut(), Ordering::Release);
}

/// The part of the segment that is handed out in blocks: what is above are channels, if there is room
/// for these.
pub(crate) fn room_for_blocks(segment: &Segment, ranks: usize) -> usize {
    Channels::new(ranks, segment.bytes()).map_or(segment.bytes(), |c| c.start())
}
