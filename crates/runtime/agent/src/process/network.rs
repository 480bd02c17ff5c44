//! What carries the agent's messages to other nodes: TLS, or UCX over hardware for RDMA.
//!
//! Every agent opens what it can and tells the others where it is reached; then all of them choose alike,
//! from what all have told.

use crate::error::AgentError;
use evenkeel_datagram::HandOver;
use evenkeel_engine::job::agent_commands::{AgentInfo, FabricAddresses, NodeSetup};
use evenkeel_engine::job::direct_link::address_to_words;
use evenkeel_engine::job::node::Node;
use evenkeel_fabric::tls::{self, NetworkChoice, RefusedConnections, TlsWire};
use evenkeel_fabric::ucx::{self, UcxWire};
use evenkeel_fabric::{Event, NodeId, SleepingWire, Wire};
use evenkeel_options as options;
use evenkeel_secret::JobSecret;
use evenkeel_segment::datagrams::{Datagrams, SocketPlace};
use evenkeel_segment::unclaimed::UnclaimedExtent;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;
use std::time::Duration;

/// Bytes that other nodes may write into by themselves. Agents use messages only, and UCX needs some memory.
const EXPOSED_BYTES: usize = 4096;
/// How many connections UCX is told to expect.
const EXPECTED_NODES: usize = 8;
/// How long the agent waits for ranks to take the socket for datagrams.
const HAND_OVER_PATIENCE: Duration = Duration::from_secs(2);
/// Where the kernel lists devices for RDMA.
const RDMA_DEVICES: &str = "/sys/class/infiniband";
/// UCX's setting that leaves out TCP: its listener obeys every process that can connect to it.
const NO_TCP: (&str, &str) = ("TLS", "^tcp");

/// The fabric that the option names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FabricChoice {
    Auto,
    Tls,
    Ucx,
}

/// What an agent has opened before it knows the other nodes.
pub struct OpenedFabrics {
    tls: Option<tls::UnconnectedWire>,
    ucx: Option<ucx::UnconnectedWire>,
}

impl OpenedFabrics {
    /// Opens what the options want and this machine has.
    ///
    /// # Errors
    /// If an option has no such value, or a fabric that is needed cannot be opened.
    pub fn open() -> Result<OpenedFabrics, AgentError> {
        let choice = fabric_choice(&options::FABRIC.get())?;
        let has_rdma = has_rdma(Path::new(RDMA_DEVICES));
        // What users set in UCX's own variable has precedence, and then is theirs to answer for.
        let names_transports = std::env::var_os("UCX_TLS").is_some_and(|value| !value.is_empty());
        if choice == FabricChoice::Ucx && !has_rdma && !names_transports {
            return Err(AgentError::NoRdma);
        }
        let tls = if choice == FabricChoice::Ucx {
            None
        } else {
            let network: NetworkChoice = options::NETWORK.get().parse()?;
            Some(tls::open(&network, &ports(&options::PORTS.get())?, 0)?)
        };
        let settings: Vec<(&str, &str)> =
            ucx::EAGER.into_iter().chain((!names_transports).then_some(NO_TCP)).collect();
        let ucx = match choice {
            FabricChoice::Tls => None,
            FabricChoice::Auto if !has_rdma => None,
            // Without UCX the hardware is not used.
            FabricChoice::Auto => ucx::open(EXPECTED_NODES, EXPOSED_BYTES, &settings).ok(),
            FabricChoice::Ucx => Some(ucx::open(EXPECTED_NODES, EXPOSED_BYTES, &settings)?),
        };
        Ok(OpenedFabrics { tls, ucx })
    }

    /// Where this agent is reached.
    pub fn addresses(&self) -> FabricAddresses {
        FabricAddresses {
            tls: self.tls.as_ref().map_or(Vec::new(), |wire| wire.address().to_vec()),
            ucx: self.ucx.as_ref().map_or(Vec::new(), |wire| wire.address().to_vec()),
        }
    }

    /// Connects to the agents of the job over the fabric that all of them have: UCX if possible.
    ///
    /// # Errors
    /// If they have none in common, or a connection cannot be prepared.
    pub fn connect(self, setup: &NodeSetup) -> Result<Network, AgentError> {
        let node = NodeId(setup.node);
        if let (Some(wire), Some(addresses)) = (self.ucx, all(&setup.nodes, |node| &node.addresses.ucx)) {
            tracing::info!("messages go over UCX");
            return Ok(Network::Ucx(Box::new(wire.connect(node, &addresses)?)));
        }
        if let (Some(wire), Some(addresses)) = (self.tls, all(&setup.nodes, |node| &node.addresses.tls)) {
            tracing::info!("messages go over TLS");
            let secret = JobSecret::new(setup.secret);
            return Ok(Network::Tls(Box::new(wire.connect(node, &secret, &addresses)?)));
        }
        Err(AgentError::NoCommonFabric)
    }
}

/// A socket for datagrams at the address where the other nodes reach this one, where they are reached, and
/// the means to give it to the ranks.
fn datagram_socket(wire: &TlsWire) -> Option<(OwnedFd, Vec<[u64; 3]>, HandOver)> {
    let own = wire.reached_at()?;
    let addresses: Vec<SocketAddr> = wire.addresses().map(|peer| peer.unwrap_or(own)).collect();
    let is_one_family = addresses.iter().all(|address| address.is_ipv4() == own.is_ipv4());
    is_one_family.then_some(())?;
    let socket = evenkeel_datagram::bind(own).ok()?;
    let words = |address: &SocketAddr| address_to_words(&(*address).into());
    Some((socket, addresses.iter().map(words).collect(), HandOver::new().ok()?))
}

