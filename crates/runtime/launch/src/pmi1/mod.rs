//! The process management interface PMI-1 as MPICH's clients speak it: lines of text over a socket.
//!
//! A state machine without input or output. [`Server`] gets the lines of all clients and says what is to be
//! done. The protocol has no specification; what clients send was read from the connections of MPICH 4.0 and
//! 5.0, and the names of keys from `mpiexec.hydra`'s answers.

mod line;
mod server;
mod spawning;

pub(crate) use server::{Action, Client, Server};
pub(crate) use spawning::SpawnCommand;

/// The longest line that a client may send, bytes. Keys and values are far shorter, by `get_maxes`.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;
