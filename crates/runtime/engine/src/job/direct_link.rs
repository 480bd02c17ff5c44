//! A rank's way to the other nodes: the socket for datagrams that the ranks of this node share, and what they
//! read there for each other.

use super::inherited::Inherited;
use crate::clock;
use crate::lock::lock;
use crate::wait::settings::WaitSettings;
use evenkeel_datagram::{Address, DatagramSocket, Frame, MAX_FRAME_BYTES, Sealer};
use evenkeel_secret::{JobSecret, SECRET_BYTES};
use evenkeel_segment::datagrams::{Datagrams, SocketState};
use evenkeel_segment::unclaimed::{self, Place, Unclaimed};
use evenkeel_segment::waiters::{Kind, Kinds, Waiters};
use evenkeel_segment::{Mapped, Segment};
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

/// How long a rank waits for the agent to open the socket.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a node waits for datagrams of all others, and how often it sends one meanwhile.
const PROBE_PATIENCE: Duration = Duration::from_secs(2);
const PROBE_INTERVAL: Duration = Duration::from_millis(5);
/// What a node sends once it knows that all is well: the others may lack the last one.
const LAST_PROBES: usize = 3;
/// How long it sleeps between two looks.
const PAUSE: Duration = Duration::from_micros(200);
/// For how long a datagram that wakes threads at the socket is left there for them to see.
const NUDGE_US: u64 = 200;
/// Positions of unclaimed datagrams to which a rank comes back because they were not written yet.
const MOST_UNWRITTEN: usize = 32;
/// What stands in front of an unclaimed frame: the node that has sent it.
const SENDER_BYTES: usize = 4;
const _: () = assert!((SENDER_BYTES + MAX_FRAME_BYTES).next_multiple_of(4) <= unclaimed::MAX_BYTES);

/// An address as three words of the segment.
pub fn address_to_words(address: &Address) -> [u64; 3] {
    let half = |at: usize| u64::from_le_bytes(address.ip[at..at + 8].try_into().expect("eight bytes"));
    [u64::from(address.port) | u64::from(address.is_v6) << 16, half(0), half(8)]
}

fn address_from_words(words: [u64; 3]) -> Address {
    let mut ip = [0; 16];
    ip[..8].copy_from_slice(&words[1].to_le_bytes());
    ip[8..].copy_from_slice(&words[2].to_le_bytes());
    Address { port: words[0] as u16, is_v6: words[0] >> 16 & 1 != 0, ip }
}

/// How far this process has read what ranks here have left for each other.
#[derive(Default)]
struct Reading {
    next: u64,
    /// Earlier positions that were not written yet.
    unwritten: Vec<u64>,
}

/// The socket, and the keys of all nodes.
pub struct DirectLink {
    socket: DatagramSocket,
    inherited: Inherited,
    sealer: Sealer,
    /// How ranks wait for other nodes: those share the cores of this one where they are virtual hosts.
    pub(crate) waiting: WaitSettings,
    /// The ranks here that sleep until other nodes say something.
    pub(crate) waiters: Waiters<Mapped>,
    /// Until when threads of this process do not count on others that sleep at the socket, in nanoseconds of
    /// the node's clock.
    pub(crate) distrusts_until_ns: AtomicU64,
    node: usize,
    /// Room to make datagrams in.
    buffer: Mutex<Vec<u8>>,
    unclaimed: Unclaimed<Mapped>,
    reading: Mutex<Reading>,
}

/// A clock that all processes of the node share.
pub(crate) fn monotonic_us() -> u64 {
    clock::monotonic_ns() / 1000
}

impl DirectLink {
    /// The socket, as a forked child has it.
    pub(super) fn inherited(&self) -> Inherited {
        self.inherited
    }

    /// Takes the socket that the agent gives. `None`, if that is not possible here; the others are told.
    pub(super) fn open(
        segment: &Segment,
        secret: [u8; SECRET_BYTES],
        node: u32,
        nodes: usize,
        waiting: WaitSettings,
    ) -> Option<DirectLink> {
        let datagrams = Datagrams::new(segment);
        let until = Instant::now() + PATIENCE;
        let place = loop {
            match datagrams.state() {
                SocketState::Open(place) => break place,
                SocketState::None => return None,
                SocketState::Unknown if Instant::now() > until => return None,
                SocketState::Unknown => std::thread::sleep(PAUSE),
            }
        };
        let socket = evenkeel_datagram::take(place.name, PATIENCE).ok()?;
        let addresses: Vec<Address> =
            (0..nodes).map(|node| address_from_words(datagrams.address(node))).collect();
        Some(DirectLink {
            inherited: Inherited::of(socket.as_raw_fd()),
            socket: DatagramSocket::new(socket, &addresses),
            sealer: Sealer::new(&JobSecret::new(secret), node, nodes as u32),
            waiting,
            waiters: Waiters::of(segment),
            distrusts_until_ns: AtomicU64::new(0),
            node: node as usize,
            buffer: Mutex::default(),
            unclaimed: Unclaimed::new(segment.at(place.unclaimed as usize)),
            reading: Mutex::default(),
        })
    }

