//! All connections of one node: it accepts those of other nodes, and drops those of processes that do not
//! know the job's secret. It knows nothing of what the nodes tell each other.

use super::connection::{Connection, ConnectionError, READ_BUFFER_BYTES, Stage};
use super::frame::IncomingFrame;
use super::greeting::GreetingKey;
use super::identity::Identity;
use super::poller::{Poller, Ready};
use super::session::Session;
use super::{GREETING_TIME, HANDSHAKE_TIME, MAX_GREETING, MAX_HANDSHAKING, MAX_HANDSHAKING_OF_NODE};
use crate::node::NodeId;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Connections that are accepted at once, so that many of them do not keep the node from its work.
const ACCEPTS_AT_ONCE: usize = 8;
/// How long no connection is accepted if the process has no descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Keys below this one are those of listening sockets.
const FIRST_KEY: u64 = 1 << 16;

/// What has happened.
#[derive(Debug)]
pub(super) enum ConnectionEvent {
    /// A connection to or from a node may be used.
    Established { key: u64, node: NodeId, is_outgoing: bool },
    /// A frame has come over an established connection.
    Frame { node: NodeId, frame: IncomingFrame },
    /// The kernel has taken all that was written.
    Written { node: NodeId },
    /// A node has said that it sends no more. The connection is gone.
    Left { key: u64, node: NodeId },
    /// A connection is gone.
    Failed { node: NodeId, was_established: bool, error: ConnectionError },
}

/// Connections that were dropped because the other end does not know the job's secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedConnections {
    /// How many.
    pub count: u64,
    /// Where the last one came from.
    pub last_from: Option<SocketAddr>,
    /// What was wrong with it.
    pub last_reason: &'static str,
}

pub(super) struct Connections {
    this: NodeId,
    nodes: usize,
    identity: Identity,
    greeting: GreetingKey,
    poller: Poller,
    listening: Vec<Socket>,
    /// While it is set, the listening sockets are not watched.
    accept_again: Option<Instant>,
    /// Old ones first.
    connections: BTreeMap<u64, Connection>,
    next_key: u64,
    /// When a connection's deadline comes, or a time that was asked for.
    timer: Option<Instant>,
    refused: RefusedConnections,
    buffer: Box<[u8]>,
    ready: Vec<Ready>,
    frames: Vec<IncomingFrame>,
}

impl Connections {
    pub fn new(
        this: NodeId,
        nodes: usize,
        identity: Identity,
        greeting: GreetingKey,
        listening: Vec<Socket>,
    ) -> io::Result<Connections> {
        let poller = Poller::new()?;
        for (key, socket) in listening.iter().enumerate() {
            poller.add(socket, key as u64, false)?;
        }
        Ok(Connections {
            this,
            nodes,
            identity,
            greeting,
            poller,
            listening,
            accept_again: None,
            connections: BTreeMap::new(),
            next_key: FIRST_KEY,
            timer: None,
            refused: RefusedConnections::default(),
            buffer: vec![0; READ_BUFFER_BYTES].into(),
            ready: Vec::new(),
            frames: Vec::new(),
        })
    }

    pub fn poller(&self) -> &Poller {
        &self.poller
    }

    pub fn refused(&self) -> &RefusedConnections {
        &self.refused
    }

    pub fn get_mut(&mut self, key: u64) -> Option<&mut Connection> {
        self.connections.get_mut(&key)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.connections.values_mut()
    }

    /// Where this node listens.
    #[cfg(test)]
    pub fn listening_at(&self) -> SocketAddr {
        self.listening[0].local_addr().unwrap().as_socket().unwrap()
    }

    /// How many connections have come so far: without a greeting, in a handshake, established.
    #[cfg(test)]
    pub fn count(&self) -> [usize; 3] {
        let of = |is: fn(&Stage) -> bool| self.connections.values().filter(|c| is(&c.stage)).count();
        [
            of(|stage| matches!(stage, Stage::Greeting(_))),
            of(|stage| *stage == Stage::Handshaking),
            of(|stage| *stage == Stage::Established),
        ]
    }

    /// Drops a connection.
    pub fn drop_connection(&mut self, key: u64) {
        self.connections.remove(&key);
    }

    /// Drops a connection of a process that is none of the job.
    fn refuse(&mut self, connection: &Connection, reason: &'static str) {
        self.refused.count += 1;
        self.refused.last_from = connection.remote;
        self.refused.last_reason = reason;
    }

