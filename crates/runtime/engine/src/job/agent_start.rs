//! Finds the nodes of a job and starts their agents, from MPI_Init.
//!
//! It takes steps, between which the front end exchanges what ranks tell each other: [`prepare`],
//! [`start`], [`join`], [`agree`]. Agents are used by all ranks or by none. An agent belongs to no rank:
//! it ends when the last rank has closed its end of the agent's pipe, for whatever reason.

use super::agent_commands::{AgentCommand, AgentInfo, NodeSetup, share_cores};
use super::agent_link::Job;
use super::agent_process::{LaunchError, duplicate, start_agent};
use crate::communicator::node::lock;
use crate::job::neighbour::Neighbour;
use crate::job::node::{World, note};
use crate::job::process_info::{ACROSS, Card};
use evenkeel_segment::Segment;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, OnceLock};

/// Bytes of what an agent tells of itself, as it travels among the ranks: the length, and an encoded
/// [`AgentInfo`]. Zeros where there is no agent.
pub const AGENT_INFO_BYTES: usize = 4096;
/// Bytes of the length.
const LENGTH_BYTES: usize = 4;

/// What a rank keeps between the steps.
struct Preparation {
    /// The node of each rank.
    node_of: Vec<u32>,
    /// The first rank of each node.
    leaders: Vec<usize>,
    /// This rank.
    me: usize,
    /// The token of the node's segment.
    token: u64,
    /// The job's token.
    job: u64,
    /// The process of each rank.
    pids: Vec<u32>,
    /// A leader's own descriptor of the segment.
    segment: Option<OwnedFd>,
    /// A leader's end of the agent's pipe.
    pipe: Option<File>,
    joined: Option<Job>,
}

static PREPARATION: Mutex<Option<Preparation>> = Mutex::new(None);

fn with<R>(body: impl FnOnce(&mut Preparation) -> R) -> Option<R> {
    lock(&PREPARATION).as_mut().map(body)
}

/// Finds the job's nodes. Nothing comes of it unless there are several, and every rank has joined its node's
/// segment and wants agents.
pub(crate) fn prepare(cards: &[Card], answers: &[u8], me: usize, segment: &Segment) {
    let wanted = |(card, answer): (&Card, &u8)| card.flags & ACROSS != 0 && answer & 1 != 0;
    if !cards.iter().zip(answers).all(wanted) {
        return;
    }
    let mut leaders: Vec<usize> = Vec::new();
    let mut node_of: Vec<u32> = Vec::new();
    for (rank, card) in cards.iter().enumerate() {
        let known = leaders.iter().position(|leader| cards[*leader].shares_node_with(card));
        if known.is_none() {
            leaders.push(rank);
        }
        node_of.push(known.unwrap_or(leaders.len() - 1) as u32);
    }
    if leaders.len() < 2 {
        return;
    }
    let leader = leaders[node_of[me] as usize];
    let segment = (leader == me).then(|| segment.descriptor().and_then(duplicate)).flatten();
    let (token, job) = (cards[leader].token, cards[0].token);
    let pids = cards.iter().map(|card| card.pid).collect();
    *lock(&PREPARATION) =
        Some(Preparation { node_of, leaders, me, token, job, pids, segment, pipe: None, joined: None });
}

/// How many nodes the job has whose agents are to be started; 0: none are. The same at all ranks.
pub fn count() -> usize {
    with(|p| p.leaders.len()).unwrap_or(0)
}

/// Whether a rank is the first of its node, and starts its agent.
pub fn leads(rank: usize) -> bool {
    with(|p| p.leaders.contains(&rank)).unwrap_or(false)
}

/// Starts this node's agent, if this rank is the node's first. What the agent tells of itself fills `info`;
/// zeros say that there is no agent, and a sentence why.
pub fn start(info: &mut [u8; AGENT_INFO_BYTES]) {
    info.fill(0);
    match with(Preparation::start).transpose() {
        Ok(Some(Some(bytes))) => {
            info[..LENGTH_BYTES].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
            info[LENGTH_BYTES..][..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(_) => {}
        Err(why) => note(&format!(
            "no agent on this node: {why}; communicators that span nodes are left to the host library"
        )),
    }
}

/// Takes what all agents tell of themselves, in the order of the nodes. Whether this rank can speak to its
/// agent.
pub fn join(world: Option<&World>, infos: &[[u8; AGENT_INFO_BYTES]]) -> bool {
    let Some(world) = world else { return false };
    let agents: Option<Vec<AgentInfo>> = infos.iter().map(decoded).collect();
    let joined = agents.and_then(|agents| with(|p| p.join(world, agents)).flatten());
    joined.is_some()
}

/// Takes all ranks' answers to `join`: agents are used by all of them or by none.
pub fn agree(world: Option<&World>, answers: &[u8]) {
    let job = lock(&PREPARATION).take().and_then(|p| p.joined);
    if let (Some(world), Some(job), true) = (world, job, answers.iter().all(|answer| *answer != 0)) {
        let _ = world.job.set(job);
    }
}

/// What an agent tells of itself; None if there is none.
fn decoded(info: &[u8; AGENT_INFO_BYTES]) -> Option<AgentInfo> {
    let length = u32::from_le_bytes(info[..LENGTH_BYTES].try_into().expect("four bytes")) as usize;
    let bytes = info.get(LENGTH_BYTES..LENGTH_BYTES + length).filter(|bytes| !bytes.is_empty())?;
    postcard::from_bytes(bytes).ok()
}

impl Preparation {
    /// What the node's agent tells of itself, if this rank has to start it.
    fn start(&mut self) -> Result<Option<Vec<u8>>, LaunchError> {
        if !self.leaders.contains(&self.me) {
            return Ok(None);
        }
        let segment = self.segment.take().ok_or(LaunchError::NoSegment)?;
        let agent = start_agent(segment, AGENT_INFO_BYTES - LENGTH_BYTES)?;
        self.pipe = Some(agent.pipe);
        Ok(Some(agent.info))
    }

    /// Opens the pipe to this node's agent, and sets the agent up if this rank has started it. None if the
    /// pipe cannot be opened.
    fn join(&mut self, world: &World, agents: Vec<AgentInfo>) -> Option<()> {
        let node = self.node_of[self.me];
        let own = &agents[node as usize];
        let pipe = match self.pipe.take() {
            Some(pipe) => pipe,
            None => File::options()
                .write(true)
                .custom_flags(libc::O_CLOEXEC | libc::O_NONBLOCK)
                .open(format!("/proc/{}/fd/{}", own.pid, own.pipe))
                .ok()?,
        };
        // SAFETY: a descriptor of ours.
        unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        let job = Job {
            node_of: self.node_of.clone(),
            hosts: agents.iter().map(|agent| agent.host.clone()).collect(),
            share_cores: share_cores(&agents),
            agent: Neighbour { world_rank: usize::MAX, pid: own.pid, watched: OnceLock::new() },
            pipe,
            named: AtomicU64::new(0),
        };
        if self.leaders[node as usize] == self.me {
            let process = |rank: usize| (rank as u32, self.pids[rank]);
            job.tell(&AgentCommand::SetUp(NodeSetup {
                token: self.token,
                job: self.job,
                ranks: self.node_of.len() as u32,
                here: world.neighbours.iter().map(|neighbour| process(neighbour.world_rank)).collect(),
                node,
                nodes: agents,
            }));
        }
        self.joined = Some(job);
        Some(())
    }
}
