//! Nonblocking collectives: started by one call, moved on whenever a thread of this process looks.
//!
//! May use: collective, spanning operations, comm. Must never wait.

pub mod request;
