//! This process among the ranks of its job: who they are, who shares its node, and what they all know alike.

use crate::agreement::{self, Told};
use crate::card::{Card, ENABLED, FENCES, READS, STRICT, THREADED};
use crate::clock::{self, Ticks};
use crate::cores;
use crate::deferral;
use crate::plan::NodeFacts;
use crate::scheduled::Scheduled;
use crate::tally::Timeline;
use crate::wait::{Policy, Waiting};
use evenkeel_options as options;
use crate::message::stamp::Stamp;
use evenkeel_segment::arena::{Arena, Block, PROCESSES, WORLD};
use evenkeel_segment::bell::Fencing;
use evenkeel_segment::process::{self, Watched};
use evenkeel_segment::channel::Channels;
use evenkeel_table::place::{self, InUse};
use evenkeel_table::{Situation, Table, Trouble};
use evenkeel_segment::{Board, Geometry, Mapped, Segment, memory, peer};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

static PROBE: AtomicU64 = AtomicU64::new(0x0123_4567_89ab_cdef);

/// Address space of a segment; pages are taken as they are touched.
const SEGMENT_BYTES: [usize; 3] = [64 << 30, 4 << 30, 256 << 20];

/// State of a process in the segment's table.
const JOINED: u64 = 1;
const LEFT: u64 = 2;

/// One other rank of this node.
pub struct Neighbour {
    pub world_rank: usize,
    pub pid: u32,
    watched: OnceLock<Watched>,
}

pub struct World {
    pub segment: Segment,
    pub me: usize,
    pub ranks: usize,
    /// Per world rank: its place on this node, or None if it is elsewhere or did not join.
    local: Vec<Option<usize>>,
    /// The ranks of this node, in world order, this one included.
    pub neighbours: Vec<Neighbour>,
    pub my_place: usize,
    pub facts: NodeFacts,
    pub fencing: Fencing,
    pub waiting: Waiting,
    pub patience_ns: u64,
    pub threaded: bool,
    pub recording: bool,
    pub began: Ticks,
    pub began_cpu_ns: u64,
    pub timeline: Timeline,
    /// By which schedules barriers are run, if all ranks of this node have the same table and can use it.
    table: Option<Table>,
}

static WORLD_POINTER: AtomicPtr<World> = AtomicPtr::new(std::ptr::null_mut());

/// The world of this process, once `agree` has said that there is one.
#[inline(always)]
pub fn world() -> Option<&'static World> {
    // SAFETY: set once to a leaked box, or back to null; never freed.
    unsafe { WORLD_POINTER.load(Ordering::Acquire).as_ref() }
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
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()); // nobody to tell if that fails
}

pub fn notes() -> Vec<String> {
    NOTES.lock().unwrap_or_else(|e| e.into_inner()).clone()
}

/// The world in the making: between the exchange of cards and the agreement.
pub struct Candidate {
    card: Card,
    offered: Option<Segment>,
    joined: Option<Segment>,
    cards: Vec<Card>,
    me: usize,
    threaded: bool,
    reads: bool,
    table: Result<Option<InUse>, Trouble>,
}

