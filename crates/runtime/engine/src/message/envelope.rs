//! What stands in front of a message, and the other records of the protocol.
//!
//! | record | what it says | followed by |
//! |---|---|---|
//! | `EAGER` | envelope | the message |
//! | `OFFER` | envelope, where the message lies | |
//! | `DONE`  | token of a send: it was received (and its data are not needed any more); stamp of the receive | |
//! | `WANTED` | token of an offered send, token of the receive, bytes: send it in parts, it cannot be read directly | |
//! | `PART`  | token of the receive, offset | a part of the message |

use super::visibility::Stamp;

pub const EAGER: u8 = 1;
pub const OFFER: u8 = 2;
pub const DONE: u8 = 3;
pub const WANTED: u8 = 4;
pub const PART: u8 = 5;

/// No record's own fields take more than this.
pub const LARGEST: usize = 72;

const STAMPED: u32 = 1 << 31;
/// The sender waits for a `DONE`.
const SYNCHRONOUS: u32 = 1 << 30;
const SOURCE: u32 = SYNCHRONOUS - 1;

/// Names a send or receive of the process that gave it out; comes back as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The communicator's id.
    pub comm: u64,
    pub tag: i32,
    /// The sender's rank in it.
    pub source: u32,
    pub stamp: Option<Stamp>,
    /// Of an offered or synchronous send.
    pub token: Option<Token>,
}

/// Where an offered message lies in its sender's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub address: u64,
    pub bytes: u64,
}

/// The fields of a record, being written.
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
    fn stamp(&mut self, stamp: Stamp) {
        self.word(stamp.comm);
        self.word(stamp.number);
        self.word(stamp.ranks as u64);
    }

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

    pub fn offer(e: &Envelope, offer: Offer) -> Fields {
        let mut f = Fields::envelope(e);
        f.word(offer.address);
        f.word(offer.bytes);
        f
    }

    pub fn done(token: Token, stamp: Option<Stamp>) -> Fields {
        let mut f = Fields::default();
        f.word(token.0);
        if let Some(stamp) = stamp {
            f.stamp(stamp);
        }
        f
    }

    /// Three words: of `WANTED` send, receive, bytes; of `PART` receive, offset.
    pub fn words(words: &[u64]) -> Fields {
        let mut f = Fields::default();
        words.iter().for_each(|&w| f.word(w));
        f
    }

    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}

/// The fields of a record, being read; what remains is the message.
pub struct Record<'a>(pub &'a [u8]);

impl Record<'_> {
    #[inline(always)]
    pub fn word(&mut self) -> u64 {
        let (word, rest) = self.0.split_at(8);
        self.0 = rest;
        u64::from_ne_bytes(word.try_into().expect("eight bytes"))
    }

    #[inline(always)]
    pub fn stamp(&mut self) -> Stamp {
        Stamp { comm: self.word(), number: self.word(), ranks: self.word() as u32 }
    }

    #[inline(always)]
    pub fn envelope(&mut self) -> Envelope {
        let (comm, word) = (self.word(), self.word());
        let flags = word as u32;
        let stamp = (flags & STAMPED != 0).then(|| self.stamp());
        let token = (flags & SYNCHRONOUS != 0).then(|| Token(self.word()));
        Envelope { comm, tag: (word >> 32) as i32, source: flags & SOURCE, stamp, token }
    }

    pub fn offer(&mut self) -> Offer {
        Offer { address: self.word(), bytes: self.word() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let stamp = Stamp { comm: u64::MAX - 1, ranks: 4096, number: 1 << 60 };
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
