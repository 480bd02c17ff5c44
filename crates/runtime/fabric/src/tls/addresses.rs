//! Which network addresses a node has, and which of them the other nodes connect to.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// How many of its addresses a node tells the others at most.
const MAX_ADDRESSES: usize = 16;

/// An address of this machine, and how many of its bits name the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InterfaceAddress {
    pub ip: IpAddr,
    pub prefix: u8,
}

/// Which of this machine's networks are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkChoice {
    /// Those over which the nodes can reach each other, found from the addresses of all nodes.
    Auto,
    /// All of them: the port listens on every address, also on those that are added later.
    Any,
    /// That of one interface.
    Interface(String),
    /// That of the addresses that have so many bits in common with this one.
    Network(IpAddr, u8),
}

/// The text names no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' names no network. Write auto, any, the name of an interface such as eth0, or a network such as \
     10.1.0.0/16"
)]
pub struct NetworkChoiceError(String);

impl FromStr for NetworkChoice {
    type Err = NetworkChoiceError;

    fn from_str(text: &str) -> Result<NetworkChoice, NetworkChoiceError> {
        let error = || NetworkChoiceError(text.to_string());
        match text {
            "auto" => return Ok(NetworkChoice::Auto),
            "any" => return Ok(NetworkChoice::Any),
            _ => {}
        }
        let (address, prefix) = text.split_once('/').map_or((text, None), |(ip, bits)| (ip, Some(bits)));
        if let Ok(ip) = address.parse::<IpAddr>() {
            let bits = prefix.map_or(Ok(bits_of(ip)), str::parse::<u8>).map_err(|_| error())?;
            return if bits <= bits_of(ip) { Ok(NetworkChoice::Network(ip, bits)) } else { Err(error()) };
        }
        let is_name = prefix.is_none() && !text.is_empty() && !text.contains(char::is_whitespace);
        if is_name { Ok(NetworkChoice::Interface(text.to_string())) } else { Err(error()) }
    }
}

fn bits_of(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// Whether two addresses have so many bits in common.
fn share_network(one: IpAddr, other: IpAddr, prefix: u8) -> bool {
    let common = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        _ => return false,
    };
    common >= u32::from(prefix)
}

/// The addresses of this machine that are meant by `choice`, those of IPv4 first. Those of the machine alone
/// (loopback) are left out if there are others, unless they are asked for.
pub(super) fn addresses(choice: &NetworkChoice) -> io::Result<Vec<InterfaceAddress>> {
    let all = interfaces()?;
    let is_meant = |(name, address): &(String, InterfaceAddress)| match choice {
        NetworkChoice::Auto | NetworkChoice::Any => true,
        NetworkChoice::Interface(meant) => name == meant,
        NetworkChoice::Network(ip, prefix) => share_network(*ip, address.ip, *prefix),
    };
    let mut found: Vec<InterfaceAddress> =
        all.into_iter().filter(is_meant).map(|(_, address)| address).collect();
    if found.iter().any(|address| !address.ip.is_loopback()) {
        found.retain(|address| !address.ip.is_loopback());
    }
    found.sort_by_key(|address| address.ip.is_ipv6());
    found.truncate(MAX_ADDRESSES);
    Ok(found)
}

/// Name and address of each interface that is up and connected. IPv6 addresses that hold for one link only
/// are left out: they mean something together with an interface's number alone.
fn interfaces() -> io::Result<Vec<(String, InterfaceAddress)>> {
    let mut found = Vec::new();
    // SAFETY: the list is freed once, after the last access; each entry's address is read as what its family
    // says it is.
    unsafe {
        let mut list = std::ptr::null_mut();
        if libc::getifaddrs(&mut list) != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut next = list;
        while !next.is_null() {
            let entry = &*next;
            next = entry.ifa_next;
            let usable = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
            if entry.ifa_flags & usable != usable {
                continue;
            }
            let Some(ip) = ip_of(entry.ifa_addr) else { continue };
            let mask = ip_of(entry.ifa_netmask);
            let prefix = match mask {
                Some(IpAddr::V4(mask)) => mask.to_bits().leading_ones(),
                Some(IpAddr::V6(mask)) => mask.to_bits().leading_ones(),
                None => u32::from(bits_of(ip)),
            };
            let is_of_a_link = matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
            if !is_of_a_link {
                let name = CStr::from_ptr(entry.ifa_name).to_string_lossy().into_owned();
                found.push((name, InterfaceAddress { ip, prefix: prefix as u8 }));
            }
        }
        libc::freeifaddrs(list);
    }
    Ok(found)
}

