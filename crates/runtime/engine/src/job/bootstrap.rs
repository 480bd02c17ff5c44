//! Connects the ranks of a node to shared memory, in `MPI_Init`.
//!
//! Between the steps the front end exchanges bytes through the host library. Each process describes itself
//! ([`Bootstrap::begin`]), opens the segment of the lowest rank on its node ([`Bootstrap::join`]), and
//! learns which ranks succeeded ([`Bootstrap::agree`]).

use super::agent_start::AgentStart;
use super::agreement;
use super::cores;
use super::liveness;
use super::members::NodeMembers;
use super::neighbour::Neighbour;
use super::node::{Node, NodeFacts, room_for_blocks};
use super::nodes::JobNodes;
use super::process_info::{
    AGENTS, DIRECT, ENABLED, FENCES, ProcessInfo, READS, STRICT, THREADED, TRIES, boot_id, namespaces,
};
use crate::clock::{self, Clock};
use crate::deferral::mode::BarrierMode;
use crate::record::host_messages::HostMessages;
use crate::record::notes::Notes;
use crate::record::timeline::Timeline;
use crate::record::waited::Waited;
use crate::wait::settings::{WaitPolicy, WaitSettings};
use evenkeel_barrier_table::TableError;
use evenkeel_barrier_table::location::{self, ActiveTable};
use evenkeel_options as options;
use evenkeel_segment::block::BlockAllocator;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::identity::{self, Identity};
use evenkeel_segment::layout::{MAX_PROCESSES, layout_number};
use evenkeel_segment::{Geometry, NodeStatus, Segment, cross_memory, membarrier};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Address space of a segment; its pages are allocated when they are touched. If the machine refuses a
/// size, the next one is tried.
const SEGMENT_BYTES: [usize; 3] = [64 << 30, 4 << 30, 256 << 20];

/// The word that other processes of the node read to find out whether direct reads work.
const PROBE: u64 = 0x0123_4567_89ab_cdef;

/// Bits of the answer to [`Bootstrap::join`]: the segment is open; direct reads work.
const HAS_SEGMENT: u8 = 1;
const HAS_READS: u8 = 2;

/// A process that is about to share memory with the others of its node.
pub struct Bootstrap {
    info: ProcessInfo,
    offered: Option<Segment>,
    joined: Option<Segment>,
    /// All processes of the job, in the order of `MPI_COMM_WORLD`.
    processes: Vec<ProcessInfo>,
    nodes: JobNodes,
    me: usize,
    threaded: bool,
    table: Result<Option<ActiveTable>, TableError>,
    clock: Clock,
    /// The word that the next rank on this node tries to read.
    probe: Box<AtomicU64>,
}

/// The result of the bootstrap.
pub struct Agreed {
    /// The node and its ranks; `None` if this rank takes no part.
    pub node: Option<Node>,
    /// The start of the agents, if the job uses agents.
    pub agents: Option<AgentStart>,
    /// The job's nodes.
    pub nodes: JobNodes,
}

impl Bootstrap {
    /// Creates a segment and describes this process. `interface` is the version of the shim's interface.
    pub fn begin(interface: u32, threaded: bool, clock: Clock, notes: &Notes) -> Bootstrap {
        let probe = Box::new(AtomicU64::new(PROBE));
        let table = location::active_table();
        let mut info = ProcessInfo {
            interface,
            version: version_hash(),
            pid: std::process::id(),
            descriptor: -1,
            flags: own_flags(threaded),
            table: table.as_ref().ok().and_then(Option::as_ref).map_or(0, |active| active.fingerprint),
            session: cores::scheduled_session(),
            boot: boot_id(),
            namespaces: namespaces(),
            probe: probe.as_ptr() as u64,
            quota: cores::quota().map_or(0, |cores| (cores * 1000.0) as u32),
            ..ProcessInfo::default()
        };
        for core in cores::allowed().into_iter().filter(|core| *core < 256) {
            info.cores[core / 64] |= 1 << (core % 64);
        }
        let offered = if options::OFF.is_on() { None } else { offer_segment(&mut info, notes) };
        Bootstrap {
            info,
            offered,
            joined: None,
            processes: Vec::new(),
            nodes: JobNodes::default(),
            me: 0,
            threaded,
            table,
            clock,
            probe,
        }
    }

    /// The description of this process for the others.
    pub fn info(&self) -> ProcessInfo {
        self.info
    }

    /// Returns whether evenkeel is switched on and can work here.
    pub fn is_enabled(&self) -> bool {
        self.info.flags & ENABLED != 0
    }

    fn is_on_this_node(&self, other: &ProcessInfo) -> bool {
        self.info.shares_node_with(other)
    }

