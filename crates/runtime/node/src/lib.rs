//! Runs a job on several hosts, without a scheduler and without a daemon: one *node* process per host, for
//! this job alone.
//!
//! ```text
//! client        the process that the user has started: starts the first nodes, shows output, ends the job
//! host          the node process of a host: starts further nodes, and this host's part of the job
//! children      the nodes that one node has started, and the connections to them
//! boot          one of them is started through a remote shell; this program is sent first if need be
//! link          an authenticated connection between a node and a child: TLS
//! output        what programs write, on its way to the client, with bounded memory
//! input         what the user types, on its way to the programs
//! delivery      files are sent to the hosts first
//! sent_file     such a file, named by its content
//! machine       pure: what a node does
//! frame         what goes over a connection
//! tree          which node starts which
//! job           what is to be run, and where
//! identity      which build of this program this is
//! remote_shell  how a process is started on another host
//! ```
//!
//! May use: launch, for the processes of one host; the fabric's TLS, with a key for each connection. Must
//! never: put a secret into arguments, environment or logs; take a slow node for a dead one; start anything
//! before all hosts are ready.

mod boot;
mod children;
mod client;
mod delivery;
mod frame;
mod host;
mod identity;
mod input;
mod job;
mod link;
pub mod machine;
mod output;
mod remote_shell;
mod sent_file;
mod tree;

pub use client::{Ended, run};
pub use host::serve;
pub use job::{HostJob, InputChoice, NodeError, NodeSettings, Place};
pub use remote_shell::RemoteShell;
pub use sent_file::{SentAs, SentFile};