/// The IP address in a socket address; None if it has none.
///
/// # Safety
/// `address` is null, or points to a socket address of the family that it names.
unsafe fn ip_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: by the caller's promise; reads need no alignment.
    unsafe {
        match i32::from((*address).sa_family) {
            libc::AF_INET => {
                let address = address.cast::<libc::sockaddr_in>().read_unaligned();
                Some(Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes()).into())
            }
            libc::AF_INET6 => {
                let address = address.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

/// What a node tells the others: where it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeAddress {
    pub port: u16,
    pub addresses: Vec<InterfaceAddress>,
}

impl NodeAddress {
    /// Port (2 bytes), and for each address its length in bytes, the bits that name the network, and itself.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.port.to_le_bytes().to_vec();
        for InterfaceAddress { ip, prefix } in &self.addresses {
            let octets = match ip {
                IpAddr::V4(ip) => ip.octets().to_vec(),
                IpAddr::V6(ip) => ip.octets().to_vec(),
            };
            bytes.extend_from_slice(&[octets.len() as u8, *prefix]);
            bytes.extend_from_slice(&octets);
        }
        bytes
    }

    /// None for bytes that are no address.
    pub fn parse(bytes: &[u8]) -> Option<NodeAddress> {
        let (port, mut rest) = bytes.split_first_chunk::<2>()?;
        let mut addresses = Vec::new();
        while let Some((&[length, prefix], behind)) = rest.split_first_chunk::<2>() {
            let (octets, behind) = behind.split_at_checked(length.into())?;
            let ip: IpAddr = match length {
                4 => <[u8; 4]>::try_from(octets).ok()?.into(),
                16 => <[u8; 16]>::try_from(octets).ok()?.into(),
                _ => return None,
            };
            if prefix > bits_of(ip) || addresses.len() == MAX_ADDRESSES {
                return None;
            }
            addresses.push(InterfaceAddress { ip, prefix });
            rest = behind;
        }
        let is_address = rest.is_empty() && !addresses.is_empty();
        is_address.then_some(NodeAddress { port: u16::from_le_bytes(*port), addresses })
    }

    /// Where these nodes reach this one, if that is one address.
    pub fn reached_at(&self, others: &[&NodeAddress]) -> Option<SocketAddr> {
        let mut reached = others.iter().map(|other| self.reached_from(&other.addresses));
        let first = reached.next()?;
        reached.all(|ip| ip == first).then(|| SocketAddr::new(first, self.port))
    }

    /// Which of this node's addresses a node with the addresses `from` connects to. All nodes know all
    /// addresses, so this node knows it, too.
    pub fn reached_from(&self, from: &[InterfaceAddress]) -> IpAddr {
        let is_own = |ip: IpAddr| from.iter().any(|own| own.ip == ip);
        let shares = |ip: IpAddr| from.iter().any(|own| share_network(own.ip, ip, own.prefix));
        let ips = || self.addresses.iter().map(|address| address.ip);
        // An address that both have, such as that of Docker's bridge, would be the other node's own.
        let neighbour = ips().find(|ip| !is_own(*ip) && shares(*ip));
        let elsewhere = || ips().find(|ip| !is_own(*ip));
        // Nodes that have all addresses in common share a network namespace.
        neighbour.or_else(elsewhere).unwrap_or(self.addresses[0].ip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> InterfaceAddress {
        let (ip, prefix) = text.split_once('/').unwrap();
        InterfaceAddress { ip: ip.parse().unwrap(), prefix: prefix.parse().unwrap() }
    }

    fn node(addresses: &[&str]) -> NodeAddress {
        NodeAddress { port: 4711, addresses: addresses.iter().map(|text| at(text)).collect() }
    }

    #[test]
    fn an_address_is_read_as_it_was_written() {
        let address = node(&["10.0.0.1/24", "fd00::1/64"]);
        let bytes = address.encode();
        assert_eq!(NodeAddress::parse(&bytes), Some(address));
        for length in 0..bytes.len() {
            let whole = [2, 2 + 6].contains(&length);
            assert_eq!(NodeAddress::parse(&bytes[..length]).is_some(), whole && length > 2, "{length}");
        }
        assert_eq!(NodeAddress::parse(&[1, 1, 5, 0, 1, 2, 3, 4, 5]), None);
        assert_eq!(NodeAddress::parse(&node(&["10.0.0.1/33"]).encode()), None);
        assert_eq!(NodeAddress::parse(&node(&["10.0.0.1/24"; MAX_ADDRESSES + 1]).encode()), None);
    }

    #[test]
    fn nodes_connect_over_a_network_that_both_have() {
        let one = node(&["172.17.0.1/16", "192.168.1.1/24", "10.0.0.1/24"]);
        let other = node(&["172.17.0.1/16", "10.0.0.2/24"]);
        assert_eq!(one.reached_from(&other.addresses), at("10.0.0.1/24").ip);
        assert_eq!(other.reached_from(&one.addresses), at("10.0.0.2/24").ip);
        let far = node(&["172.17.0.1/16", "10.9.0.1/24"]);
        assert_eq!(one.reached_at(&[&other, &far]), None, "at two addresses");
        assert_eq!(one.reached_at(&[&other, &other]), Some("10.0.0.1:4711".parse().unwrap()));
        assert_eq!(one.reached_from(&far.addresses), at("192.168.1.1/24").ip, "over a router");
        assert_eq!(one.reached_from(&one.addresses), at("172.17.0.1/16").ip, "in one namespace");
    }

    #[test]
    fn a_network_is_named_in_four_ways() {
        let network = |text: &str| text.parse::<NetworkChoice>();
        assert_eq!(network("auto"), Ok(NetworkChoice::Auto));
        assert_eq!(network("any"), Ok(NetworkChoice::Any));
        assert_eq!(network("eth0"), Ok(NetworkChoice::Interface("eth0".into())));
        assert_eq!(network("10.1.0.0/16"), Ok(NetworkChoice::Network([10, 1, 0, 0].into(), 16)));
        assert_eq!(network("10.1.0.7"), Ok(NetworkChoice::Network([10, 1, 0, 7].into(), 32)));
        for wrong in ["", "10.1.0.0/33", "10.1.0.0/", "eth0/1", "two words"] {
            assert!(network(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_loopback_address_is_found_if_it_is_asked_for() {
        let network = "127.0.0.0/8".parse().unwrap();
        let found = addresses(&network).unwrap();
        assert!(found.contains(&at("127.0.0.1/8")), "{found:?}");
    }
}
