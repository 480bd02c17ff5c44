//! A rank's connection to the agent of its node: the pipe that the agent reads.

use super::agent_commands::{AgentCommand, PIPE_BUF, WAKE_UP};
use super::direct_link::DirectLink;
use super::inherited::Inherited;
use super::neighbour::Neighbour;
use evenkeel_segment::sync::Ordering;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::AtomicU64;

/// The nodes of a job, and the connection to this node's agent.
pub struct AgentLink {
    /// The node of each world rank.
    pub(crate) node_of: Vec<u32>,
    /// The nodes' host names.
    pub(crate) hosts: Vec<String>,
    /// All nodes are virtual hosts of one machine and share its cores.
    pub(crate) share_cores: bool,
    /// The agent's process.
    pub(crate) agent: Neighbour,
    pipe: File,
    /// The same, as a forked child has it.
    inherited: Inherited,
    /// Whether calls go to the host library where that is faster.
    pub(crate) tries: bool,
    /// The ranks' own way to the other nodes, if they have one.
    pub(crate) direct: Option<DirectLink>,
    /// How many communicator ids this rank has made.
    ids_made: AtomicU64,
}

/// Opens the pipe of the agent, which has it as `/proc/PID/fd/N`, for writing.
///
/// It is opened for reading as well. So the pipe never lacks a reader, and a rank that writes to an agent
/// that has died gets no `SIGPIPE`: it finds out when it next waits for the agent, and says so.
pub(super) fn open_pipe(path: &str) -> std::io::Result<File> {
    File::options().read(true).write(true).custom_flags(libc::O_CLOEXEC | libc::O_NONBLOCK).open(path)
}

/// How long a writer sleeps before it tries a full pipe again.
const FULL_PIPE_MS: i32 = 100;

impl AgentLink {
    pub(super) fn new(
        node_of: Vec<u32>,
        hosts: Vec<String>,
        share_cores: bool,
        agent: Neighbour,
        pipe: File,
    ) -> AgentLink {
        let ids_made = AtomicU64::new(0);
        let inherited = Inherited::of(pipe.as_raw_fd());
        AgentLink {
            node_of,
            hosts,
            share_cores,
            agent,
            pipe,
            inherited,
            tries: false,
            direct: None,
            ids_made,
        }
    }

    /// Closes the descriptors in a forked child, which lives on when the ranks have ended. Nothing uses them
    /// there: the child has forgotten what it was a copy of.
    pub(crate) fn close_in_child(&self) {
        for inherited in [Some(self.inherited), self.direct.as_ref().map(DirectLink::inherited)] {
            // SAFETY: the child never uses or drops the objects that these belong to.
            inherited.into_iter().for_each(|inherited| unsafe { inherited.close() });
        }
    }

    /// Writes a command to the agent's pipe. A frame of at most [`PIPE_BUF`] bytes is written atomically.
    pub(crate) fn send(&self, command: &AgentCommand) {
        let frame = command.frame();
        let mut rest = frame.as_slice();
        debug_assert!(
            rest.len() <= PIPE_BUF || matches!(command, AgentCommand::SetUp(_)),
            "only the first command may be long"
        );
        while !rest.is_empty() {
            match (&self.pipe).write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                    let mut watched =
                        libc::pollfd { fd: self.pipe.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
                    // SAFETY: one valid entry.
                    unsafe { libc::poll(&mut watched, 1, FULL_PIPE_MS) };
                    if self.agent.is_dead() {
                        return; // ranks that wait for it will notice
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Writes a command to the agent's pipe if there is room; otherwise it is lost.
    pub(crate) fn send_if_room(&self, command: &AgentCommand) {
        let frame = command.frame();
        debug_assert!(frame.len() <= PIPE_BUF, "it is written whole or not at all");
        let _ = (&self.pipe).write(&frame);
    }

    /// Wakes the agent.
    #[cold]
    pub(crate) fn notify(&self) {
        let _ = (&self.pipe).write(&[WAKE_UP]); // if the pipe is full, the agent has been woken already
    }

    /// Returns an id for a new communicator that no other communicator of this job has. `me` is this
    /// process's world rank.
    pub(crate) fn next_communicator_id(&self, me: usize) -> u64 {
        let number = self.ids_made.fetch_add(1, Ordering::Relaxed);
        (number + 1) << 32 | me as u64
    }
}
