//! A connection between a node and a child: TLS with keys of its own, which the parent has made and sent over
//! the child's standard input.

use crate::frame::Frame;
use evenkeel_fabric::tls::{NetworkChoice, TlsError, TlsWire, UnconnectedWire, open};
use evenkeel_fabric::{Event, NodeId, SleepingWire, Wire};
use evenkeel_secret::JobSecret;
use std::os::fd::BorrowedFd;

const PARENT: NodeId = NodeId(0);
const CHILD: NodeId = NodeId(1);
/// Messages are used alone; the wire wants some memory all the same.
const MEMORY_BYTES: usize = 4096;

/// What a link reports.
#[derive(Debug)]
pub(crate) enum LinkEvent {
    Frame(Frame),
    /// The connection is lost, for this reason.
    Lost(String),
}

/// One end.
pub(crate) struct Link {
    wire: TlsWire,
    peer: NodeId,
    sent: u64,
    received: u64,
    is_lost: bool,
}

/// Takes a port of this host.
pub(crate) fn open_port(network: &str, ports: (u16, u16)) -> Result<UnconnectedWire, TlsError> {
    let network: NetworkChoice = network.parse().unwrap_or(NetworkChoice::Auto);
    open(&network, &(ports.0..=ports.1), MEMORY_BYTES)
}

impl Link {
    /// The parent's end, which connects.
    pub(crate) fn to_child(
        port: UnconnectedWire,
        secret: &JobSecret,
        child: Vec<u8>,
    ) -> Result<Link, TlsError> {
        let addresses = [port.address().to_vec(), child];
        let wire = port.connect_without_listening(PARENT, secret, &addresses)?;
        Ok(Link { wire, peer: CHILD, sent: 0, received: 0, is_lost: false })
    }

    /// The child's end, which listens. It sends nothing before it has been sent something: it would connect.
    pub(crate) fn to_parent(
        port: UnconnectedWire,
        secret: &JobSecret,
        parent: Vec<u8>,
    ) -> Result<Link, TlsError> {
        let addresses = [parent, port.address().to_vec()];
        let wire = port.connect(CHILD, secret, &addresses)?;
        Ok(Link { wire, peer: PARENT, sent: 0, received: 0, is_lost: false })
    }

    /// Sends a frame, or keeps it until the network takes it.
    pub(crate) fn send(&mut self, frame: &Frame) {
        if self.is_lost {
            return;
        }
        let mut bytes = self.sent.to_le_bytes().to_vec();
        bytes.append(&mut frame.encode());
        self.sent += 1;
        // The loss is reported by `next`.
        let _ = self.wire.send(self.peer, &bytes);
    }

    /// What has come next, if anything. After a loss nothing comes.
    pub(crate) fn next(&mut self) -> Option<LinkEvent> {
        if self.is_lost {
            return None;
        }
        match self.wire.poll()? {
            Event::Message { bytes, .. } => match self.parse(&bytes) {
                Some(frame) => Some(LinkEvent::Frame(frame)),
                None => Some(self.lose("it sent what is not understood".into())),
            },
            Event::Lost { why, .. } => Some(self.lose(why)),
            Event::Completed { .. } => None,
        }
    }

    fn lose(&mut self, why: String) -> LinkEvent {
        self.is_lost = true;
        LinkEvent::Lost(why)
    }

    /// Frames come in order, each once.
    fn parse(&mut self, bytes: &[u8]) -> Option<Frame> {
        let (number, rest) = bytes.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*number) != self.received {
            return None;
        }
        self.received += 1;
        Frame::parse(rest)
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Prepares for sleep. False: there is an event already.
    pub(crate) fn arm(&mut self) -> bool {
        self.is_lost || self.wire.arm().is_some()
    }

    /// Readable when there may be an event, if [`Link::arm`] said so.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.wire.descriptor()
    }
}