/// All nodes' addresses in a fabric; None if one of them has none.
fn all(nodes: &[AgentInfo], of: impl Fn(&AgentInfo) -> &Vec<u8>) -> Option<Vec<Vec<u8>>> {
    nodes.iter().map(|node| Some(of(node)).filter(|address| !address.is_empty()).cloned()).collect()
}

/// The fabric that carries a job's messages.
pub enum Network {
    /// Over TCP.
    Tls(Box<TlsWire>),
    /// Over hardware for RDMA, or what the user has named.
    Ucx(Box<UcxWire>),
}

impl Network {
    fn wire(&mut self) -> &mut dyn SleepingWire {
        match self {
            Network::Tls(wire) => wire.as_mut(),
            Network::Ucx(wire) => wire.as_mut(),
        }
    }

    /// Connections of processes that are none of the job. UCX does not tell them apart.
    pub fn refused(&self) -> Option<&RefusedConnections> {
        match self {
            Network::Tls(wire) => Some(wire.refused()),
            Network::Ucx(_) => None,
        }
    }

    /// Opens the socket over which the ranks here send datagrams, and gives it to them. Without TLS, or if
    /// the nodes reach each other at different addresses, there is none.
    pub fn give_datagram_socket(&self, world: &Node, is_wanted: bool) {
        let datagrams = Datagrams::new(&world.segment);
        let opened = match self {
            Network::Tls(wire) if is_wanted => datagram_socket(wire),
            _ => None,
        };
        let unclaimed = opened.as_ref().and_then(|_| world.allocator().allocate(&UnclaimedExtent));
        let Some(((socket, addresses, hand_over), unclaimed)) = opened.zip(unclaimed) else {
            return datagrams.open_none();
        };
        let place = SocketPlace { name: hand_over.name(), unclaimed: unclaimed.offset() as u64 };
        datagrams.open(place, &addresses);
        hand_over.give(&socket, world.neighbours.len(), HAND_OVER_PATIENCE);
    }

    /// See [`Wire::poll`].
    pub fn poll(&mut self) -> Option<Event> {
        match self {
            Network::Tls(wire) => wire.poll(),
            Network::Ucx(wire) => wire.poll(),
        }
    }

    /// See [`SleepingWire::next_event`].
    pub fn next_event(&mut self) -> Option<Event> {
        self.wire().next_event()
    }

    /// Sends a message. That a node is gone is found out when a rank waits for it.
    pub fn send(&mut self, to: NodeId, header: Vec<u8>, data: bytes::Bytes) {
        let _ = self.wire().send_parts(to, header, data);
    }

    /// See [`SleepingWire::arm`].
    pub fn arm(&mut self) -> Option<RawFd> {
        self.wire().arm()
    }

    /// See [`SleepingWire::is_flushed`].
    pub fn is_flushed(&mut self) -> bool {
        self.wire().is_flushed()
    }

    /// See [`SleepingWire::must_be_called`].
    pub fn must_be_called(&mut self) -> bool {
        self.wire().must_be_called()
    }
}

fn fabric_choice(text: &str) -> Result<FabricChoice, AgentError> {
    match text {
        "auto" => Ok(FabricChoice::Auto),
        "tls" => Ok(FabricChoice::Tls),
        "ucx" => Ok(FabricChoice::Ucx),
        _ => Err(AgentError::UnknownFabric(text.to_string())),
    }
}

/// Reads `FIRST-LAST`; nothing: any port.
fn ports(text: &str) -> Result<RangeInclusive<u16>, AgentError> {
    if text.is_empty() {
        return Ok(0..=0);
    }
    let range = text.split_once('-').unwrap_or((text, text));
    let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
    match (port(range.0), port(range.1)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(AgentError::UnknownPorts(text.to_string())),
    }
}

/// Whether this machine has a device for RDMA with a connected port that UCX can use. Those of Amazon (EFA)
/// are left out: older versions of UCX reach them over TCP alone.
fn has_rdma(devices: &Path) -> bool {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_connected = |device: &Path| {
        entries(&device.join("ports")).any(|port| {
            let state = std::fs::read_to_string(port.path().join("state"));
            state.is_ok_and(|state| state.contains("ACTIVE"))
        })
    };
    entries(devices).any(|device| {
        let driver = std::fs::canonicalize(device.path().join("device/driver"));
        let is_efa = driver.is_ok_and(|driver| driver.file_name() == Some(OsStr::new("efa")));
        !is_efa && is_connected(&device.path())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn ports_are_a_range_a_number_or_nothing() {
        assert_eq!(ports("").unwrap(), 0..=0);
        assert_eq!(ports("10000-10100").unwrap(), 10000..=10100);
        assert_eq!(ports("10000").unwrap(), 10000..=10000);
        for wrong in ["0", "5-4", "a-b", "1-70000", "-"] {
            assert!(ports(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn hardware_counts_if_a_port_of_it_is_connected() {
        let devices = std::env::temp_dir().join(format!("evenkeel-rdma-{}", std::process::id()));
        assert!(!has_rdma(&devices), "there is no such folder");
        let port = devices.join("mlx5_0/ports/1");
        fs::create_dir_all(&port).unwrap();
        assert!(!has_rdma(&devices));
        fs::write(port.join("state"), "1: DOWN\n").unwrap();
        assert!(!has_rdma(&devices));
        fs::write(port.join("state"), "4: ACTIVE\n").unwrap();
        assert!(has_rdma(&devices));
        let drivers = devices.join("drivers/efa");
        fs::create_dir_all(&drivers).unwrap();
        fs::create_dir_all(devices.join("mlx5_0/device")).unwrap();
        std::os::unix::fs::symlink(&drivers, devices.join("mlx5_0/device/driver")).unwrap();
        assert!(!has_rdma(&devices), "Amazon's");
        fs::remove_dir_all(&devices).unwrap();
    }
}
