//! The nodes of a job, as one of its ranks knows them, and the pipe to this node's agent.

use super::agent_commands::{AgentCommand, PIPE_BUF, WAKE_UP};
use crate::job::neighbour::Neighbour;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// The nodes of a job, and this node's agent.
pub struct Job {
    /// The node of each world rank.
    pub(crate) node_of: Vec<u32>,
    /// The host name of each node.
    pub(super) hosts: Vec<String>,
    /// The nodes are virtual hosts of one machine.
    pub(super) share_cores: bool,
    /// This node's agent.
    pub(crate) agent: Neighbour,
    /// The end of the agent's pipe that ranks write to. Writing does not block.
    pub(super) pipe: File,
    /// How many communicators this rank has named.
    pub(super) named: AtomicU64,
}

impl Job {
    /// Writes a command to the agent's pipe; in one piece, if it is a short one. A command that cannot be
    /// written is dropped: then the agent has died, and the ranks that wait for it find out.
    pub(super) fn tell(&self, command: &AgentCommand) {
        let frame = command.frame();
        let mut rest = frame.as_slice();
        debug_assert!(
            rest.len() <= PIPE_BUF || matches!(command, AgentCommand::SetUp(_)),
            "only the first command may be long: others mix with those of other ranks"
        );
        while !rest.is_empty() {
            match (&self.pipe).write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                    let mut watched =
                        libc::pollfd { fd: self.pipe.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
                    // SAFETY: one valid entry.
                    unsafe { libc::poll(&mut watched, 1, 100) };
                }
                Err(_) => return,
            }
        }
    }

    /// Wakes the agent.
    pub(super) fn wake_agent(&self) {
        let _ = (&self.pipe).write(&[WAKE_UP]); // a full pipe holds wake-ups enough
    }

    /// A name for a new communicator that no other one has in this job. `rank`: the caller's world rank.
    pub(super) fn name_communicator(&self, rank: usize) -> u64 {
        (self.named.fetch_add(1, Ordering::Relaxed) + 1) << 32 | rank as u64
    }

    /// A node's host name.
    pub(super) fn host(&self, node: usize) -> &str {
        self.hosts.get(node).map_or("?", String::as_str)
    }

    /// The world ranks on a node.
    pub(super) fn ranks_on(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let is_there = move |(_, other): &(usize, &u32)| **other as usize == node;
        self.node_of.iter().enumerate().filter(is_there).map(|(rank, _)| rank)
    }
}
