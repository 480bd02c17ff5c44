//! Starts the agents in `MPI_Init`: the first rank of each node starts the node's agent, and all ranks
//! connect to it.
//!
//! One rank makes the job's secret, which the agents' infos take along to all ranks.
//!
//! Between the steps the front end exchanges bytes through the host library. The steps are
//! `AgentStart::prepare`, [`AgentStart::start`], [`AgentStart::join`] and [`AgentStart::agree`]. An agent
//! ends when the last rank has closed its end of the agent's pipe, for whatever reason; no process has to
//! stop it.

use super::agent_commands::{AgentCommand, AgentInfo, LeaderInfo, NodeSetup, share_cores};
use super::agent_link::{AgentLink, open_pipe};
use super::agent_process::{AgentStartError, duplicate, pipe, program, read_all, spawn};
use super::direct_link::DirectLink;
use super::neighbour::Neighbour;
use super::node::Node;
use super::nodes::JobNodes;
use super::process_info::{AGENTS, DIRECT, ProcessInfo, TRIES};
use crate::record::notes::Notes;
use crate::wait::settings::WaitSettings;
use evenkeel_segment::Segment;
use evenkeel_segment::statements::MAX_NODES;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// Size of the buffer in which an agent's info travels among the ranks: its length in four bytes, then the
/// info.
pub const AGENT_INFO_BYTES: usize = 4096;

/// How long a rank waits for its agent to say whether it reaches the others: longer than the agent does.
const CONTACT_PATIENCE: Duration = Duration::from_secs(20);
/// How long it sleeps between two looks.
const CONTACT_PAUSE: Duration = Duration::from_micros(200);

/// Bits of the answer to [`AgentStart::join`]: the rank is connected to its agent; it has the socket for
/// datagrams.
const HAS_AGENT: u8 = 1;
const HAS_DATAGRAMS: u8 = 2;

/// The start of the agents of a job, between its steps.
pub struct AgentStart {
    nodes: JobNodes,
    me: usize,
    /// The token of this node's segment.
    token: u64,
    pids: Vec<u32>,
    /// Ranks carry small collectives between nodes themselves, if they can.
    wants_direct: bool,
    /// All ranks want the host library to carry calls where it is faster.
    tries: bool,
    /// Only at the first rank of a node: its own descriptor of the segment, and the agent's pipe.
    segment: Option<OwnedFd>,
    pipe: Option<File>,
    joined: Option<AgentLink>,
}

impl AgentStart {
    /// Returns `None` unless there are several nodes and every rank wants agents. All ranks must have joined
    /// their nodes' segments.
    pub(super) fn prepare(
        processes: &[ProcessInfo],
        nodes: &JobNodes,
        me: usize,
        segment: &Segment,
    ) -> Option<AgentStart> {
        if nodes.count() < 2 || !processes.iter().all(|process| process.flags & AGENTS != 0) {
            return None;
        }
        let leader = nodes.leaders[nodes.node_of[me] as usize];
        let segment = segment.descriptor().filter(|_| leader == me).and_then(|fd| duplicate(fd).ok());
        let token = processes[leader].token;
        let pids = processes.iter().map(|process| process.pid).collect();
        let wants_direct = nodes.count() <= MAX_NODES && processes.iter().all(|p| p.flags & DIRECT != 0);
        let tries = processes.iter().all(|p| p.flags & TRIES != 0);
        if tries && !wants_direct {
            return None; // the host library would carry everything
        }
        Some(AgentStart {
            nodes: nodes.clone(),
            me,
            token,
            pids,
            wants_direct,
            tries,
            segment,
            pipe: None,
            joined: None,
        })
    }

    /// How many nodes the job has. The same on all ranks.
    pub fn node_count(&self) -> usize {
        self.nodes.count()
    }

