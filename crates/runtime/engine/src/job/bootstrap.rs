//! The world in the making: the card this process hands round, the segment that it joins, and what all
//! agree on.

use crate::clock::{self, Ticks};
use crate::collective::plan::NodeFacts;
use crate::deferral::pending as deferral;
use crate::job::agent_start;
use crate::job::agreement::{self, Told};
use crate::job::cores;
use crate::job::neighbour::Neighbour;
use crate::job::node::{self, World, note, room_for_blocks};
use crate::job::process_info::{ACROSS, Card, ENABLED, FENCES, READS, STRICT, THREADED};
use crate::record::tally::Timeline;
use crate::wait::settings::{Policy, Waiting};
use evenkeel_barrier_table::TableError;
use evenkeel_barrier_table::location::{self, ActiveTable};
use evenkeel_options as options;
use evenkeel_segment::block::BlockAllocator;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::layout::MAX_PROCESSES;
use evenkeel_segment::{Geometry, NodeStatus, Segment, cross_memory, membarrier};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the next rank reads to find out whether direct reads work.
static PROBE: AtomicU64 = AtomicU64::new(0x0123_4567_89ab_cdef);

/// Address space of a segment; pages are taken as they are touched.
const SEGMENT_BYTES: [usize; 3] = [64 << 30, 4 << 30, 256 << 20];

/// The world in the making: between the exchange of cards and the agreement.
pub struct Candidate {
    card: Card,
    offered: Option<Segment>,
    joined: Option<Segment>,
    cards: Vec<Card>,
    me: usize,
    threaded: bool,
    reads: bool,
    table: Result<Option<ActiveTable>, TableError>,
}

impl Candidate {
    /// Prepares this process's card. `interface` is the number of the shim's interface.
    pub fn begin(interface: u32, threaded: bool) -> Candidate {
        clock::calibrate();
        let mut card = Card {
            interface,
            version: version_hash(),
            pid: std::process::id(),
            descriptor: -1,
            ..Card::default()
        };
        let mut offered = None;
        let table = location::active_table();
        if let Ok(Some(in_use)) = &table {
            card.table = in_use.fingerprint;
        }
        if deferral::Mode::from_environment().is_ok_and(|mode| mode == deferral::Mode::Strict) {
            card.flags |= STRICT;
        }
        if threaded {
            card.flags |= THREADED;
        }
        if options::NODES.get() == "agents" {
            card.flags |= ACROSS;
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
                    Err(e) if bytes == SEGMENT_BYTES[2] => {
                        note(&format!("{e}; leaving all collectives to the host library"))
                    }
                    Err(_) => {} // a smaller one may do
                }
            }
        }
        if membarrier::register() {
            card.flags |= FENCES;
        }
        if options::CMA.get() != "off" {
            cross_memory::allow_readers();
            card.flags |= READS;
        }
        card.session = cores::scheduled_session();
        card.boot = hash_file("/proc/sys/kernel/random/boot_id");
        // What has a host name of its own is a host: MPI libraries go by that too, and virtual hosts of one
        // machine may see each other's processes.
        card.namespaces = hash_link("/proc/self/ns/pid") ^ hash_link("/proc/self/ns/uts").rotate_left(1);
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
        self.card.shares_node_with(other)
    }

    /// Opens the segment of the lowest rank on this node. Bit 0 of the answer: it worked; bit 1: direct
    /// reads work.
    pub fn join(&mut self, cards: &[Card], me: usize) -> u8 {
        self.cards = cards.to_vec();
        self.me = me;
        if !self.is_enabled() {
            return 0;
        }
        let enabled = |c: &Card| c.flags & ENABLED != 0;
        if let Some(r) = cards
            .iter()
            .position(|c| enabled(c) && (c.interface, c.version) != (self.card.interface, self.card.version))
        {
            if me == 0 || !(0..me).any(|q| enabled(&cards[q])) {
                note(&format!(
                    "rank {r} runs another version of evenkeel than rank {me}; leaving all collectives to the host library. \
                     Make every rank load the same shim"
                ));
            }
            return 0;
        }
        let leader = cards
            .iter()
            .position(|c| enabled(c) && self.same_node(c))
            .expect("this rank's card is among them");
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
                    BlockAllocator::new(&segment, room_for_blocks(&segment, cards.len()))
                        .initialize(&Geometry::new(here));
                }
                self.joined = Some(segment);
            }
            Err(cause) => {
                if let Some(e) = cause {
                    note(&format!(
                        "rank {me}: {e}; communicators with this rank are left to the host library"
                    ));
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
        let next =
            (1..=n).map(|d| (self.me + d) % n).find(|&r| self.same_node(&self.cards[r])).unwrap_or(self.me);
        let mut seen = 0u64;
        let card = &self.cards[next];
        // SAFETY: reads eight bytes into a local.
        let read = unsafe { cross_memory::read(card.pid, card.probe, (&raw mut seen).cast(), 8) };
        read.is_ok() && seen == PROBE.load(Ordering::Relaxed)
    }

    /// Makes the world from everybody's answers to `join`; None if this rank takes no part.
    pub fn agree(mut self, answers: &[u8]) -> Option<&'static World> {
        let mut segment = self.joined.take()?;
        let here: Vec<usize> = (0..self.cards.len())
            .filter(|&r| self.same_node(&self.cards[r]) && answers[r] & 1 != 0)
            .take(MAX_PROCESSES - 1) // one place is the agent's
            .collect();
        agent_start::prepare(&self.cards, answers, self.me, &segment);
        segment.close_file();
        if !here.contains(&self.me) {
            return None;
        }
        // One more for the node's agent, whose place is after those of the ranks.
        let mut local = vec![None; self.cards.len()];
        for (place, &rank) in here.iter().enumerate() {
            local[rank] = Some(place);
        }
        local.push(Some(here.len()));
        let my_place = local[self.me]?;
        NodeStatus::new(&segment).set_joined(my_place);
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
                    // The rank has moved to its share; from here on the system may move it again. A rank that
                    // must stay beside a stranger's busy process starves, and all others wait for it.
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
        let told: Vec<Told> = here
            .iter()
            .map(|&rank| Told {
                rank,
                fingerprint: self.cards[rank].table,
                may_run_schedules: may_run_schedules(rank),
            })
            .collect();
        let (table, sentence) = agreement::agree(&told, self.table);
        if let Some(sentence) = sentence.filter(|_| self.me == here[0]) {
            note(&sentence);
        }
        Some(node::enter(World {
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
            enters_unfenced: all(FENCES)
                && here.iter().all(|&r| self.cards[r].flags & (STRICT | THREADED) == 0),
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
            job: OnceLock::new(),
            reports_faults: OnceLock::new(),
        }))
    }
}

fn token() -> u64 {
    clock::monotonic_ns().rotate_left(20) ^ (std::process::id() as u64) << 40 ^ PROBE.as_ptr() as u64
}

fn version_hash() -> u32 {
    hash(concat!(env!("CARGO_PKG_VERSION"), " layout 6").as_bytes()) as u32
}

fn hash_file(path: &str) -> u64 {
    std::fs::read(path).map_or(0, |bytes| hash(&bytes))
}

fn hash_link(path: &str) -> u64 {
    std::fs::read_link(path).map_or(0, |target| hash(target.as_os_str().as_encoded_bytes()))
}

/// FNV-1a.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ b as u64).wrapping_mul(0x100_0000_01b3))
}
