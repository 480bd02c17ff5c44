//! Commands that a node's ranks send to their agent over its pipe, beside the segment.
//!
//! A command travels in a frame: the byte 1, the length, the command. A frame of at most [`PIPE_BUF`] bytes
//! is written atomically, so frames of several ranks do not mix. A byte 0 outside a frame only wakes the
//! agent.

use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// What the agent tells the rank that has started it. That rank sends it to all ranks of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    /// The agent's process id.
    pub pid: u32,
    /// The descriptor, in the agent's process, of the end of the pipe from which the agent reads.
    pub pipe: i32,
    /// The node's host name, for messages to the user.
    pub host: String,
    /// A number that identifies the machine's last boot. Nodes with the same number are virtual hosts of
    /// one machine.
    pub boot: u64,
    /// Where the agent is reached over each fabric that it has opened; empty: it has not opened it.
    pub addresses: FabricAddresses,
}

/// Where an agent is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricAddresses {
    /// Over TLS.
    pub tls: Vec<u8>,
    /// Over UCX.
    pub ucx: Vec<u8>,
}

/// What the first rank of a node tells all ranks of the job.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeaderInfo {
    /// About the node's agent.
    pub agent: AgentInfo,
    /// The secret of the job, if this rank makes it.
    pub secret: Option<JobSecretBytes>,
}

/// The job's secret as it travels ([`evenkeel_secret::JobSecret`]).
pub type JobSecretBytes = [u8; evenkeel_secret::SECRET_BYTES];

/// Returns whether all nodes are virtual hosts of one machine and share its cores.
pub fn share_cores(nodes: &[AgentInfo]) -> bool {
    nodes.iter().all(|node| node.boot == nodes[0].boot)
}

/// What the agent must know about its node and its job.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSetup {
    /// The token of the node's segment.
    pub token: u64,
    /// The secret of the job, the same on all nodes. Agents listen to no process that does not know it.
    pub secret: JobSecretBytes,
    /// How many ranks the job has.
    pub ranks: u32,
    /// World rank and process id of each rank on this node.
    pub here: Vec<(u32, u32)>,
    /// This node's number.
    pub node: u32,
    /// The agents of all nodes.
    pub nodes: Vec<AgentInfo>,
    /// The agent opens a socket for datagrams, which the ranks share.
    pub datagrams: bool,
}

/// Shows nothing of the secret.
impl fmt::Debug for NodeSetup {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "NodeSetup(node {} of {})", self.node, self.nodes.len())
    }
}

/// A communicator that spans nodes, as its first member on a node describes it to the agent there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCommunicator {
    /// The id by which the job's agents know it.
    pub id: u64,
    /// The id of its block in this node's segment.
    pub block: u64,
    /// World ranks of the members on this node.
    pub members: Vec<u32>,
    /// For each node that has members: the node's number in the job, and how many members it has.
    pub nodes: Vec<(u32, u32)>,
    /// The index of this node in `nodes`.
    pub this_node: u32,
    /// Ranks carry small collectives themselves, and the agent answers for what is lost.
    pub has_statements: bool,
}

/// A command of a rank to its agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentCommand {
    /// The first command: describes the job.
    SetUp(NodeSetup),
    /// Makes the agent a member of a communicator.
    Attach(NewCommunicator),
    /// One of the members here has freed the communicator.
    Detach {
        /// The id by which the job's agents know it.
        id: u64,
    },
    /// A rank here waits for long in a collective that ranks carry themselves.
    Ask {
        /// The id by which the job's agents know the communicator.
        id: u64,
        /// The number of the collective.
        number: u64,
        /// What it is ([`crate::direct::description`]).
        description: u32,
    },
    /// One of the members here has revoked the communicator.
    Revoke {
        /// The id by which the job's agents know it.
        id: u64,
    },
}

/// A write to a pipe of at most this many bytes is atomic.
pub const PIPE_BUF: usize = 4096;

const FRAME_BEGIN: u8 = 1;
/// The byte that only wakes the agent.
pub const WAKE_UP: u8 = 0;
/// [`FRAME_BEGIN`] and the length.
const FRAME_HEADER_BYTES: usize = 5;

/// The bytes that came over the pipe are not a command.
#[derive(Debug, Error)]
pub enum CommandError {
    /// There are other bytes between two frames.
    #[error("a command's frame begins with {FRAME_BEGIN}, not with {0}")]
    NoFrame(u8),
    /// A frame cannot be decoded.
    #[error("a command cannot be decoded: {0}")]
    Undecodable(#[from] postcard::Error),
}

impl AgentCommand {
    /// The frame of this command.
    pub fn frame(&self) -> Vec<u8> {
        let body = postcard::to_allocvec(self).expect("a command is plain data");
        let mut frame = Vec::with_capacity(FRAME_HEADER_BYTES + body.len());
        frame.push(FRAME_BEGIN);
        frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
        frame.extend_from_slice(&body);
        frame
    }
}

/// Extracts commands from bytes as they arrive.
#[derive(Default)]
pub struct CommandReader {
    bytes: Vec<u8>,
}

impl CommandReader {
    /// Adds bytes that have arrived.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next command if it has arrived completely.
    ///
    /// # Errors
    /// If the bytes are not a command.
    pub fn next_command(&mut self) -> Result<Option<AgentCommand>, CommandError> {
        let wake_ups = self.bytes.iter().take_while(|byte| **byte == WAKE_UP).count();
        self.bytes.drain(..wake_ups);
        match self.bytes.first() {
            None => return Ok(None),
            Some(&FRAME_BEGIN) => {}
            Some(&other) => return Err(CommandError::NoFrame(other)),
        }
        let Some(length) = self.bytes.get(1..FRAME_HEADER_BYTES) else { return Ok(None) };
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        let frame = FRAME_HEADER_BYTES..FRAME_HEADER_BYTES + length;
        let Some(body) = self.bytes.get(frame.clone()) else { return Ok(None) };
        let command = postcard::from_bytes(body)?;
        self.bytes.drain(..frame.end);
        Ok(Some(command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_between_wake_ups_are_found() {
        let commands = [
            AgentCommand::Detach { id: 7 },
            AgentCommand::Attach(NewCommunicator {
                id: 1,
                block: 2,
                members: vec![3],
                nodes: vec![(0, 1), (4, 2)],
                this_node: 1,
                has_statements: true,
            }),
        ];
        let bytes: Vec<u8> =
            commands.iter().flat_map(|command| [vec![WAKE_UP; 2], command.frame()].concat()).collect();
        for step in [1, 3, bytes.len()] {
            let (mut reader, mut out) = (CommandReader::default(), Vec::new());
            for piece in bytes.chunks(step) {
                reader.add(piece);
                out.extend(std::iter::from_fn(|| reader.next_command().unwrap()));
            }
            assert_eq!(out, commands);
        }
    }

    #[test]
    fn bytes_that_are_not_a_command_are_an_error() {
        let mut reader = CommandReader::default();
        reader.add(&[9]);
        assert!(matches!(reader.next_command(), Err(CommandError::NoFrame(9))));
        let mut reader = CommandReader::default();
        reader.add(&[FRAME_BEGIN, 1, 0, 0, 0, 0xff]);
        assert!(matches!(reader.next_command(), Err(CommandError::Undecodable(_))));
    }
}
