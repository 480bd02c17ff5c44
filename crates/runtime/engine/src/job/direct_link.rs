//! A rank's way to the other nodes: the socket for datagrams that the ranks of this node share.

use crate::wait::settings::WaitSettings;
use evenkeel_datagram::{Address, DatagramSocket, Frame, Sealer};
use evenkeel_secret::{JobSecret, SECRET_BYTES};
use evenkeel_segment::Segment;
use evenkeel_segment::datagrams::{Datagrams, SocketState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a rank waits for the agent to open the socket.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a node waits for datagrams of all others, and how often it sends one meanwhile.
const PROBE_PATIENCE: Duration = Duration::from_secs(1);
const PROBE_INTERVAL: Duration = Duration::from_millis(5);
/// What a node sends once it knows that all is well: the others may lack the last one.
const LAST_PROBES: usize = 3;
/// How long it sleeps between two looks.
const PAUSE: Duration = Duration::from_micros(200);
/// Frames that are kept of communicators that this process has not made yet.
const MOST_UNKNOWN: usize = 256;

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

/// A frame of a communicator that this process does not know yet, and the node that has sent it.
#[derive(Clone, Debug)]
pub(crate) struct UnknownFrame {
    pub from: u32,
    pub number: u64,
    /// `None`: it is a credit.
    pub content: Option<Vec<u8>>,
    pub communicator: u64,
}

/// The socket, and the keys of all nodes. Only programs with one thread in MPI have it, so its locks are
/// always free.
pub struct DirectLink {
    socket: DatagramSocket,
    sealer: Sealer,
    /// How ranks wait for other nodes: those share the cores of this one where they are virtual hosts.
    pub(crate) waiting: WaitSettings,
    /// Room to make datagrams in.
    buffer: Mutex<Vec<u8>>,
    unknown: Mutex<Vec<UnknownFrame>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DirectLink {
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
        let name = loop {
            match datagrams.state() {
                SocketState::Open(name) => break name,
                SocketState::None => return None,
                SocketState::Unknown if Instant::now() > until => return None,
                SocketState::Unknown => std::thread::sleep(PAUSE),
            }
        };
        let socket = evenkeel_datagram::take(name, PATIENCE).ok()?;
        let addresses: Vec<Address> =
            (0..nodes).map(|node| address_from_words(datagrams.address(node))).collect();
        Some(DirectLink {
            socket: DatagramSocket::new(socket, &addresses),
            sealer: Sealer::new(&JobSecret::new(secret), node, nodes as u32),
            waiting,
            buffer: Mutex::default(),
            unknown: Mutex::default(),
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

    /// Keeps a frame of a communicator that this process has not made yet. If there are too many, it is lost.
    pub(crate) fn keep_unknown(&self, from: u32, frame: &Frame<'_>) {
        let mut unknown = lock(&self.unknown);
        if unknown.len() == MOST_UNKNOWN {
            unknown.remove(0);
        }
        let kept = match *frame {
            Frame::Probe { .. } => return,
            Frame::Statement { communicator, number, content } => {
                UnknownFrame { from, number, content: Some(content.to_vec()), communicator }
            }
            Frame::Credit { communicator, finished } => {
                UnknownFrame { from, number: finished, content: None, communicator }
            }
        };
        unknown.push(kept);
    }

    /// The frames that were kept of a communicator.
    pub(crate) fn take_unknown(&self, communicator: u64) -> Vec<UnknownFrame> {
        let mut unknown = lock(&self.unknown);
        let (taken, rest) = unknown.drain(..).partition(|frame| frame.communicator == communicator);
        *unknown = rest;
        taken
    }
}

impl UnknownFrame {
    /// The frame.
    pub(crate) fn frame(&self) -> Frame<'_> {
        let UnknownFrame { communicator, number, .. } = *self;
        match &self.content {
            Some(content) => Frame::Statement { communicator, number, content },
            None => Frame::Credit { communicator, finished: number },
        }
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
