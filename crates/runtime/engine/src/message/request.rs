//! One send or receive, from the call that starts it to its completion.

use super::envelope::{Envelope, Offer, Token};
use crate::comm::part::NodePart;
use crate::comm::stamp::BarrierStamp;

/// A send or receive that is not complete, or not known to be. The first fields are `ek_message` of the
/// C interface.
#[repr(C)]
pub struct Message {
    /// Bytes that were sent, of which no more than the buffer holds were received.
    pub bytes: usize,
    /// Rank of the sender in the communicator; -1: not known.
    pub source: i32,
    /// The message's tag; -1: not known.
    pub tag: i32,
    /// More was sent than the buffer holds.
    pub truncated: bool,
    /// It was cancelled before anything had been received by it.
    pub cancelled: bool,
    /// Data are where they belong, and a synchronous send has been received.
    pub done: bool,
    /// Done, and no barrier decides who may know.
    pub plain: bool,
    /// Stamp of the message that was received; of a synchronous send, of the receive that got it.
    pub(super) stamp: Option<BarrierStamp>,
    /// Stamp of this process when it posted the receive.
    pub(super) posted: Option<BarrierStamp>,
    pub(super) comm: u64,
    /// The program's buffer: to be written by a receive, read by a send.
    pub(super) buffer: *mut u8,
    pub(super) capacity: usize,
    /// Of a receive in parts: bytes to come. Of a send in parts: bytes sent.
    pub(super) moved: usize,
    /// Of a send in parts: the receive, and the receiver's local rank.
    pub(super) receive: u64,
    pub(super) receiver: usize,
    pub(super) is_send: bool,
    /// Another process may wait for what this one must do for it.
    pub(super) needs_this_process: bool,
    /// Freed by the program before it was complete.
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

/// Where the data of an unclaimed message are.
pub(super) enum Payload {
    /// Copied out of its record.
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

/// A message for which no receive has been posted.
pub struct UnclaimedMessage {
    pub(super) stamp: Option<BarrierStamp>,
    pub(super) token: Option<Token>,
    /// Local rank of its sender.
    pub(super) sender: usize,
    pub(super) payload: Payload,
}

impl UnclaimedMessage {
    pub(super) fn new(envelope: &Envelope, sender: usize, payload: Payload) -> UnclaimedMessage {
        UnclaimedMessage { stamp: envelope.stamp, token: envelope.token, sender, payload }
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.payload.bytes()
    }
}

/// What a probe has found; with `message`, for a matched receive.
pub struct Probed {
    /// Rank of the sender in the communicator.
    pub source: usize,
    /// The message's tag.
    pub tag: i32,
    /// Its length.
    pub bytes: usize,
    /// The message itself, if the probe has taken it out.
    pub message: Option<Box<Matched>>,
}

/// A message that a probe has taken out.
pub struct Matched {
    pub(super) source: usize,
    pub(super) tag: i32,
    pub(super) message: UnclaimedMessage,
}
