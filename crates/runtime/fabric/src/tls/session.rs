//! One TLS session: it turns bytes of a connection into bytes of its peer, and back. It owns no socket, and
//! holds no bytes of a connection.

use super::identity::Identity;
use crate::node::NodeId;
use rustls::Error;
use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus,
};

/// Bytes of a peer that are encrypted together at most: what a TLS record holds.
pub(super) const MAX_RECORD_BYTES: usize = 16 * 1024;
/// Room for what a session writes beside content: heads and tags, and a change of keys.
const OVERHEAD_ROOM: usize = 256;

/// A session over one connection.
pub(super) enum Session {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

/// What has come of some bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Advanced {
    /// How many bytes need not be kept.
    pub used: usize,
    /// Whether the peer has said that it sends no more.
    pub is_closed: bool,
}

/// Why a session cannot go on.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError<E> {
    #[error("{0}")]
    Tls(#[from] Error),
    /// The receiver of what was decrypted does not want it.
    #[error("{0}")]
    Content(E),
}

enum Step {
    Continue,
    Stop,
    Closed,
}

impl Session {
    /// The session of a connection that this node makes.
    pub fn client(identity: &Identity, to: NodeId) -> Result<Session, Error> {
        // The name is not sent: the key says which node this is.
        let name = ServerName::try_from("node").expect("it is a name");
        Ok(Session::Client(UnbufferedClientConnection::new(identity.client(to)?, name)?))
    }

    /// The session of a connection that another node has made.
    pub fn server(identity: &Identity, from: NodeId) -> Result<Session, Error> {
        Ok(Session::Server(UnbufferedServerConnection::new(identity.server(from)?)?))
    }

    /// Whether the peer is not known yet.
    pub fn is_handshaking(&self) -> bool {
        match self {
            Session::Client(session) => session.is_handshaking(),
            Session::Server(session) => session.is_handshaking(),
        }
    }

    /// Takes bytes of the connection, of which all must be there that have not been used. Gives what the peer
    /// has sent to `receive`, and adds what must be sent to `outgoing`.
    pub fn advance<E>(
        &mut self,
        incoming: &mut [u8],
        outgoing: &mut Vec<u8>,
        mut receive: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Advanced, SessionError<E>> {
        let mut advanced = Advanced::default();
        loop {
            let rest = &mut incoming[advanced.used..];
            let step;
            (advanced.used, step) = match self {
                Session::Client(session) => {
                    let UnbufferedStatus { discard, state } = session.process_tls_records(rest);
                    (advanced.used + discard, handle(state?, outgoing, &mut receive)?)
                }
                Session::Server(session) => {
                    let UnbufferedStatus { discard, state } = session.process_tls_records(rest);
                    (advanced.used + discard, handle(state?, outgoing, &mut receive)?)
                }
            };
            match step {
                Step::Continue => {}
                Step::Stop => return Ok(advanced),
                Step::Closed => advanced.is_closed = true,
            }
        }
    }

    /// Encrypts bytes for the peer, at most [`MAX_RECORD_BYTES`], behind what is in `outgoing`. `incoming`
    /// are the bytes of the connection that have not been used.
    pub fn encrypt(
        &mut self,
        incoming: &mut [u8],
        bytes: &[u8],
        outgoing: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.write(incoming, Content::Bytes(bytes), outgoing)
    }

    /// Says that this end sends no more.
    pub fn close(&mut self, incoming: &mut [u8], outgoing: &mut Vec<u8>) -> Result<(), Error> {
        self.write(incoming, Content::Close, outgoing)
    }

    fn write(&mut self, incoming: &mut [u8], content: Content, outgoing: &mut Vec<u8>) -> Result<(), Error> {
        loop {
            let is_written = match self {
                Session::Client(session) => {
                    write_step(session.process_tls_records(incoming).state?, content, outgoing)?
                }
                Session::Server(session) => {
                    write_step(session.process_tls_records(incoming).state?, content, outgoing)?
                }
            };
            if is_written {
                return Ok(());
            }
        }
    }
}

/// What is written to a peer.
#[derive(Clone, Copy)]
enum Content<'a> {
    Bytes(&'a [u8]),
    Close,
}

/// Deals with one state of a session. What it wants to send goes to `outgoing`.
fn handle<Data, E>(
    state: ConnectionState<Data>,
    outgoing: &mut Vec<u8>,
    receive: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Step, SessionError<E>> {
    match state {
        ConnectionState::ReadTraffic(mut traffic) => {
            while let Some(record) = traffic.next_record() {
                receive(record?.payload).map_err(SessionError::Content)?;
            }
            Ok(Step::Continue)
        }
        ConnectionState::EncodeTlsData(mut data) => {
            with_room(outgoing, OVERHEAD_ROOM, |room| match data.encode(room) {
                Err(EncodeError::InsufficientSize(error)) => Err(Some(error)),
                Err(EncodeError::AlreadyEncoded) => Err(None),
                Ok(written) => Ok(written),
            })?;
            Ok(Step::Continue)
        }
        ConnectionState::TransmitTlsData(data) => {
            data.done(); // `outgoing` keeps the order
            Ok(Step::Continue)
        }
        ConnectionState::PeerClosed => Ok(Step::Closed),
        ConnectionState::BlockedHandshake | ConnectionState::WriteTraffic(_) | ConnectionState::Closed => {
            Ok(Step::Stop)
        }
        _ => Err(Error::General("a state that is not used".into()).into()),
    }
}

/// Writes the content if the session is ready for it, and otherwise deals with what comes first.
fn write_step<Data>(
    state: ConnectionState<Data>,
    content: Content,
    outgoing: &mut Vec<u8>,
) -> Result<bool, Error> {
    match state {
        ConnectionState::WriteTraffic(mut traffic) => {
            let length = if let Content::Bytes(bytes) = content { bytes.len() } else { 0 };
            with_room(outgoing, length + OVERHEAD_ROOM, |room| {
                let written = match content {
                    Content::Bytes(bytes) => traffic.encrypt(bytes, room),
                    Content::Close => traffic.queue_close_notify(room),
                };
                written.map_err(|error| match error {
                    EncryptError::InsufficientSize(error) => Some(error),
                    EncryptError::EncryptExhausted => None,
                })
            })?;
            Ok(true)
        }
        ConnectionState::EncodeTlsData(_) | ConnectionState::TransmitTlsData(_) => {
            let mut receive = |_: &[u8]| Ok::<(), Error>(());
            match handle(state, outgoing, &mut receive) {
                Ok(_) => Ok(false),
                Err(SessionError::Tls(error) | SessionError::Content(error)) => Err(error),
            }
        }
        _ => Err(Error::General("the session is not ready for content".into())),
    }
}

/// Lets `write` write behind what is in `outgoing`, with so much room, and again with more if it wants more.
/// Its error is None if more room does not help.
fn with_room(
    outgoing: &mut Vec<u8>,
    mut room: usize,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, Option<InsufficientSizeError>>,
) -> Result<(), Error> {
    let begin = outgoing.len();
    loop {
        outgoing.resize(begin + room, 0);
        match write(&mut outgoing[begin..]) {
            Ok(written) => {
                outgoing.truncate(begin + written);
                return Ok(());
            }
            Err(Some(InsufficientSizeError { required_size })) if required_size > room => {
                room = required_size;
            }
            Err(_) => {
                outgoing.truncate(begin);
                return Err(Error::EncryptError);
            }
        }
    }
}
