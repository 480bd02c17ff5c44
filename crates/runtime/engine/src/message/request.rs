//! One send or receive, from the call that starts it to its completion.

use super::envelope::{Envelope, Offer, Token};
use super::visibility::{Look, Stamp};
use crate::communicator::node::Comm;

/// A send or receive that is not complete, or not known to be. The first fields are `ek_message` of the
/// C interface.
#[repr(C)]
pub struct Message {
    /// Bytes that were sent, of which no more than the buffer holds were received.
    pub bytes: usize,
    pub source: i32,
    pub tag: i32,
    /// More was sent than the buffer holds.
    pub truncated: bool,
    pub cancelled: bool,
    /// Data are where they belong, and a synchronous send has been received.
    pub done: bool,
    /// Done, and no barrier decides who may know.
    pub plain: bool,
    /// Stamp of the message that was received; of a synchronous send, of the receive that got it.
    pub(super) stamp: Option<Stamp>,
    /// Stamp of this process when it posted the receive.
    pub(super) posted: Option<Stamp>,
    pub(super) comm: u64,
    /// The program's buffer: to be written by a receive, read by a send.
    pub(super) buffer: *mut u8,
    pub(super) capacity: usize,
    /// Of a receive in parts: bytes to come. Of a send in parts: bytes sent.
    pub(super) moved: usize,
    /// Of a send in parts: the receive, and the receiver's place.
    pub(super) receive: u64,
    pub(super) place: usize,
    pub(super) is_send: bool,
    /// Others may wait for what this process must do for it.
    pub(super) needs_us: bool,
    /// Freed by the program before it was complete.
    pub(super) forsaken: bool,
}

impl Message {
    pub(super) fn new(comm: &Comm, buffer: *mut u8, capacity: usize) -> Message {
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
            comm: comm.id(),
            buffer,
            capacity,
            moved: 0,
            receive: 0,
            place: 0,
            is_send: false,
            needs_us: false,
            forsaken: false,
        }
    }

    /// Whether it is complete for a program that looks so.
    #[inline(always)]
    pub fn is_complete(&self, look: Look) -> bool {
        self.done && self.stamp.is_none_or(|s| super::port::may_see(look, s))
    }
}

/// What a message consists of while nobody has received it.
pub(super) enum Data {
    /// Copied out of its record.
    Here(Box<[u8]>),
    /// In its sender's memory.
    There(Offer),
}

impl Data {
    fn bytes(&self) -> usize {
        match self {
            Data::Here(bytes) => bytes.len(),
            Data::There(offer) => offer.bytes as usize,
        }
    }
}

/// A message that nobody has received.
pub struct Early {
    pub(super) stamp: Option<Stamp>,
    pub(super) token: Option<Token>,
    pub(super) place: usize,
    pub(super) data: Data,
}

impl Early {
    pub(super) fn new(envelope: &Envelope, place: usize, data: Data) -> Early {
        Early { stamp: envelope.stamp, token: envelope.token, place, data }
    }

    pub fn bytes(&self) -> usize {
        self.data.bytes()
    }
}

/// What a probe has found; with `message`, for a matched receive.
pub struct Probed {
    pub source: usize,
    pub tag: i32,
    pub bytes: usize,
    pub message: Option<Box<Matched>>,
}

/// A message that a probe has taken out.
pub struct Matched {
    pub(super) source: usize,
    pub(super) tag: i32,
    pub(super) early: Early,
}
