//! A node's end before it knows the other nodes.

use super::library::{UcxError, library};
use super::wire::UcxWire;
use super::worker::Worker;
use crate::memory::Memory;
use crate::node::NodeId;

/// An end that has an address, and is not connected yet.
pub struct UnconnectedWire {
    worker: Worker,
    address: Vec<u8>,
}

/// Opens UCX with `memory_bytes` that the other nodes may write into. `settings` are UCX's, named without
/// `UCX_`; they have precedence over those of the environment. One that this version of UCX does not know is
/// passed over.
pub fn open(
    nodes: usize,
    memory_bytes: usize,
    settings: &[(&str, &str)],
) -> Result<UnconnectedWire, UcxError> {
    let library = library()?;
    let memory = Memory::new(memory_bytes).map_err(|error| UcxError::Memory(error.to_string()))?;
    let worker = Worker::new(library, nodes, memory, settings)?;
    let address = worker.address()?;
    Ok(UnconnectedWire { worker, address })
}

impl UnconnectedWire {
    /// What the other nodes need to reach this one: some hundreds of bytes.
    pub fn address(&self) -> &[u8] {
        &self.address
    }

    /// Connects this node to all others. `addresses` are those of all nodes, this one's among them.
    /// Connections are made when they are first used.
    pub fn connect(self, node: NodeId, addresses: &[Vec<u8>]) -> Result<UcxWire, UcxError> {
        UcxWire::new(self.worker, node, addresses)
    }
}
