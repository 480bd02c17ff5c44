//! The socket: sends one datagram to several nodes, and takes several that have come, with one system call
//! each.

use crate::hand_over::owned;
use crate::seal::MAX_DATAGRAM_BYTES;
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// Datagrams that are taken with one system call.
const AT_ONCE: usize = 16;
/// Bytes that the kernel is asked to keep for the ranks of a node while they compute. It may grant less.
const KEPT_BYTES: libc::c_int = 4 << 20;

/// Where a node is reached, in a form of fixed size that processes can share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The port; 0: there is no address.
    pub port: u16,
    /// Whether it is an address of IPv6.
    pub is_v6: bool,
    /// The address; of IPv4 the first four bytes.
    pub ip: [u8; 16],
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Address {
        let mut ip = [0; 16];
        match address {
            SocketAddr::V4(v4) => ip[..4].copy_from_slice(&v4.ip().octets()),
            SocketAddr::V6(v6) => ip = v6.ip().octets(),
        }
        Address { port: address.port(), is_v6: address.is_ipv6(), ip }
    }
}

/// A socket address as the kernel wants it.
#[derive(Clone, Copy)]
struct KernelAddress {
    storage: libc::sockaddr_storage,
    length: libc::socklen_t,
}

impl KernelAddress {
    fn new(address: &Address) -> KernelAddress {
        // SAFETY: all zeros are a valid value.
        let mut storage: libc::sockaddr_storage = unsafe { MaybeUninit::zeroed().assume_init() };
        let place = &raw mut storage;
        // SAFETY: there is room for an address of either family, and it is aligned for both.
        let length = unsafe {
            if address.is_v6 {
                let v6 = &mut *place.cast::<libc::sockaddr_in6>();
                v6.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                v6.sin6_port = address.port.to_be();
                v6.sin6_addr.s6_addr = address.ip;
                size_of::<libc::sockaddr_in6>()
            } else {
                let v4 = &mut *place.cast::<libc::sockaddr_in>();
                v4.sin_family = libc::AF_INET as libc::sa_family_t;
                v4.sin_port = address.port.to_be();
                v4.sin_addr.s_addr = u32::from_ne_bytes(address.ip[..4].try_into().expect("four bytes"));
                size_of::<libc::sockaddr_in>()
            }
        };
        KernelAddress { storage, length: length as libc::socklen_t }
    }
}

/// A node's socket for datagrams. Several processes may use it at the same time.
pub struct DatagramSocket {
    socket: OwnedFd,
    /// Where each node is reached.
    peers: Vec<KernelAddress>,
}

/// Takes a port for datagrams at one of this node's addresses.
///
/// # Errors
/// If the kernel refuses.
pub fn bind(at: SocketAddr) -> io::Result<OwnedFd> {
    let family = if at.is_ipv6() { libc::AF_INET6 } else { libc::AF_INET };
    let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let address = KernelAddress::new(&at.into());
    // SAFETY: makes a descriptor, which belongs to the result; the address is a valid one of its length.
    unsafe {
        let socket = owned(libc::socket(family, kind, 0))?;
        let fd = socket.as_raw_fd();
        let (kept, size) = (KEPT_BYTES, size_of::<libc::c_int>() as libc::socklen_t);
        // It is a wish: with less, more datagrams are lost.
        libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, (&raw const kept).cast(), size);
        if libc::bind(fd, (&raw const address.storage).cast(), address.length) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(socket)
    }
}

impl DatagramSocket {
    /// A socket from [`bind`], which another process may have called. `peers`: where each node of the job is
    /// reached.
    pub fn new(socket: OwnedFd, peers: &[Address]) -> DatagramSocket {
        DatagramSocket { socket, peers: peers.iter().map(KernelAddress::new).collect() }
    }

    /// Sends a datagram to some nodes. One that the kernel does not take is lost.
    pub fn send(&self, datagram: &[u8], to: impl Iterator<Item = usize>) {
        let mut piece =
            libc::iovec { iov_base: datagram.as_ptr().cast_mut().cast(), iov_len: datagram.len() };
        let mut headers = [const { MaybeUninit::<libc::mmsghdr>::zeroed() }; AT_ONCE];
        let mut count = 0;
        let mut to = to.peekable();
        while let Some(node) = to.next() {
            let peer = &self.peers[node];
            // SAFETY: all zeros are a valid value.
            let header = unsafe { headers[count].assume_init_mut() };
            header.msg_hdr.msg_name = (&raw const peer.storage).cast_mut().cast();
            header.msg_hdr.msg_namelen = peer.length;
            header.msg_hdr.msg_iov = &raw mut piece;
            header.msg_hdr.msg_iovlen = 1;
            count += 1;
            if count == AT_ONCE || to.peek().is_none() {
                // SAFETY: so many headers have been filled in; what they point to lives until then.
                unsafe { self.send_all(headers.as_mut_ptr().cast(), count) };
                count = 0;
            }
        }
    }

