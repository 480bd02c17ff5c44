//! One TCP connection, from its first byte to its last.

use super::frame::{FrameError, FrameReader, IncomingFrame};
use super::greeting::GREETING_BYTES;
use super::session::{Advanced, Session, SessionError};
use crate::node::NodeId;
use socket2::Socket;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::Instant;

/// Bytes that are read from a connection at once.
const READ_BYTES: usize = 256 << 10;
/// Bytes of a connection that its session has left for later at most: a message of a handshake, or a record.
const MAX_UNREAD_BYTES: usize = 72 << 10;
/// Length of the buffer that [`Connection::read`] needs.
pub(super) const READ_BUFFER_BYTES: usize = MAX_UNREAD_BYTES + READ_BYTES;

/// How far a connection has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Another process has connected, and has sent these bytes of a greeting.
    Greeting(Vec<u8>),
    /// This node connects, and TCP has not answered.
    Connecting,
    /// The greeting is done; the TLS handshake is not.
    Handshaking,
    /// Both ends know each other.
    Established,
}

/// Why a connection has ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectionError {
    #[error("the connection has ended: {0}")]
    Io(#[from] std::io::Error),
    #[error("the connection has ended")]
    Ended,
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    #[error("{0}")]
    Frame(#[from] FrameError),
    #[error("it took too long to connect")]
    TookTooLong,
}

pub(super) struct Connection {
    pub socket: Socket,
    pub stage: Stage,
    /// The other end, once it is known; of an outgoing connection, which node it should be.
    pub node: Option<NodeId>,
    pub is_outgoing: bool,
    /// When the stage ends at the latest.
    pub deadline: Option<Instant>,
    /// Where the connection comes from, for messages to the user.
    pub remote: Option<SocketAddr>,
    pub watches_writes: bool,
    session: Option<Session>,
    unread: Vec<u8>,
    unsent: Vec<u8>,
    /// How many bytes of `unsent` the kernel has taken.
    sent: usize,
    /// Whether the kernel takes no more. What the other end has sent before can still be read.
    is_write_closed: bool,
    frames: FrameReader,
}

impl Connection {
    pub fn new(socket: Socket, stage: Stage, deadline: Instant) -> Connection {
        Connection {
            socket,
            stage,
            node: None,
            is_outgoing: false,
            deadline: Some(deadline),
            remote: None,
            watches_writes: false,
            session: None,
            unread: Vec::new(),
            unsent: Vec::new(),
            sent: 0,
            is_write_closed: false,
            frames: FrameReader::default(),
        }
    }

    /// Reads what is missing of a greeting, and no byte more; returns it once it is there.
    pub fn read_greeting(&mut self) -> Result<Option<[u8; GREETING_BYTES]>, ConnectionError> {
        let Stage::Greeting(read) = &mut self.stage else { return Ok(None) };
        let mut bytes = [0; GREETING_BYTES];
        let missing = GREETING_BYTES - read.len();
        match self.socket.read(&mut bytes[..missing]) {
            Ok(0) => return Err(ConnectionError::Ended),
            Ok(got) => read.extend_from_slice(&bytes[..got]),
            Err(error) if is_temporary(&error) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(read[..].try_into().ok())
    }

    /// Begins the TLS handshake; `greeting` precedes it, of an outgoing connection.
    pub fn begin_handshake(
        &mut self,
        session: Session,
        greeting: &[u8],
        deadline: Instant,
    ) -> Result<(), ConnectionError> {
        self.stage = Stage::Handshaking;
        self.deadline = Some(deadline);
        self.unsent.extend_from_slice(greeting);
        let session = self.session.insert(session);
        let outcome = session.advance(&mut [], &mut self.unsent, |_| Ok::<(), FrameError>(()));
        outcome.map_err(from_session)?;
        Ok(())
    }

    /// Reads once, and adds the frames that have arrived to `frames`. `buffer` has [`READ_BUFFER_BYTES`].
    /// Returns whether the peer has said that it sends no more.
    pub fn read(
        &mut self,
        buffer: &mut [u8],
        frames: &mut Vec<IncomingFrame>,
    ) -> Result<bool, ConnectionError> {
        let Some(session) = &mut self.session else { return Ok(false) };
        let kept = self.unread.len();
        buffer[..kept].copy_from_slice(&self.unread);
        let got = match self.socket.read(&mut buffer[kept..kept + READ_BYTES]) {
            Ok(0) => return Err(ConnectionError::Ended),
            Ok(got) => got,
            Err(error) if is_temporary(&error) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let incoming = &mut buffer[..kept + got];
        let reader = &mut self.frames;
        let mut take = |frame| {
            frames.push(frame);
            Ok(())
        };
        let advanced = session.advance(incoming, &mut self.unsent, |bytes| reader.read(bytes, &mut take));
        // Also if what follows the handshake is wrong: then it is the node that has sent it.
        if self.stage == Stage::Handshaking && !session.is_handshaking() {
            self.stage = Stage::Established;
            self.deadline = None;
        }
        let Advanced { used, is_closed } = advanced.map_err(from_session)?;
        self.unread.clear();
        self.unread.extend_from_slice(&incoming[used..]);
        if self.unread.len() > MAX_UNREAD_BYTES {
            return Err(rustls::Error::General("a record without end".into()).into());
        }
        Ok(is_closed)
    }

    /// Encrypts some bytes, at most as many as a record holds, behind what is to be written.
    pub fn encrypt(&mut self, bytes: &[u8]) -> Result<(), ConnectionError> {
        let session = self.session.as_mut().ok_or(ConnectionError::Ended)?;
        Ok(session.encrypt(&mut self.unread, bytes, &mut self.unsent)?)
    }

    /// Says that this end sends no more.
    pub fn encrypt_close(&mut self) -> Result<(), ConnectionError> {
        let session = self.session.as_mut().ok_or(ConnectionError::Ended)?;
        Ok(session.close(&mut self.unread, &mut self.unsent)?)
    }

    /// How many encrypted bytes the kernel has not taken.
    pub fn unwritten(&self) -> usize {
        self.unsent.len() - self.sent
    }

    /// Gives the kernel what it takes. If the connection has ended, the rest is dropped: reading finds out
    /// why, after what the other end has said last.
    pub fn write(&mut self) {
        while self.sent < self.unsent.len() && !self.is_write_closed {
            match self.socket.write(&self.unsent[self.sent..]) {
                Ok(taken) => self.sent += taken,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.is_write_closed = true,
            }
        }
        self.unsent.clear();
        self.sent = 0;
    }

    /// Whether the other end's kernel may still take what was sent. Drops what comes: bytes that are not read
    /// here would make this kernel drop what is still to be sent.
    pub fn is_closing(&mut self, buffer: &mut [u8]) -> bool {
        self.write();
        match self.socket.read(buffer) {
            Ok(0) => return false,
            Err(error) if !is_temporary(&error) => return false,
            _ => {}
        }
        self.unwritten() > 0 || self.unacknowledged() > 0
    }

    /// Bytes that the other end's kernel has not acknowledged.
    fn unacknowledged(&self) -> usize {
        let mut bytes: libc::c_int = 0;
        // SAFETY: an open socket, and a place for a number.
        let code = unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::TIOCOUTQ, &mut bytes) };
        if code == 0 { bytes.max(0) as usize } else { 0 }
    }
}

fn is_temporary(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn from_session(error: SessionError<FrameError>) -> ConnectionError {
    match error {
        SessionError::Tls(error) => error.into(),
        SessionError::Content(error) => error.into(),
    }
}
