//! The name of a job on this machine.

use crate::pmi1::Server;
use std::path::Path;
use tracing::debug;

/// A server with a name that no other job on this machine has. MPICH 5 makes 32 bits of it, and names files
/// after these, so two jobs could meet by chance: a name whose files exist is not taken.
pub(super) fn new_server() -> Server {
    let random = || {
        let mut bytes = [0; 8];
        // Without random bytes the process number still tells jobs of this moment apart.
        let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK);
        u64::from_ne_bytes(bytes)
    };
    let is_free = |server: &Server| server.shared_memory_files().iter().all(|file| !Path::new(file).exists());
    let name = || format!("{}x{:016x}", std::process::id(), random());
    let servers = (0..10).map(|_| Server::new(name()));
    let mut free = servers.skip_while(|server| !is_free(server));
    let server = free.next().unwrap_or_else(|| Server::new(name()));
    debug!("the job is {}", server.job());
    server
}