    /// Opens the segment of the lowest rank on this node, and returns this process's answer for the others.
    pub fn join(&mut self, processes: &[ProcessInfo], me: usize, notes: &Notes) -> u8 {
        self.processes = processes.to_vec();
        self.nodes = JobNodes::of(processes);
        self.me = me;
        if !self.is_enabled() || !self.is_one_version(notes) {
            return 0;
        }
        let takes_part = |p: &ProcessInfo| p.flags & ENABLED != 0 && self.is_on_this_node(p);
        let leader = processes.iter().position(takes_part).expect("this process takes part");
        let segment = if leader == me {
            let Some(segment) = self.offered.take() else { return 0 };
            let here = processes.iter().filter(|p| self.is_on_this_node(p)).count();
            BlockAllocator::new(&segment, room_for_blocks(&segment, processes.len()))
                .initialize(&Geometry::new(here));
            segment
        } else {
            let ProcessInfo { pid, descriptor, token, .. } = processes[leader];
            match Segment::open(pid, descriptor, token) {
                Ok(segment) => segment,
                Err(error) => {
                    notes.add(&format!(
                        "rank {me}: {error}; communicators with this rank are left to the host library"
                    ));
                    return 0;
                }
            }
        };
        self.joined = Some(segment);
        HAS_SEGMENT | if self.can_read_a_neighbour() { HAS_READS } else { 0 }
    }

    /// Returns whether all processes that take part run the same version. If not, the first of them adds a
    /// note.
    fn is_one_version(&self, notes: &Notes) -> bool {
        let takes_part = |p: &ProcessInfo| p.flags & ENABLED != 0;
        let mine = (self.info.interface, self.info.version);
        let other = self.processes.iter().position(|p| takes_part(p) && (p.interface, p.version) != mine);
        let Some(rank) = other else { return true };
        let me = self.me;
        if !self.processes[..me].iter().any(takes_part) {
            notes.add(&format!(
                "rank {rank} runs another version of evenkeel than rank {me}; leaving all collectives \
                 to the host library. Make every rank load the same shim"
            ));
        }
        false
    }

    /// Returns whether this process can read the probe of the next rank on this node.
    fn can_read_a_neighbour(&self) -> bool {
        if self.info.flags & READS == 0 {
            return false;
        }
        let ranks = self.processes.len();
        let after_me = (1..=ranks).map(|distance| &self.processes[(self.me + distance) % ranks]);
        let neighbour = after_me.into_iter().find(|p| self.is_on_this_node(p)).unwrap_or(&self.info);
        let mut seen = 0u64;
        // SAFETY: reads eight bytes into a local.
        let read = unsafe {
            cross_memory::read(neighbour.pid, neighbour.probe, (&raw mut seen).cast(), size_of::<u64>())
        };
        read.is_ok() && seen == self.probe.load(Ordering::Relaxed)
    }

    /// Ends this process if another one on this node has died. Of the processes that find that out, the first
    /// says which one it was: further ones die because of it.
    pub(crate) fn check_alive(&self) {
        let is_dead = |&(rank, other): &(usize, &ProcessInfo)| {
            rank != self.me && self.is_on_this_node(other) && Neighbour::new(rank, other.pid).is_dead()
        };
        let Some((rank, dead)) = self.processes.iter().enumerate().find(is_dead) else { return };
        let is_first = |segment: &Segment| NodeStatus::new(segment).claim_end_announcement();
        if self.joined.as_ref().is_none_or(is_first) {
            liveness::announce_death(rank, dead.pid, self.me, "Init");
        }
        liveness::exit();
    }

    /// Makes the node from all processes' answers to [`Bootstrap::join`]. `library` is the name of the host
    /// library.
    pub fn agree(mut self, answers: &[u8], library: &'static str, notes: &Notes) -> Agreed {
        let nodes = std::mem::take(&mut self.nodes);
        let Some(mut segment) = self.joined.take() else { return Agreed { node: None, agents: None, nodes } };
        let has_joined = |rank: &usize| answers[*rank] & HAS_SEGMENT != 0;
        let here: Vec<usize> = (0..self.processes.len())
            .filter(|rank| self.is_on_this_node(&self.processes[*rank]) && has_joined(rank))
            .take(MAX_PROCESSES - 1) // the last entry is the agent's
            .collect();
        let all_joined = (0..self.processes.len()).all(|rank| has_joined(&rank));
        let agents =
            all_joined.then(|| AgentStart::prepare(&self.processes, &nodes, self.me, &segment)).flatten();
        segment.close_file();
        let node = here.contains(&self.me).then(|| self.node(segment, &here, answers, library, notes));
        Agreed { node, agents, nodes }
    }