    /// Begins to connect to a node. Returns the connection's key.
    pub fn connect(&mut self, node: NodeId, to: SocketAddr) -> io::Result<u64> {
        let socket = Socket::new(Domain::for_address(to), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        socket.set_tcp_nodelay(true)?;
        match socket.connect(&to.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
            Err(error) => return Err(error),
        }
        let mut connection = Connection::new(socket, Stage::Connecting, Instant::now() + HANDSHAKE_TIME);
        connection.node = Some(node);
        connection.is_outgoing = true;
        connection.remote = Some(to);
        self.add(connection, true)
    }

    fn add(&mut self, mut connection: Connection, writes: bool) -> io::Result<u64> {
        let key = self.next_key;
        self.next_key += 1;
        self.poller.add(&connection.socket, key, writes)?;
        connection.watches_writes = writes;
        self.call_at(connection.deadline);
        self.connections.insert(key, connection);
        Ok(key)
    }

    /// Looks at the time again at this time at the latest.
    pub fn call_at(&mut self, at: Option<Instant>) {
        let Some(at) = at else { return };
        if self.timer.is_none_or(|timer| at < timer) {
            self.timer = Some(at);
            self.poller.set_timer(self.timer);
        }
    }

    /// Writes what a connection has to write, and watches it for room if the kernel does not take all.
    pub fn write(&mut self, key: u64) -> Result<(), ConnectionError> {
        let Some(connection) = self.connections.get_mut(&key) else { return Ok(()) };
        write_and_watch(&self.poller, key, connection)
    }

    /// Looks at all connections, and waits for `longest` at most until one is ready. Adds what has happened
    /// to `events`. Returns whether the time has come that was asked for by [`Connections::call_at`].
    pub fn progress(&mut self, longest: Duration, events: &mut Vec<ConnectionEvent>) -> bool {
        let mut ready = std::mem::take(&mut self.ready);
        self.poller.wait(longest, &mut ready);
        for Ready { key, read, write } in ready.drain(..) {
            if key < FIRST_KEY {
                self.accept(key as usize);
            } else if let Some(connection) = self.connections.remove(&key) {
                self.serve(key, connection, read, write, events);
            }
        }
        self.ready = ready;
        let is_time = self.timer.is_some_and(|at| Instant::now() >= at);
        if is_time {
            self.expire(Instant::now(), events);
        }
        is_time
    }

    /// Drops the connections that have taken too long.
    fn expire(&mut self, now: Instant, events: &mut Vec<ConnectionEvent>) {
        let is_late = |(_, c): &(&u64, &Connection)| c.deadline.is_some_and(|deadline| deadline <= now);
        let late: Vec<u64> = self.connections.iter().filter(is_late).map(|(key, _)| *key).collect();
        for key in late {
            let connection = self.connections.remove(&key).expect("it was there");
            self.fail(connection, ConnectionError::TookTooLong, events);
        }
        if self.accept_again.is_some_and(|at| at <= now) {
            self.accept_again = None;
            for (key, socket) in self.listening.iter().enumerate() {
                let _ = self.poller.add(socket, key as u64, false);
            }
        }
        let deadlines = self.connections.values().filter_map(|connection| connection.deadline);
        self.timer = deadlines.chain(self.accept_again).min();
        self.poller.set_timer(self.timer);
    }

    fn accept(&mut self, number: usize) {
        for _ in 0..ACCEPTS_AT_ONCE {
            let Some(socket) = self.listening.get(number) else { return };
            match socket.accept() {
                Ok((socket, from)) => {
                    let is_set = socket.set_nonblocking(true).and_then(|()| socket.set_tcp_nodelay(true));
                    let stage = Stage::Greeting(Vec::new());
                    let mut connection = Connection::new(socket, stage, Instant::now() + GREETING_TIME);
                    connection.remote = from.as_socket();
                    let is_greeting = |c: &Connection| matches!(c.stage, Stage::Greeting(_));
                    self.make_room(MAX_GREETING, is_greeting, "it sends nothing");
                    if is_set.is_ok() {
                        let _ = self.add(connection, false);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(_) => return self.pause_accepting(),
            }
        }
    }

    /// There is no descriptor or memory left: gives up those that have not shown that they know the secret,
    /// and tries again later.
    fn pause_accepting(&mut self) {
        self.make_room(1, |c: &Connection| matches!(c.stage, Stage::Greeting(_)), "it sends nothing");
        for socket in &self.listening {
            let _ = self.poller.remove(socket);
        }
        self.accept_again = Some(Instant::now() + ACCEPT_PAUSE);
        self.call_at(self.accept_again);
    }

    /// Drops the oldest connections of a kind until fewer than `most` are left. The newest one stays, so that
    /// old ones that do nothing cannot keep a node out.
    fn make_room(&mut self, most: usize, is_counted: impl Fn(&Connection) -> bool, reason: &'static str) {
        let counted: Vec<u64> =
            self.connections.iter().filter(|(_, c)| is_counted(c)).map(|(key, _)| *key).collect();
        for key in &counted[..(counted.len() + 1).saturating_sub(most)] {
            if let Some(connection) = self.connections.remove(key) {
                self.refuse(&connection, reason);
            }
        }
    }

    /// Takes what a connection brings, and keeps it unless it has ended.
    fn serve(
        &mut self,
        key: u64,
        mut connection: Connection,
        read: bool,
        write: bool,
        events: &mut Vec<ConnectionEvent>,
    ) {
        let outcome = match connection.stage {
            Stage::Greeting(_) => match self.greet(&mut connection) {
                Ok(is_kept) if !is_kept => return,
                outcome => outcome,
            },
            Stage::Connecting => self.connected(&mut connection).map(|()| true),
            Stage::Handshaking | Stage::Established => {
                self.exchange(key, &mut connection, read, write, events)
            }
        };
        match outcome.and_then(|is_kept| {
            write_and_watch(&self.poller, key, &mut connection)?;
            Ok(is_kept)
        }) {
            Ok(true) => {
                self.connections.insert(key, connection);
            }
            Ok(false) => {}
            Err(error) => self.fail(connection, error, events),
        }
    }

    /// Reads a greeting. A connection is kept until it is there, and then if it is one of this job.
    fn greet(&mut self, connection: &mut Connection) -> Result<bool, ConnectionError> {
        let Some(greeting) = connection.read_greeting()? else { return Ok(true) };
        let from = self.greeting.check(&greeting, self.this);
        let Some(from) = from.filter(|from| from.index() < self.nodes && *from != self.this) else {
            self.refuse(connection, "it does not know this job's secret");
            return Ok(false);
        };
        let is_handshaking = |c: &Connection| c.stage == Stage::Handshaking && !c.is_outgoing;
        let reason = "it does not finish its handshake";
        self.make_room(MAX_HANDSHAKING_OF_NODE, |c| is_handshaking(c) && c.node == Some(from), reason);
        self.make_room(MAX_HANDSHAKING, is_handshaking, reason);
        connection.node = Some(from);
        let session = Session::server(&self.identity, from)?;
        connection.begin_handshake(session, &[], Instant::now() + HANDSHAKE_TIME)?;
        self.call_at(connection.deadline);
        Ok(true)
    }

    /// TCP has answered: sends the greeting and begins the handshake.
    fn connected(&mut self, connection: &mut Connection) -> Result<(), ConnectionError> {
        if let Some(error) = connection.socket.take_error()? {
            return Err(error.into());
        }
        let node = connection.node.expect("an outgoing connection goes to a node");
        let greeting = self.greeting.greeting(self.this, node)?;
        let session = Session::client(&self.identity, node)?;
        let deadline = connection.deadline.unwrap_or_else(Instant::now);
        connection.begin_handshake(session, &greeting, deadline)
    }

    /// Reads and writes. Returns whether the connection goes on.
    fn exchange(
        &mut self,
        key: u64,
        connection: &mut Connection,
        read: bool,
        write: bool,
        events: &mut Vec<ConnectionEvent>,
    ) -> Result<bool, ConnectionError> {
        let node = connection.node.expect("it is known since the greeting");
        let was_established = connection.stage == Stage::Established;
        let mut outcome = Ok(false);
        if read {
            outcome = connection.read(&mut self.buffer, &mut self.frames);
        }
        if !was_established && connection.stage == Stage::Established {
            let is_outgoing = connection.is_outgoing;
            events.push(ConnectionEvent::Established { key, node, is_outgoing });
        }
        // What has come before an end or an error is of the node.
        events.extend(self.frames.drain(..).map(|frame| ConnectionEvent::Frame { node, frame }));
        if outcome? {
            events.push(ConnectionEvent::Left { key, node });
            return Ok(false);
        }
        if write {
            connection.write();
            if connection.unwritten() == 0 && connection.stage == Stage::Established {
                events.push(ConnectionEvent::Written { node });
            }
        }
        Ok(true)
    }

    /// A connection has ended. If it was that of a node, or one to a node, the node's user is told.
    fn fail(&mut self, connection: Connection, error: ConnectionError, events: &mut Vec<ConnectionEvent>) {
        let was_established = connection.stage == Stage::Established;
        match connection.node {
            Some(node) if was_established || connection.is_outgoing => {
                events.push(ConnectionEvent::Failed { node, was_established, error });
            }
            Some(_) if matches!(error, ConnectionError::Tls(_)) => {
                self.refuse(&connection, "its handshake fails");
            }
            // A node may have given up, because this one was slow to answer.
            Some(_) => {}
            None => self.refuse(&connection, "it sends no greeting"),
        }
    }
}

fn write_and_watch(poller: &Poller, key: u64, connection: &mut Connection) -> Result<(), ConnectionError> {
    if connection.stage == Stage::Connecting {
        return Ok(());
    }
    connection.write();
    let wants_room = connection.unwritten() > 0;
    if connection.watches_writes != wants_room {
        poller.set_writes(&connection.socket, key, wants_room)?;
        connection.watches_writes = wants_room;
    }
    Ok(())
}
