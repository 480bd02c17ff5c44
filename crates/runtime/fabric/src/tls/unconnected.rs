//! A node's end before it knows the other nodes.

use super::addresses::{NetworkChoice, NodeAddress};
use super::connections::Connections;
use super::greeting::GreetingKey;
use super::identity::Identity;
use super::listener::BoundPort;
use super::wire::TlsWire;
use crate::memory::Memory;
use crate::node::NodeId;
use evenkeel_secret::JobSecret;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

/// Why there is no fabric over TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// No port could be taken.
    #[error("no port for the other nodes: {0}. Check --network and --ports")]
    NoPort(std::io::Error),
    /// The port cannot listen.
    #[error("the port for the other nodes cannot listen: {0}")]
    NoListener(std::io::Error),
    /// The addresses of the nodes are too few, or damaged.
    #[error("{0} addresses were given, this is node {1}, or one of them is not an address")]
    Addresses(usize, usize),
    /// This node's memory could not be mapped.
    #[error("this node's memory: {0}")]
    Memory(std::io::Error),
    /// The TLS library does not work.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
}

/// An end that has taken a port, and does not listen yet.
pub struct UnconnectedWire {
    port: BoundPort,
    address: Vec<u8>,
    memory: Memory,
}

/// Takes a port of a network, with `memory_bytes` that the other nodes may write into. `ports`: those that
/// may be used; 0 to 0: any port that is free.
///
/// # Errors
/// If there is no such network here, or no port is free.
pub fn open(
    network: &NetworkChoice,
    ports: &RangeInclusive<u16>,
    memory_bytes: usize,
) -> Result<UnconnectedWire, TlsError> {
    let memory = Memory::new(memory_bytes).map_err(TlsError::Memory)?;
    let port = BoundPort::bind(network, ports).map_err(TlsError::NoPort)?;
    let address = port.address().encode();
    Ok(UnconnectedWire { port, address, memory })
}

impl UnconnectedWire {
    /// What the other nodes need to reach this one: some ten bytes for each network that it has.
    pub fn address(&self) -> &[u8] {
        &self.address
    }

    /// Listens to the nodes of a job. `addresses` are those of all nodes, this one's among them. Connections
    /// are made when they are first used.
    ///
    /// # Errors
    /// If an address is none, or the kernel has no descriptor left.
    pub fn connect(
        self,
        node: NodeId,
        secret: &JobSecret,
        addresses: &[Vec<u8>],
    ) -> Result<TlsWire, TlsError> {
        let identity = Identity::new(secret, node)?;
        self.connect_as(node, secret, identity, addresses)
    }

    /// The same for a node that connects to the others, and to which none connects: it listens nowhere.
    ///
    /// # Errors
    /// Those of [`UnconnectedWire::connect`].
    pub fn connect_without_listening(
        self,
        node: NodeId,
        secret: &JobSecret,
        addresses: &[Vec<u8>],
    ) -> Result<TlsWire, TlsError> {
        let identity = Identity::new(secret, node)?;
        self.connect_to(node, secret, identity, addresses, false)
    }

    /// The same with an identity that is made by the caller.
    pub(super) fn connect_as(
        self,
        node: NodeId,
        secret: &JobSecret,
        identity: Identity,
        addresses: &[Vec<u8>],
    ) -> Result<TlsWire, TlsError> {
        self.connect_to(node, secret, identity, addresses, true)
    }

    fn connect_to(
        self,
        node: NodeId,
        secret: &JobSecret,
        identity: Identity,
        addresses: &[Vec<u8>],
        listens: bool,
    ) -> Result<TlsWire, TlsError> {
        let error = || TlsError::Addresses(addresses.len(), node.index());
        let parsed = addresses.iter().map(|bytes| NodeAddress::parse(bytes));
        let parsed = parsed.collect::<Option<Vec<_>>>().ok_or_else(error)?;
        if node.index() >= parsed.len() {
            return Err(error());
        }
        let own = &self.port.address().addresses;
        let reached = |(number, address): (usize, &NodeAddress)| {
            let is_other = number != node.index();
            is_other.then(|| SocketAddr::new(address.reached_from(own), address.port))
        };
        let peers: Vec<Option<SocketAddr>> = parsed.iter().enumerate().map(reached).collect();
        let others = parsed.iter().enumerate().filter(|(number, _)| *number != node.index());
        let others: Vec<&NodeAddress> = others.map(|(_, address)| address).collect();
        let reached_at = self.port.address().reached_at(&others);
        let listening = match listens {
            true => self.port.listen(others.into_iter()).map_err(TlsError::NoListener)?,
            false => Vec::new(),
        };
        let greeting = GreetingKey::new(secret);
        let connections = Connections::new(node, peers.len(), identity, greeting, listening);
        Ok(TlsWire::new(node, reached_at, peers, self.memory, connections.map_err(TlsError::NoListener)?))
    }
}
