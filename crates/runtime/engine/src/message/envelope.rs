//! The records of the message protocol, and how their fields are written and read.
//!
//! | record | fields | followed by | meaning |
//! |---|---|---|---|
//! | `EAGER` | envelope | the message | a whole message |
//! | `OFFER` | envelope, address, bytes | | a long message that the receiver may read at its address |
//! | `DONE`  | token of the send, stamp of the receive | | the message was received |
//! | `WANTED` | token of the send, token of the receive, bytes | | the receiver wants parts |
//! | `PART`  | token of the receive, offset | the part | a part of a message, sent after `WANTED` |

use crate::comm::stamp::BarrierStamp;

/// A whole message.
pub const EAGER: u8 = 1;
/// A long message that the receiver may read from the sender's memory.
pub const OFFER: u8 = 2;
/// A message has been received.
pub const DONE: u8 = 3;
/// The receiver wants an offered message in parts.
pub const WANTED: u8 = 4;
/// A part of a message.
pub const PART: u8 = 5;

/// The largest size of a record's fields, in bytes.
pub const LARGEST: usize = 72;

const STAMPED: u32 = 1 << 31;
/// The sender waits for a `DONE`.
const SYNCHRONOUS: u32 = 1 << 30;
const SOURCE: u32 = SYNCHRONOUS - 1;

/// Identifies a send or receive in the process that issued it. The other process sends it back unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(pub u64);

/// What a receive is matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The communicator's id.
    pub comm: u64,
    /// The tag of the message.
    pub tag: i32,
    /// The rank of the sender in the communicator.
    pub source: u32,
    /// The pending barrier behind which it was sent, if there is one.
    pub stamp: Option<BarrierStamp>,
    /// The send, if it is offered or synchronous.
    pub token: Option<Token>,
}

/// The place of an offered message in the memory of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its address there.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
}

/// The fields of a record that is being written.
pub struct Fields {
    bytes: [u8; LARGEST],
    used: usize,
}

impl Default for Fields {
    #[inline(always)]
    fn default() -> Self {
        Fields { bytes: [0; LARGEST], used: 0 }
    }
}

impl Fields {
    #[inline(always)]
    fn word(&mut self, word: u64) {
        self.bytes[self.used..self.used + 8].copy_from_slice(&word.to_ne_bytes());
        self.used += 8;
    }

    #[inline(always)]
    fn stamp(&mut self, stamp: BarrierStamp) {
        self.word(stamp.comm);
        self.word(stamp.number);
        self.word(stamp.ranks as u64);
    }

    /// The fields of `EAGER`.
    #[inline(always)]
    pub fn envelope(e: &Envelope) -> Fields {
        let mut f = Fields::default();
        f.word(e.comm);
        let flags =
            if e.stamp.is_some() { STAMPED } else { 0 } | if e.token.is_some() { SYNCHRONOUS } else { 0 };
        f.word((e.tag as u32 as u64) << 32 | (e.source | flags) as u64);
        if let Some(stamp) = e.stamp {
            f.stamp(stamp);
        }
        if let Some(token) = e.token {
            f.word(token.0);
        }
        f
    }

    /// The fields of `OFFER`.
    pub fn offer(e: &Envelope, offer: Offer) -> Fields {
        let mut f = Fields::envelope(e);
        f.word(offer.address);
        f.word(offer.bytes);
        f
    }

    /// The fields of `DONE`.
    pub fn done(token: Token, stamp: Option<BarrierStamp>) -> Fields {
        let mut f = Fields::default();
        f.word(token.0);
        if let Some(stamp) = stamp {
            f.stamp(stamp);
        }
        f
    }

    /// The fields of `WANTED` (three words) or `PART` (two words).
    pub fn words(words: &[u64]) -> Fields {
        let mut f = Fields::default();
        words.iter().for_each(|&w| f.word(w));
        f
    }

    /// The fields as they are sent.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}

/// A record that is being read. Each method takes fields off its front; the rest is the message.
pub struct Record<'a>(pub &'a [u8]);

impl Record<'_> {
    /// Takes a token, a size or an offset.
    ///
    /// # Panics
    /// If the record is shorter, which the other process never sends.
    #[inline(always)]
    pub fn word(&mut self) -> u64 {
        let (word, rest) = self.0.split_at(8);
        self.0 = rest;
        u64::from_ne_bytes(word.try_into().expect("eight bytes"))
    }

    /// Takes a stamp.
    #[inline(always)]
    pub fn stamp(&mut self) -> BarrierStamp {
        BarrierStamp { comm: self.word(), number: self.word(), ranks: self.word() as u32 }
    }

    /// Takes an envelope.
    #[inline(always)]
    pub fn envelope(&mut self) -> Envelope {
        let (comm, word) = (self.word(), self.word());
        let flags = word as u32;
        let stamp = (flags & STAMPED != 0).then(|| self.stamp());
        let token = (flags & SYNCHRONOUS != 0).then(|| Token(self.word()));
        Envelope { comm, tag: (word >> 32) as i32, source: flags & SOURCE, stamp, token }
    }

    /// Takes the place of an offered message.
    pub fn offer(&mut self) -> Offer {
        Offer { address: self.word(), bytes: self.word() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_were_written() {
        let stamp = BarrierStamp { comm: u64::MAX - 1, ranks: 4096, number: 1 << 60 };
        for (stamp, token) in
            [(None, None), (Some(stamp), None), (None, Some(Token(7))), (Some(stamp), Some(Token(u64::MAX)))]
        {
            let envelope =
                Envelope { comm: 0x0123_4567_89ab_cdef, tag: i32::MAX, source: 4095, stamp, token };
            let offer = Offer { address: u64::MAX - 4096, bytes: 1 << 40 };
            let fields = Fields::offer(&envelope, offer);
            let mut record = Record(fields.bytes());
            assert_eq!((record.envelope(), record.offer(), record.0.len()), (envelope, offer, 0));
        }
        let done = Fields::done(Token(3), Some(stamp));
        let mut record = Record(done.bytes());
        assert_eq!((record.word(), record.stamp()), (3, stamp));
    }
}