impl Candidate {
    /// Prepares this process's card. `interface` is the number of the shim's interface.
    pub fn begin(interface: u32, threaded: bool) -> Candidate {
        clock::calibrate();
        let mut card = Card { interface, version: version_hash(), pid: std::process::id(), descriptor: -1, ..Card::default() };
        let mut offered = None;
        let table = place::in_force();
        if let Ok(Some(in_use)) = &table {
            card.table = in_use.fingerprint;
        }
        if deferral::Mode::from_environment().is_ok_and(|mode| mode == deferral::Mode::Strict) {
            card.flags |= STRICT;
        }
        if threaded {
            card.flags |= THREADED;
        }
        if !options::OFF.is_on() {
            card.token = token();
            for bytes in SEGMENT_BYTES {
                match Segment::create(bytes, card.token) {
                    Ok(segment) => {
                        card.descriptor = segment.descriptor().unwrap_or(-1);
                        card.flags |= ENABLED;
                        offered = Some(segment);
                        break;
                    }
                    Err(e) if bytes == SEGMENT_BYTES[2] => note(&format!("{e}; leaving all collectives to the host library")),
                    Err(_) => {} // a smaller one may do
                }
            }
        }
        if memory::register_for_fences() {
            card.flags |= FENCES;
        }
        if options::CMA.get() != "off" {
            peer::allow_readers();
            card.flags |= READS;
        }
        card.session = cores::scheduled_session();
        card.boot = hash_file("/proc/sys/kernel/random/boot_id");
        card.pid_namespace = hash_link("/proc/self/ns/pid");
        card.probe = PROBE.as_ptr() as u64;
        card.quota = cores::quota().map_or(0, |q| (q * 1000.0) as u32);
        for core in cores::allowed() {
            if core < 256 {
                card.cores[core / 64] |= 1 << (core % 64);
            }
        }
        Candidate { card, offered, joined: None, cards: Vec::new(), me: 0, threaded, reads: false, table }
    }

    pub fn card(&self) -> Card {
        self.card
    }

    pub fn is_enabled(&self) -> bool {
        self.card.flags & ENABLED != 0
    }

    fn same_node(&self, other: &Card) -> bool {
        other.boot == self.card.boot && other.pid_namespace == self.card.pid_namespace
    }

    /// Opens the segment of the lowest rank on this node. Bit 0 of the answer: it worked; bit 1: direct reads work.
    pub fn join(&mut self, cards: &[Card], me: usize) -> u8 {
        self.cards = cards.to_vec();
        self.me = me;
        if !self.is_enabled() {
            return 0;
        }
        let enabled = |c: &Card| c.flags & ENABLED != 0;
        if let Some(r) = cards.iter().position(|c| enabled(c) && (c.interface, c.version) != (self.card.interface, self.card.version)) {
            if me == 0 || !(0..me).any(|q| enabled(&cards[q])) {
                note(&format!(
                    "rank {r} runs another version of evenkeel than rank {me}; leaving all collectives to the host library. \
                     Make every rank load the same shim"
                ));
            }
            return 0;
        }
        let leader = cards.iter().position(|c| enabled(c) && self.same_node(c)).expect("this rank's card is among them");
        let segment = if leader == me {
            self.offered.take().ok_or(None)
        } else {
            let card = &cards[leader];
            Segment::open(card.pid, card.descriptor, card.token).map_err(Some)
        };
        match segment {
            Ok(segment) => {
                if leader == me {
                    let here = cards.iter().filter(|c| self.same_node(c)).count();
                    Arena::new(&segment, room_for_blocks(&segment, cards.len())).prepare(here);
                }
                self.joined = Some(segment);
            }
            Err(cause) => {
                if let Some(e) = cause {
                    note(&format!("rank {me}: {e}; communicators with this rank are left to the host library"));
                }
                return 0;
            }
        }
        self.reads = self.try_direct_read();
        1 | (self.reads as u8) << 1
    }

    /// Reads the probe of the next rank on this node.
    fn try_direct_read(&self) -> bool {
        if self.card.flags & READS == 0 {
            return false;
        }
        let n = self.cards.len();
        let next = (1..=n).map(|d| (self.me + d) % n).find(|&r| self.same_node(&self.cards[r])).unwrap_or(self.me);
        let mut seen = 0u64;
        let card = &self.cards[next];
        // SAFETY: reads eight bytes into a local.
        let read = unsafe { peer::read(card.pid, card.probe, (&raw mut seen).cast(), 8) };
        read.is_ok() && seen == PROBE.load(Ordering::Relaxed)
    }

