//! What other processes on the network can do to a job, and what they cannot. Each rule that keeps them out
//! is also left out once, to show that the test would notice.

mod content;
mod frames;
mod outsiders;

use super::greeting::GreetingKey;
use super::identity::Identity;
use super::session::Session;
use super::*;
use crate::node::NodeId;
use crate::wire::{Event, Wire};
use evenkeel_secret::{JobSecret, SECRET_BYTES};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Only ends a test that hangs.
const PATIENCE: Duration = Duration::from_secs(120);
const MEMORY: usize = 4096;

fn secret() -> JobSecret {
    JobSecret::new([7; SECRET_BYTES])
}

fn other_secret() -> JobSecret {
    JobSecret::new([8; SECRET_BYTES])
}

fn open_one() -> UnconnectedWire {
    open(&"127.0.0.1".parse().unwrap(), &(0..=0), MEMORY).unwrap()
}

/// The nodes of a job, in this process.
fn job(nodes: u32) -> Vec<TlsWire> {
    job_as(nodes, |node| Identity::new(&secret(), node).unwrap())
}

fn job_as(nodes: u32, identity: impl Fn(NodeId) -> Identity) -> Vec<TlsWire> {
    let opened: Vec<UnconnectedWire> = (0..nodes).map(|_| open_one()).collect();
    let addresses: Vec<Vec<u8>> = opened.iter().map(|wire| wire.address().to_vec()).collect();
    let connect = |(number, wire): (usize, UnconnectedWire)| {
        let node = NodeId(number as u32);
        wire.connect_as(node, &secret(), identity(node), &addresses).unwrap()
    };
    opened.into_iter().enumerate().map(connect).collect()
}

/// Where a node listens.
fn port_of(wire: &TlsWire) -> SocketAddr {
    wire.connections().listening_at()
}

/// Lets the nodes work until something has happened.
fn work_until(wires: &mut [TlsWire], mut is_done: impl FnMut(&mut [TlsWire]) -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_done(wires) {
        for wire in wires.iter_mut() {
            wire.wait(Duration::from_micros(200));
        }
        assert!(Instant::now() < end, "it did not happen");
    }
}

/// Both nodes send each other something, which arrives; nothing else happens.
fn assert_undisturbed(wires: &mut [TlsWire], [one, other]: [usize; 2]) {
    for (from, to) in [(one, other), (other, one)] {
        let sent = format!("from {from} to {to}").into_bytes();
        wires[from].send(NodeId(to as u32), &sent).unwrap();
        let mut event = None;
        work_until(wires, |wires| {
            event = wires[to].poll();
            event.is_some()
        });
        assert_eq!(event, Some(Event::Message { from: NodeId(from as u32), bytes: sent }));
        assert_eq!(wires[from].poll(), None);
    }
}

/// A connection that a test makes by hand, to a node that works meanwhile.
struct HandMade {
    stream: TcpStream,
    session: Session,
    unread: Vec<u8>,
}

impl HandMade {
    /// Connects as a node of the job, with a greeting of the job, and the keys of `identity`. None: the node
    /// has ended the connection.
    fn connect(wires: &mut [TlsWire], from: NodeId, identity: &Identity, to: NodeId) -> Option<HandMade> {
        let mut stream = TcpStream::connect(port_of(&wires[to.index()])).unwrap();
        let greeting = GreetingKey::new(&secret()).greeting(from, to).unwrap();
        stream.write_all(&greeting).unwrap();
        stream.set_nonblocking(true).unwrap();
        let session = Session::client(identity, to).unwrap();
        let mut made = HandMade { stream, session, unread: Vec::new() };
        let mut is_alive = made.flush(|_, _| Ok(()));
        work_until(wires, |_| {
            is_alive = is_alive && made.read();
            !is_alive || !made.session.is_handshaking()
        });
        is_alive.then_some(made)
    }

    fn flush(&mut self, fill: impl FnOnce(&mut HandMade, &mut Vec<u8>) -> Result<(), rustls::Error>) -> bool {
        let mut out = Vec::new();
        if fill(self, &mut out).is_err() {
            return false;
        }
        let advanced = self.session.advance(&mut self.unread, &mut out, |_| Ok::<(), ()>(()));
        let Ok(advanced) = advanced else { return false };
        self.unread.drain(..advanced.used);
        self.stream.set_nonblocking(false).unwrap();
        let written = self.stream.write_all(&out);
        self.stream.set_nonblocking(true).unwrap();
        written.is_ok()
    }

    /// Reads what is there. Returns whether the connection lives.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => false,
            Ok(got) => {
                self.unread.extend_from_slice(&bytes[..got]);
                self.flush(|_, _| Ok(()))
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }

    /// Sends bytes within the session.
    fn send(&mut self, bytes: &[u8]) -> bool {
        bytes
            .chunks(super::session::MAX_RECORD_BYTES)
            .all(|record| self.flush(|made, out| made.session.encrypt(&mut made.unread, record, out)))
    }
}
