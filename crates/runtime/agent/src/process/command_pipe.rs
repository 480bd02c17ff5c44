//! The pipe over which the ranks of a node speak to their agent.

use crate::error::AgentError;
use evenkeel_engine::job::agent_commands::{AgentCommand, CommandReader, NodeSetup};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsRawFd, RawFd};

/// The end of the pipe that the agent reads.
pub struct CommandPipe {
    file: File,
    reader: CommandReader,
    is_closed: bool,
}

impl CommandPipe {
    /// Reading blocks until [`CommandPipe::set_nonblocking`].
    pub fn new(file: File) -> CommandPipe {
        CommandPipe { file, reader: CommandReader::default(), is_closed: false }
    }

    /// Whether no rank can speak to the agent any more: all have ended, or have forgotten evenkeel.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// A descriptor that becomes readable when a command or a wake-up comes; None once the pipe is closed.
    pub fn descriptor(&self) -> Option<RawFd> {
        (!self.is_closed).then(|| self.file.as_raw_fd())
    }

    /// From now on [`CommandPipe::read`] returns if nothing is there.
    pub fn set_nonblocking(&self) {
        // SAFETY: a descriptor of ours.
        unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    }

    /// Waits for the first command. None: all ranks have ended before, or the job does without agents.
    ///
    /// # Errors
    /// If the first command does not set the agent up.
    pub fn wait_for_setup(&mut self) -> Result<Option<NodeSetup>, AgentError> {
        let mut bytes = [0; 4096];
        loop {
            match self.reader.next_command()? {
                Some(AgentCommand::SetUp(setup)) => return Ok(Some(setup)),
                Some(_) => return Err(AgentError::NotSetUp),
                None => match self.file.read(&mut bytes) {
                    Ok(0) => return Ok(None),
                    Ok(n) => self.reader.add(&bytes[..n]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(AgentError::Pipe(error)),
                },
            }
        }
    }

    /// Everything that has come.
    pub fn read(&mut self) -> Result<Vec<AgentCommand>, AgentError> {
        let mut bytes = [0; 4096];
        loop {
            match self.file.read(&mut bytes) {
                Ok(0) => {
                    self.is_closed = true;
                    break;
                }
                Ok(n) => self.reader.add(&bytes[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break, // nothing is there
            }
        }
        let mut commands = Vec::new();
        while let Some(command) = self.reader.next_command()? {
            commands.push(command);
        }
        Ok(commands)
    }
}
