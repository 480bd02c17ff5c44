//! The port on which a node is reached.

use super::addresses::{InterfaceAddress, NetworkChoice, NodeAddress, addresses};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;

/// Connections that the kernel keeps for a node until it accepts them.
const BACKLOG: i32 = 128;
/// How often a port is sought that is free on all addresses.
const ATTEMPTS: usize = 64;

/// Ports that may be used, for firewalls; 0 alone: any port that is free.
pub(super) type Ports = RangeInclusive<u16>;

/// A port that is taken, on all addresses that other nodes might connect to. It does not listen yet.
pub(super) struct BoundPort {
    sockets: Vec<(IpAddr, Socket)>,
    address: NodeAddress,
    listens_everywhere: bool,
}

impl BoundPort {
    pub fn bind(choice: &NetworkChoice, ports: &Ports) -> io::Result<BoundPort> {
        let found = addresses(choice)?;
        if found.is_empty() {
            return Err(io::Error::new(ErrorKind::AddrNotAvailable, "there is no such network here"));
        }
        let everywhere = InterfaceAddress { ip: Ipv4Addr::UNSPECIFIED.into(), prefix: 0 };
        let listens_everywhere = *choice == NetworkChoice::Any;
        let bound_to = if listens_everywhere { &[everywhere][..] } else { &found };
        let mut error = io::Error::from(ErrorKind::AddrInUse);
        for port in ports_to_try(ports) {
            match bind_all(bound_to, port) {
                Ok((sockets, port)) => {
                    let address = NodeAddress { port, addresses: found };
                    return Ok(BoundPort { sockets, address, listens_everywhere });
                }
                Err(other) if other.kind() == ErrorKind::AddrInUse => error = other,
                Err(other) => return Err(other),
            }
        }
        Err(error)
    }

    /// What the other nodes need to know.
    pub fn address(&self) -> &NodeAddress {
        &self.address
    }

    /// Listens where the other nodes connect to, and gives up the other addresses.
    pub fn listen<'a>(self, others: impl Iterator<Item = &'a NodeAddress>) -> io::Result<Vec<Socket>> {
        let reached: Vec<IpAddr> = others.map(|other| self.address.reached_from(&other.addresses)).collect();
        let mut listening = Vec::new();
        for (ip, socket) in self.sockets {
            if self.listens_everywhere || reached.contains(&ip) {
                socket.listen(BACKLOG)?;
                listening.push(socket);
            }
        }
        Ok(listening)
    }
}

/// Each port of a range once, from a place on that differs between processes; or some free ones.
fn ports_to_try(ports: &Ports) -> Vec<u16> {
    if *ports == (0..=0) {
        return vec![0; ATTEMPTS];
    }
    let mut all: Vec<u16> = ports.clone().collect();
    if !all.is_empty() {
        let middle = std::process::id() as usize % all.len();
        all.rotate_left(middle);
    }
    all
}

/// Takes one port on all these addresses; 0: one that is free.
fn bind_all(found: &[InterfaceAddress], mut port: u16) -> io::Result<(Vec<(IpAddr, Socket)>, u16)> {
    let mut sockets = Vec::new();
    for &InterfaceAddress { ip, .. } in found {
        let at = SocketAddr::new(ip, port);
        let socket = Socket::new(Domain::for_address(at), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        if ip.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.bind(&at.into())?;
        let own = socket.local_addr()?.as_socket();
        port = own.ok_or(ErrorKind::AddrNotAvailable)?.port();
        sockets.push((ip, socket));
    }
    Ok((sockets, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn a_port_listens_where_the_other_nodes_connect_to_and_nowhere_else() {
        let network: NetworkChoice = "127.0.0.0/8".parse().unwrap();
        let one = BoundPort::bind(&network, &(0..=0)).unwrap();
        let at = SocketAddr::new([127, 0, 0, 1].into(), one.address().port);
        assert_eq!(TcpStream::connect(at).unwrap_err().kind(), ErrorKind::ConnectionRefused, "not yet");
        let elsewhere = SocketAddr::new([127, 0, 0, 2].into(), at.port());
        let other = one.address().clone();
        let listening = one.listen([&other].into_iter()).unwrap();
        assert_eq!(listening.len(), 1);
        TcpStream::connect(at).unwrap();
        assert!(TcpStream::connect(elsewhere).is_err());
    }

    #[test]
    fn ports_are_taken_from_the_range_that_was_given() {
        let network: NetworkChoice = "127.0.0.1".parse().unwrap();
        let free = BoundPort::bind(&network, &(0..=0)).unwrap().address().port;
        let taken = BoundPort::bind(&network, &(free..=free)).unwrap();
        assert_eq!(taken.address().port, free);
        let error = BoundPort::bind(&network, &(free..=free)).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    }
}
