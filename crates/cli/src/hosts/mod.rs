//! Processes of this program on other hosts: started through a remote shell, given lines on standard input,
//! answering by lines on standard output.
//!
//! May use: [`machine`](crate::machine). Must never: know what the processes are for.

pub mod host_process;