    /// If this is the node's first rank: starts the node's agent and fills in its info. Zeros mean that
    /// there is no agent here.
    pub fn start(&mut self, info: &mut [u8; AGENT_INFO_BYTES], notes: &Notes) {
        info.fill(0);
        if !self.nodes.is_leader(self.me) {
            return;
        }
        match self.launch() {
            Ok(bytes) => {
                info[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
                info[4..4 + bytes.len()].copy_from_slice(&bytes);
            }
            Err(error) => notes.add(&format!(
                "no agent on this node: {error}; communicators that span nodes are left to the host library"
            )),
        }
    }

    fn launch(&mut self) -> Result<Vec<u8>, AgentStartError> {
        let segment = self.segment.take().ok_or(AgentStartError::NoSegment)?;
        let program = program()?;
        let (commands_read, commands_write) = pipe().map_err(AgentStartError::NoPipe)?;
        let (info_read, info_write) = pipe().map_err(AgentStartError::NoPipe)?;
        spawn(&program, [segment.as_raw_fd(), commands_read.as_raw_fd(), info_write.as_raw_fd()])?;
        drop((commands_read, info_write));
        let told = read_all(info_read.into()).ok_or(AgentStartError::NoAnswer)?;
        if told.is_empty() {
            return Err(AgentStartError::NoFabric);
        }
        let agent = postcard::from_bytes(&told).map_err(|_| AgentStartError::NoAnswer)?;
        // The first node's first rank makes the secret; the exchange of the infos spreads it.
        let makes_secret = self.nodes.leaders[0] == self.me;
        let secret =
            makes_secret.then(evenkeel_secret::random).transpose().map_err(AgentStartError::NoSecret)?;
        let bytes = postcard::to_allocvec(&LeaderInfo { agent, secret }).expect("it is plain data");
        let most = AGENT_INFO_BYTES - 4;
        if bytes.len() > most {
            return Err(AgentStartError::LongAddress { bytes: bytes.len(), most });
        }
        self.pipe = Some(commands_write.into());
        Ok(bytes)
    }

    /// Receives the infos of all agents, in the order of the nodes. Returns what this rank is connected to: 0
    /// if it is not connected to its agent.
    pub fn join(&mut self, node: &Node, infos: &[[u8; AGENT_INFO_BYTES]], notes: &Notes) -> u8 {
        let Some(infos) = infos.iter().map(read_info).collect::<Option<Vec<LeaderInfo>>>() else {
            return 0;
        };
        let Some(secret) = infos[0].secret else { return 0 };
        let infos: Vec<AgentInfo> = infos.into_iter().map(|info| info.agent).collect();
        let number = self.nodes.node_of[self.me];
        let mine = &infos[number as usize];
        let path = match &self.pipe {
            Some(own) => format!("/proc/self/fd/{}", own.as_raw_fd()),
            None => format!("/proc/{}/fd/{}", mine.pid, mine.pipe),
        };
        let Ok(pipe) = open_pipe(&path) else { return 0 };
        self.pipe = None;
        let hosts: Vec<String> = infos.iter().map(|info| info.host.clone()).collect();
        let agent = Neighbour::new(usize::MAX, mine.pid);
        let share_cores = share_cores(&infos);
        let nodes = infos.len();
        let mut link = AgentLink::new(self.nodes.node_of.clone(), hosts, share_cores, agent, pipe);
        link.tries = self.tries;
        if self.nodes.is_leader(self.me) {
            let here =
                node.neighbours.iter().map(|n| (n.world_rank as u32, self.pids[n.world_rank])).collect();
            let ranks = self.nodes.node_of.len() as u32;
            link.send(&AgentCommand::SetUp(NodeSetup {
                token: self.token,
                secret,
                ranks,
                here,
                node: number,
                nodes: infos,
                datagrams: self.wants_direct,
            }));
        }
        let is_leader = self.nodes.is_leader(self.me);
        if self.wants_direct {
            let ranks = if share_cores { self.nodes.node_of.len() } else { node.waiting.ranks };
            // Several threads of a rank may wait, or compute, on one core.
            let waiting = WaitSettings { ranks, needs_this_core: node.threaded, ..node.waiting };
            link.direct = DirectLink::open(&node.segment, secret, number, nodes, waiting);
        }
        if is_leader {
            if let Err(missed) = first_contact(node, &link) {
                let here = &link.hosts[number as usize];
                let why = match missed.and_then(|node| link.hosts.get(node as usize)) {
                    Some(there) => format!("has got no answer from the one on {there}; is there a firewall?"),
                    None => "does not answer.".to_string(),
                };
                notes.add(&format!(
                    "the agent on {here} {why} Communicators that span nodes are left to the host library. \
                     EVENKEEL_PORTS names the ports on which agents listen"
                ));
                return 0;
            }
            link.direct = link.direct.filter(|link| link.probe(&node.segment, number, nodes));
        }
        let is_direct = link.direct.is_some();
        self.joined = Some(link);
        HAS_AGENT | if is_direct { HAS_DATAGRAMS } else { 0 }
    }

    /// Receives all ranks' answers to [`AgentStart::join`]. Either all ranks use agents or none does.
    pub fn agree(self, node: &Node, answers: &[u8]) {
        let all_have = |what: u8| answers.iter().all(|answer| answer & what != 0);
        if let (Some(mut link), true) = (self.joined, all_have(HAS_AGENT)) {
            link.direct = link.direct.filter(|_| all_have(HAS_DATAGRAMS));
            let _ = node.agent.set(link); // cannot fail: agents are started once
        }
    }
}

/// Waits until this node's agent says whether it reaches the others. An error: a node that it does not reach,
/// or `None` if it does not say.
fn first_contact(node: &Node, link: &AgentLink) -> Result<(), Option<u32>> {
    let until = Instant::now() + CONTACT_PATIENCE;
    loop {
        let is_dead = link.agent.is_dead(); // before the look: it may say something and end
        match node.status().first_contact() {
            Some(outcome) => return outcome.map_err(Some),
            None if is_dead || Instant::now() > until => return Err(None),
            None => std::thread::sleep(CONTACT_PAUSE),
        }
    }
}

fn read_info(bytes: &[u8; AGENT_INFO_BYTES]) -> Option<LeaderInfo> {
    let length = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
    (length > 0).then(|| postcard::from_bytes(bytes.get(4..4 + length)?).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::agent_commands::FabricAddresses;

    #[test]
    fn an_info_with_a_secret_is_read_as_it_was_written_and_zeros_are_none() {
        let agent = AgentInfo {
            pid: 1,
            pipe: 2,
            host: "h0".into(),
            boot: 3,
            addresses: FabricAddresses { tls: vec![4], ucx: Vec::new() },
        };
        let info = LeaderInfo { agent, secret: Some([5; 32]) };
        let written = postcard::to_allocvec(&info).unwrap();
        let mut bytes = [0; AGENT_INFO_BYTES];
        assert!(read_info(&bytes).is_none());
        bytes[..4].copy_from_slice(&(written.len() as u32).to_le_bytes());
        bytes[4..4 + written.len()].copy_from_slice(&written);
        assert!(read_info(&bytes) == Some(info));
    }
}