    /// Returns whether datagrams come through between this node and all others. One rank of each node calls
    /// this, at about the same time.
    pub(super) fn probe(&self, segment: &Segment, me: u32, nodes: usize) -> bool {
        let all = u64::MAX >> (64 - nodes);
        let others = || (0..nodes).filter(|node| *node != me as usize);
        let send = |heard: u64| self.send(segment, &Frame::Probe { heard }, others());
        // A node is done when it has heard all others, and all others have heard it.
        let (mut heard, mut heard_by) = (1u64 << me, 1u64 << me);
        let until = Instant::now() + PROBE_PATIENCE;
        while heard & heard_by != all {
            if Instant::now() > until {
                return false;
            }
            send(heard);
            let next = Instant::now() + PROBE_INTERVAL;
            while heard & heard_by != all && Instant::now() < next {
                self.sleep(PROBE_INTERVAL.as_nanos() as u64);
                let mut is_new = false;
                self.receive(|from, frame| {
                    if let Frame::Probe { heard: theirs } = *frame {
                        is_new |= heard & 1 << from == 0;
                        heard |= 1 << from;
                        heard_by |= (theirs >> me & 1) << from;
                    }
                });
                if is_new {
                    send(heard);
                }
            }
        }
        (0..LAST_PROBES).for_each(|_| send(heard));
        true
    }

    /// Sends a frame to nodes of the job.
    pub(crate) fn send(&self, segment: &Segment, frame: &Frame<'_>, to: impl Iterator<Item = usize>) {
        let mut buffer = lock(&self.buffer);
        self.sealer.seal(Datagrams::new(segment).next_number(), frame, &mut buffer);
        self.socket.send(&buffer, to);
    }

    /// Takes what has come, without waiting, and gives each frame to `each`. Returns whether anything has
    /// come.
    pub(crate) fn receive(&self, mut each: impl FnMut(u32, &Frame<'_>)) -> bool {
        let taken = self.socket.receive(|bytes| {
            if let Some((from, frame)) = self.sealer.open(bytes) {
                each(from, &frame);
            }
        });
        taken > 0
    }

    /// Sleeps until something has come, for `longest_ns` at most.
    pub(crate) fn sleep(&self, longest_ns: u64) {
        self.socket.sleep(longest_ns);
    }

    /// Wakes the threads of this node that wait for other nodes in these communicators, after what they wait
    /// for has been written down. Those at the socket are woken by a datagram that says nothing.
    pub(crate) fn wake(&self, segment: &Segment, kinds: Kinds) {
        self.waiters.wake(kinds);
        let datagrams = Datagrams::new(segment);
        if datagrams.sleep_at_socket(kinds) {
            datagrams.set_nudged(kinds, monotonic_us() + NUDGE_US);
            self.socket.send(&[0], std::iter::once(self.node));
        }
    }

    /// Leaves a frame of a communicator that this process does not have for the ranks that have it.
    pub(crate) fn leave(&self, from: u32, communicator: u64, frame: &Frame<'_>) {
        let mut bytes = Vec::with_capacity(unclaimed::MAX_BYTES);
        bytes.extend_from_slice(&from.to_le_bytes());
        frame.write(&mut bytes);
        debug_assert!(bytes.len() % 4 == 0, "statements are");
        self.unclaimed.leave(Kind::of(communicator), &bytes);
    }

    /// Gives `each` the frames that ranks here have left since this was called last. Whether any of this kind
    /// may have been replaced before this process has seen it.
    pub(crate) fn take_left(&self, kind: Kind, mut each: impl FnMut(u32, &Frame<'_>)) -> bool {
        let mut reading = lock(&self.reading);
        let end = self.unclaimed.end();
        if reading.next == end && reading.unwritten.is_empty() {
            return false;
        }
        let begin = self.unclaimed.begin();
        let mut is_late = self.unclaimed.may_be_gone(kind, reading.next);
        let mut positions = std::mem::take(&mut reading.unwritten);
        positions.extend(reading.next.max(begin)..end);
        reading.next = end;
        let mut bytes = Vec::new();
        for position in positions {
            match self.read_left(position, &mut bytes, &mut each) {
                Place::NotYet if reading.unwritten.len() < MOST_UNWRITTEN => reading.unwritten.push(position),
                Place::NotYet | Place::Gone => is_late = true,
                Place::Datagram => {}
            }
        }
        is_late
    }

    /// Gives `each` all frames of a communicator that ranks here have left and that are still there.
    pub(crate) fn find_left(&self, communicator: u64, mut each: impl FnMut(u32, &Frame<'_>)) {
        let (kind, mut bytes) = (Some(Kind::of(communicator)), Vec::new());
        let positions = self.unclaimed.begin()..self.unclaimed.end();
        for position in positions.filter(|position| self.unclaimed.kind(*position) == kind) {
            self.read_left(position, &mut bytes, &mut |from, frame| {
                if frame.communicator() == Some(communicator) {
                    each(from, frame);
                }
            });
        }
    }

    fn read_left(&self, position: u64, bytes: &mut Vec<u8>, each: &mut impl FnMut(u32, &Frame<'_>)) -> Place {
        let place = self.unclaimed.read(position, bytes);
        if let (Place::Datagram, Some((from, frame))) = (place, bytes.split_first_chunk::<SENDER_BYTES>()) {
            if let Some(frame) = Frame::read(frame) {
                each(u32::from_le_bytes(*from), &frame);
            }
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_was_written() {
        for text in ["10.1.2.3:4711", "[fd00::1:2]:65535"] {
            let address = Address::from(text.parse::<std::net::SocketAddr>().unwrap());
            assert_eq!(address_from_words(address_to_words(&address)), address);
        }
    }
}
