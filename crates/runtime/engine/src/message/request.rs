//! One send or receive, from the call that starts it to its completion.

use super::envelope::{Envelope, Offer, Token};
use crate::comm::part::NodePart;
use crate::comm::stamp::BarrierStamp;

/// A send or receive that is not complete, or not known to be complete. The first fields are `ek_message`
/// of the C interface.
#[repr(C)]
pub struct Message {
    /// Size of the message that was sent. No more than the buffer's size was received.
    pub bytes: usize,
    /// Rank of the sender in the communicator; -1 if it is not known.
    pub source: i32,
    /// The message's tag; -1 if it is not known.
    pub tag: i32,
    /// The message was larger than the buffer.
    pub truncated: bool,
    /// It was cancelled before it was matched.
    pub cancelled: bool,
    /// The data are in place; if it is a synchronous send, it has been received.
    pub done: bool,
    /// Done, and no barrier delays that the program sees it.
    pub plain: bool,
    /// Of a receive: the stamp of its message. Of a synchronous send: the stamp of the receive that got it.
    pub(super) stamp: Option<BarrierStamp>,
    /// Stamp of this process when it posted the receive.
    pub(super) posted: Option<BarrierStamp>,
    pub(super) comm: u64,
    /// The program's buffer, which a receive writes and a send reads.
    pub(super) buffer: *mut u8,
    pub(super) capacity: usize,
    /// Of a receive in parts: how many bytes are still to come. Of a send in parts: how many have been
    /// sent.
    pub(super) moved: usize,
    /// Of a send in parts: the receive, and the receiver's local rank.
    pub(super) receive: u64,
    pub(super) receiver: usize,
    pub(super) is_send: bool,
    /// Another process may wait for this one to do something for the message.
    pub(super) needs_this_process: bool,
    /// The program freed it before it was complete.
    pub(super) is_freed: bool,
}

impl Message {
    pub(super) fn new(part: &NodePart, buffer: *mut u8, capacity: usize) -> Message {
        Message {
            bytes: 0,
            source: -1,
            tag: -1,
            truncated: false,
            cancelled: false,
            done: false,
            plain: false,
            stamp: None,
            posted: None,
            comm: part.id(),
            buffer,
            capacity,
            moved: 0,
            receive: 0,
            receiver: 0,
            is_send: false,
            needs_this_process: false,
            is_freed: false,
        }
    }
}

/// Where the data of an unexpected message are.
pub(super) enum Payload {
    /// In a copy, made from the record.
    Copied(Box<[u8]>),
    /// In its sender's memory.
    Offered(Offer),
}

impl Payload {
    fn bytes(&self) -> usize {
        match self {
            Payload::Copied(bytes) => bytes.len(),
            Payload::Offered(offer) => offer.bytes as usize,
        }
    }
}

/// A message that arrived before a matching receive was posted.
pub struct UnexpectedMessage {
    pub(super) stamp: Option<BarrierStamp>,
    pub(super) token: Option<Token>,
    /// Local rank of its sender.
    pub(super) sender: usize,
    pub(super) payload: Payload,
}

impl UnexpectedMessage {
    pub(super) fn new(envelope: &Envelope, sender: usize, payload: Payload) -> UnexpectedMessage {
        UnexpectedMessage { stamp: envelope.stamp, token: envelope.token, sender, payload }
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.payload.bytes()
    }
}

/// The result of a probe.
pub struct Probed {
    /// Rank of the sender in the communicator.
    pub source: usize,
    /// The message's tag.
    pub tag: i32,
    /// Its size in bytes.
    pub bytes: usize,
    /// The message itself, for a matched receive, if the probe has taken it out of the queue.
    pub message: Option<Box<Matched>>,
}

/// A message that a probe has taken out of the queue.
pub struct Matched {
    pub(super) source: usize,
    pub(super) tag: i32,
    pub(super) message: UnexpectedMessage,
}