    /// # Safety
    /// `count` valid headers at `first`.
    unsafe fn send_all(&self, mut first: *mut libc::mmsghdr, mut count: usize) {
        while count > 0 {
            // SAFETY: by the caller's promise.
            let sent =
                unsafe { libc::sendmmsg(self.socket.as_raw_fd(), first, count as u32, libc::MSG_DONTWAIT) };
            let done = match usize::try_from(sent) {
                Ok(sent) => sent,
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => 0,
                Err(_) => 1, // the first one cannot be sent
            };
            // SAFETY: within the headers.
            first = unsafe { first.add(done) };
            count -= done;
        }
    }

    /// Takes datagrams that have come, and gives each to `each`. Returns how many there were. Never waits.
    pub fn receive(&self, mut each: impl FnMut(&mut [u8])) -> usize {
        let mut buffers = [const { MaybeUninit::<[u8; MAX_DATAGRAM_BYTES]>::uninit() }; AT_ONCE];
        let mut all = 0;
        loop {
            let mut pieces = [const { MaybeUninit::<libc::iovec>::uninit() }; AT_ONCE];
            let mut headers = [const { MaybeUninit::<libc::mmsghdr>::zeroed() }; AT_ONCE];
            for ((buffer, piece), header) in buffers.iter_mut().zip(&mut pieces).zip(&mut headers) {
                let place = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: MAX_DATAGRAM_BYTES };
                // SAFETY: all zeros are a valid header.
                let header = unsafe { &mut header.assume_init_mut().msg_hdr };
                header.msg_iov = piece.write(place);
                header.msg_iovlen = 1;
            }
            // SAFETY: so many headers, each with room for a datagram.
            let taken = unsafe {
                libc::recvmmsg(
                    self.socket.as_raw_fd(),
                    headers.as_mut_ptr().cast(),
                    AT_ONCE as u32,
                    libc::MSG_DONTWAIT,
                    std::ptr::null_mut(),
                )
            };
            let taken = usize::try_from(taken).unwrap_or(0);
            for (buffer, header) in buffers.iter_mut().zip(&headers).take(taken) {
                // SAFETY: the kernel has filled in the header, and so many bytes of the buffer. One that was
                // longer has been cut, and is refused.
                let bytes = unsafe {
                    let length = header.assume_init_ref().msg_len as usize;
                    std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast::<u8>(), length)
                };
                each(bytes);
            }
            all += taken;
            if taken < AT_ONCE {
                return all;
            }
        }
    }

    /// Sleeps until a datagram has come, for `longest_ns` at most.
    pub fn sleep(&self, longest_ns: u64) {
        let mut watched = libc::pollfd { fd: self.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let longest = libc::timespec {
            tv_sec: (longest_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (longest_ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: one valid entry, and a time that outlives the call.
        unsafe { libc::ppoll(&mut watched, 1, &longest, std::ptr::null()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn socket_address(address: Address) -> SocketAddr {
        let v4 = || Ipv4Addr::from(<[u8; 4]>::try_from(&address.ip[..4]).expect("four bytes"));
        if address.is_v6 {
            SocketAddr::new(Ipv6Addr::from(address.ip).into(), address.port)
        } else {
            SocketAddr::new(v4().into(), address.port)
        }
    }

    fn sockets(count: usize) -> Vec<DatagramSocket> {
        let bound: Vec<_> = (0..count).map(|_| bind("127.0.0.1:0".parse().unwrap()).unwrap()).collect();
        let address = |socket: &OwnedFd| {
            let socket: std::net::UdpSocket = socket.try_clone().unwrap().into();
            Address::from(socket.local_addr().unwrap())
        };
        let peers: Vec<Address> = bound.iter().map(address).collect();
        bound.into_iter().map(|socket| DatagramSocket::new(socket, &peers)).collect()
    }

    fn received(socket: &DatagramSocket) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        socket.receive(|bytes| all.push(bytes.to_vec()));
        all
    }

    #[test]
    fn an_address_is_the_same_in_both_forms() {
        for text in ["10.1.2.3:4711", "[fd00::1:2]:80"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(socket_address(Address::from(address)), address);
        }
    }

    #[test]
    fn one_datagram_reaches_several_nodes() {
        let all = sockets(40);
        all[0].send(b"to all", 1..40);
        for socket in &all[1..] {
            socket.sleep(1_000_000_000);
            assert_eq!(received(socket), [b"to all"]);
            assert!(received(socket).is_empty());
        }
        assert!(received(&all[0]).is_empty());
    }

    #[test]
    fn many_datagrams_are_taken_in_order_and_a_long_one_is_cut() {
        let all = sockets(2);
        for number in 0..50u8 {
            all[0].send(&[number; MAX_DATAGRAM_BYTES], [1].into_iter());
        }
        all[0].send(&[0; MAX_DATAGRAM_BYTES + 1], [1].into_iter());
        let taken = received(&all[1]);
        assert_eq!(taken.len(), 51);
        assert!(taken.iter().zip(0..50u8).all(|(bytes, number)| *bytes == [number; MAX_DATAGRAM_BYTES]));
        assert_eq!(taken[50].len(), MAX_DATAGRAM_BYTES);
    }
}
