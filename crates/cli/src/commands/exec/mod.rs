//! `evenkeel exec`: a command on several hosts. And the node process of a host, which it starts there.

mod arguments;
mod command;

pub use arguments::{ExecArguments, HostNodeArguments};
pub use command::{exec, serve_host};