    /// The node with the ranks `here`, which include this one.
    fn node(
        self,
        segment: Segment,
        here: &[usize],
        answers: &[u8],
        library: &'static str,
        notes: &Notes,
    ) -> Node {
        let ranks = self.processes.len();
        let members = NodeMembers::new(&self.processes, here);
        // The last entry belongs to the agent, whose local rank follows those of the ranks.
        let mut local_ranks = vec![None; ranks];
        here.iter().enumerate().for_each(|(local, &rank)| local_ranks[rank] = Some(local));
        local_ranks.push(Some(here.len()));
        let local_rank = local_ranks[self.me].expect("this rank is among those here");
        let identity = Identity {
            pid: self.info.pid,
            rank: self.me as u32,
            library: (library.as_ptr() as u64, library.len() as u64),
            tick_scale: self.clock.tick_scale(),
            inspection: 0,
        };
        identity::introduce(&segment, local_rank, ranks, &identity);
        NodeStatus::new(&segment).set_joined(local_rank);
        let direct_reads = members.all_have(READS) && here.iter().all(|&rank| answers[rank] & HAS_READS != 0);
        let facts = NodeFacts { cores: members.usable_cores(), direct_reads };
        let share = members.place_on_cores(local_rank);
        let (table, sentence) = agreement::agree(&members.table_offers(), self.table);
        if let Some(sentence) = sentence.filter(|_| self.me == here[0]) {
            notes.add(&sentence);
        }
        let fences = members.all_have(FENCES);
        Node {
            segment,
            me: self.me,
            ranks,
            local_ranks,
            neighbours: members.neighbours(),
            local_rank,
            facts,
            fencing: if fences { Fencing::Sleeper } else { Fencing::Both },
            enters_unfenced: fences && members.none_has(STRICT | THREADED),
            waiting: WaitSettings {
                policy: wait_policy(self.me, notes),
                ranks: here.len(),
                cores: facts.cores,
                needs_this_core: false,
                yield_works: members.share_a_session(),
                clock: self.clock,
            },
            share,
            patience_ns: options::PATIENCE_MS.get().parse::<u64>().unwrap_or(200).max(1) * 1_000_000,
            threaded: self.threaded,
            recording: options::RECORD.is_on(),
            began: self.clock.now(),
            began_cpu_ns: clock::process_cpu_ns(),
            timeline: Timeline::default(),
            waited: Waited::default(),
            host_messages: HostMessages::new(ranks),
            table,
            agent: OnceLock::new(),
            reports_faults: AtomicBool::new(false),
            death_seen_ns: AtomicU64::new(0),
            idle_relays: Mutex::default(),
            bounce_buffer: Mutex::default(),
            end_hook: OnceLock::new(),
        }
    }
}

/// The policy that the environment sets. If it cannot be understood, rank 0 adds a note.
fn wait_policy(me: usize, notes: &Notes) -> WaitPolicy {
    WaitPolicy::from_environment().unwrap_or_else(|error| {
        if me == 0 {
            notes.add(&error.to_string());
        }
        WaitPolicy::Auto
    })
}

/// The flags of this process: what its options ask for, and what the kernel lets it do.
fn own_flags(threaded: bool) -> u32 {
    let mut flags = 0;
    // Barriers are deferred only where the kernel catches system calls for the front end.
    let may_defer = cfg!(target_arch = "x86_64");
    if !may_defer || BarrierMode::from_environment().is_ok_and(|mode| mode == BarrierMode::Strict) {
        flags |= STRICT;
    }
    if threaded {
        flags |= THREADED;
    }
    match options::NODES.get().as_str() {
        "agents" => flags |= AGENTS,
        "auto" => flags |= AGENTS | TRIES,
        _ => {}
    }
    if options::DIRECT.get() != "off" && flags & STRICT != 0 {
        flags |= DIRECT;
    }
    if membarrier::register() {
        flags |= FENCES;
    }
    if options::CMA.get() != "off" {
        cross_memory::allow_readers();
        flags |= READS;
    }
    flags
}

/// Makes the largest segment that the machine allows.
fn offer_segment(info: &mut ProcessInfo, notes: &Notes) -> Option<Segment> {
    info.token = token(info.probe);
    for bytes in SEGMENT_BYTES {
        match Segment::create(bytes, info.token) {
            Ok(segment) => {
                info.descriptor = segment.descriptor().unwrap_or(-1);
                info.flags |= ENABLED;
                return Some(segment);
            }
            Err(error) if bytes == SEGMENT_BYTES[2] => {
                notes.add(&format!("{error}; leaving all collectives to the host library"));
            }
            Err(_) => {} // a smaller segment may be possible
        }
    }
    None
}

/// A number that other processes are unlikely to use for their segments.
fn token(address: u64) -> u64 {
    clock::monotonic_ns().rotate_left(20) ^ u64::from(std::process::id()) << 40 ^ address
}

fn version_hash() -> u32 {
    layout_number() as u32
}
