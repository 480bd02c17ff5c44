//! What a node's ranks tell their agent over its pipe, beside the segment.
//!
//! A command travels in a frame: the byte 1, the length, the command. A frame of at most [`PIPE_BUF`]
//! bytes is written at once, so that frames of several ranks do not mix. A byte 0 outside of a frame
//! only wakes the agent.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What the agent tells the rank that has started it. All ranks of the job are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    /// The agent's process.
    pub pid: u32,
    /// The end of the pipe that the agent reads, as a descriptor of the agent's.
    pub pipe: i32,
    /// The node's host name, for sentences.
    pub host: String,
    /// A number of the machine's last boot: nodes that have the same are virtual hosts of one machine.
    pub boot: u64,
    /// The address in the fabric.
    pub address: Vec<u8>,
}

/// Whether all nodes are virtual hosts of one machine, and share its cores.
pub fn share_cores(nodes: &[AgentInfo]) -> bool {
    nodes.iter().all(|node| node.boot == nodes[0].boot)
}

/// What the agent needs to know of its node and its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSetup {
    /// The token of the node's segment.
    pub token: u64,
    /// The token of the job, the same on all nodes. Agents refuse messages without it.
    pub job: u64,
    /// How many ranks the job has.
    pub ranks: u32,
    /// World rank and process of each rank here.
    pub here: Vec<(u32, u32)>,
    /// Which of the nodes this is.
    pub node: u32,
    /// The agents of all nodes.
    pub nodes: Vec<AgentInfo>,
}

/// A communicator that spans nodes, as its first member on a node tells the agent there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCommunicator {
    /// The job's name for it.
    pub id: u64,
    /// The segment's name for its block here.
    pub block: u64,
    /// World ranks of the members here.
    pub members: Vec<u32>,
    /// The job's number of each node that has members, and how many it has.
    pub nodes: Vec<(u32, u32)>,
    /// Which of these nodes is this one.
    pub this_node: u32,
}

/// What a rank tells its agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentCommand {
    /// The first command: what the job is.
    SetUp(NodeSetup),
    /// Takes part in a communicator.
    Attach(NewCommunicator),
    /// One of the members here has freed a communicator.
    Detach {
        /// The job's name for it.
        id: u64,
    },
    /// One of the members here has revoked a communicator.
    Revoke {
        /// The job's name for it.
        id: u64,
    },
}

/// Up to so many bytes, what is written to a pipe is written at once.
pub const PIPE_BUF: usize = 4096;

const FRAME_BEGIN: u8 = 1;
/// The byte that only wakes the agent.
pub const WAKE_UP: u8 = 0;
/// [`FRAME_BEGIN`] and the length.
const FRAME_HEADER_BYTES: usize = 5;

/// What came over the pipe is no command.
#[derive(Debug, Error)]
pub enum CommandError {
    /// There is something between two frames.
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

/// Takes commands out of bytes as they come.
#[derive(Default)]
pub struct CommandReader {
    bytes: Vec<u8>,
}

impl CommandReader {
    /// Adds bytes that have come.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next command, if all of it has come.
    ///
    /// # Errors
    /// If what has come is no command.
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
    fn commands_come_out_between_wake_ups() {
        let commands = [
            AgentCommand::Detach { id: 7 },
            AgentCommand::Attach(NewCommunicator {
                id: 1,
                block: 2,
                members: vec![3],
                nodes: vec![(0, 1), (4, 2)],
                this_node: 1,
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
    fn what_is_no_command_is_an_error() {
        let mut reader = CommandReader::default();
        reader.add(&[9]);
        assert!(matches!(reader.next_command(), Err(CommandError::NoFrame(9))));
        let mut reader = CommandReader::default();
        reader.add(&[FRAME_BEGIN, 1, 0, 0, 0, 0xff]);
        assert!(matches!(reader.next_command(), Err(CommandError::Undecodable(_))));
    }
}