    /// Makes the world from everybody's answers to `join`; None if this rank takes no part.
    pub fn agree(mut self, answers: &[u8]) -> Option<&'static World> {
        let mut segment = self.joined.take()?;
        let here: Vec<usize> = (0..self.cards.len())
            .filter(|&r| self.same_node(&self.cards[r]) && answers[r] & 1 != 0)
            .take(PROCESSES)
            .collect();
        segment.close_file();
        if !here.contains(&self.me) {
            return None;
        }
        let mut local = vec![None; self.cards.len()];
        for (place, &rank) in here.iter().enumerate() {
            local[rank] = Some(place);
        }
        let my_place = local[self.me]?;
        Arena::new(&segment, room_for_blocks(&segment, self.cards.len())).process_state(my_place).store(JOINED, Ordering::Release);
        let all = |flag: u32| here.iter().all(|&r| self.cards[r].flags & flag != 0);
        let union = here.iter().fold([0u64; 4], |mut u, &r| {
            u.iter_mut().zip(self.cards[r].cores).for_each(|(a, b)| *a |= b);
            u
        });
        let unbound = here.iter().all(|&r| self.cards[r].cores == union);
        let node_cores: usize = union.iter().map(|w| w.count_ones() as usize).sum();
        let quota = here.iter().map(|&r| self.cards[r].quota).filter(|&q| q > 0).min();
        let facts = NodeFacts {
            cores: cores::usable(node_cores.max(1), quota.map(|q| q as f64 / 1000.0)),
            direct_reads: all(READS) && here.iter().all(|&r| answers[r] & 2 != 0),
        };
        let placing = options::PLACE.get();
        if unbound && placing != "none" {
            let allowed = cores::allowed();
            if let Some(mine) = cores::share(&allowed, my_place, here.len()) {
                cores::bind(&mine);
                if placing != "bind" {
                    // The rank has moved to its share; from here on the system may move it again. A rank that must stay
                    // beside a stranger's busy process starves, and all others wait for it.
                    cores::bind(&allowed);
                }
            }
        }
        let policy = Policy::from_environment().unwrap_or_else(|sentence| {
            if self.me == 0 {
                note(&sentence);
            }
            Policy::Auto
        });
        let may_run_schedules = |r: usize| self.cards[r].flags & (STRICT | THREADED) == STRICT;
        let told: Vec<Told> =
            here.iter().map(|&rank| Told { rank, fingerprint: self.cards[rank].table, may_run_schedules: may_run_schedules(rank) }).collect();
        let (table, sentence) = agreement::agree(&told, self.table);
        if let Some(sentence) = sentence.filter(|_| self.me == here[0]) {
            note(&sentence);
        }
        let world = World {
            segment,
            me: self.me,
            ranks: self.cards.len(),
            local,
            neighbours: here
                .iter()
                .map(|&r| Neighbour { world_rank: r, pid: self.cards[r].pid, watched: OnceLock::new() })
                .collect(),
            my_place,
            facts,
            fencing: if all(FENCES) { Fencing::Sleeper } else { Fencing::Both },
            waiting: Waiting {
                policy,
                ranks: here.len(),
                cores: facts.cores,
                yield_works: here.iter().all(|&r| self.cards[r].session == self.cards[here[0]].session),
            },
            patience_ns: options::PATIENCE_MS.get().parse::<u64>().unwrap_or(200).max(1) * 1_000_000,
            threaded: self.threaded,
            recording: options::RECORD.is_on(),
            began: Ticks::now(),
            began_cpu_ns: clock::process_cpu_ns(),
            timeline: Timeline::default(),
            table,
        };
        let world = Box::leak(Box::new(world));
        WORLD_POINTER.store(world, Ordering::Release);
        Some(world)
    }
}

impl World {
    /// By which schedule barriers of a communicator of so many ranks of this node are run; None: in the built-in way.
    pub fn scheduled(&self, ranks: usize) -> Option<Scheduled> {
        let schedule = self.table.as_ref()?.barrier(ranks, Situation { ranks_here: self.neighbours.len(), cores: self.facts.cores })?;
        let name = schedule.name();
        Scheduled::new(schedule).map_err(|why| note(&format!("the table's schedule {name} for {ranks} ranks cannot be run: {why}; the built-in way is used"))).ok()
    }

    pub fn arena(&self) -> Arena<'_, Segment> {
        Arena::new(&self.segment, room_for_blocks(&self.segment, self.ranks))
    }

    /// The channels between all ranks; None if not all share this node, or if there is no room for channels.
    pub fn channels(&self) -> Option<Channels> {
        Channels::new(self.ranks, self.segment.bytes()).filter(|_| self.neighbours.len() == self.ranks)
    }

    /// Whether all members of a communicator have entered a barrier, which this process may not know, not know yet, or not know
    /// any more: what the segment says. `seen`: members that are known to have entered it; a later look at the same barrier goes on there.
    pub fn is_complete(&self, stamp: Stamp, seen: &mut usize) -> bool {
        let Some(block) = Block::from_id(stamp.comm) else { return true };
        let board = Board { memory: self.segment.at(block.offset()), geometry: Geometry::new(stamp.ranks as usize), fencing: Fencing::Both };
        // In another use of its block it is gone, which all members have agreed to, after its last barrier.
        !self.arena().is_current(block) || board.all_entered(stamp.number, seen)
    }

    /// How the two sides of those bells agree; see `fencing` in [`crate::comm`].
    pub fn message_fencing(&self) -> Fencing {
        if self.ranks == 2 { self.fencing } else { Fencing::Both }
    }

    /// The bell of a process, for those who wait for messages.
    pub fn bell(&self, channels: &Channels, place: usize) -> Mapped {
        self.segment.at(channels.bell(place))
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
        self.arena().process_state(self.my_place).store(LEFT, Ordering::Release);
    }

    /// Whether one of the other ranks at `places` is running or ready to run, as far as that can be told at little cost.
    pub fn anybody_runs(&self, places: &[usize]) -> bool {
        const FEW: usize = 8;
        // Of a process with threads the kernel tells about the first one only, which may not be the one in MPI.
        let others = || places.iter().filter(|&&p| p != self.my_place);
        self.threaded || others().count() > FEW || others().any(|&p| process::is_runnable(self.neighbours[p].pid))
    }

    /// Ends this process with a sentence if one of the ranks at `places` has died.
    pub fn check_alive(&self, places: impl Iterator<Item = usize>, doing: &str) {
        for place in places {
            let neighbour = &self.neighbours[place];
            if place == self.my_place || !neighbour.watched.get_or_init(|| Watched::new(neighbour.pid)).is_dead() {
                continue;
            }
            if self.arena().process_state(place).load(Ordering::Acquire) == LEFT {
                continue; // it has done its part in everything and ended in good order
            }
            let (rank, pid) = (neighbour.world_rank, neighbour.pid);
            self.end(&format!(
                "rank {rank} (process {pid}) has died while rank {} waits in MPI_{doing}; ending this job. \
                 Look for what rank {rank} wrote last, or at its exit status",
                self.me
            ));
        }
    }

    /// Prints a sentence and ends this process; only the first of the node's ranks to get here prints.
    pub fn end(&self, sentence: &str) -> ! {
        // The state word of the last place doubles as "the end has been announced" (bit 8).
        let word = self.arena().process_state(PROCESSES - 1);
        if word.fetch_or(1 << 8, Ordering::AcqRel) & 1 << 8 == 0 {
            say(sentence);
        }
        // SAFETY: flushes what the program has printed; then leaves without running handlers that might wait for peers.
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

/// The part of the segment that is handed out in blocks: what is above are channels, if there is room for these.
fn room_for_blocks(segment: &Segment, ranks: usize) -> usize {
    Channels::new(ranks, segment.bytes()).map_or(segment.bytes(), |c| c.start())
}

fn token() -> u64 {
    clock::monotonic_ns().rotate_left(20) ^ (std::process::id() as u64) << 40 ^ PROBE.as_ptr() as u64
}

fn version_hash() -> u32 {
    hash(concat!(env!("CARGO_PKG_VERSION"), " layout 4").as_bytes()) as u32
}

fn hash_file(path: &str) -> u64 {
    std::fs::read(path).map_or(0, |bytes| hash(&bytes))
}

fn hash_link(path: &str) -> u64 {
    std::fs::read_link(path).map_or(0, |target| hash(target.as_os_str().as_encoded_bytes()))
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ b as u64).wrapping_mul(0x100_0000_01b3))
}
