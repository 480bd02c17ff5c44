//! What agents tell each other: a head of fixed length, and data.
//!
//! A message may overtake another between the same two agents: large ones are fetched, small ones come
//! at once.

use bytes::Bytes;
use evenkeel_spanning::PieceDescription as Description;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum What {
    /// How many barriers have been entered by a part of the nodes; `slot` says by which.
    Barriers = 1,
    /// A step of a schedule: data for `at`, and a flag.
    Step = 2,
    /// Asks for a sign of life, and gives one.
    Ping = 3,
    Pong = 4,
    /// The communicator has been revoked.
    Revoked = 5,
    /// A rank of the sender's node has died: `number`.
    Died = 6,
    /// How many collectives of a lane have been taken up by a part of the nodes; `slot` says by which.
    Taken = 7,
    /// A step, to a node that passes on what it gets: the collective's description comes before the data,
    /// so that nobody there need have called it.
    Forward = 8,
}

impl What {
    const ALL: [What; 8] = [
        What::Barriers,
        What::Step,
        What::Ping,
        What::Pong,
        What::Revoked,
        What::Died,
        What::Taken,
        What::Forward,
    ];
}

/// A message's head. What it does not need is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The job's token.
    pub job: u64,
    pub what: What,
    /// Which of a communicator's two numberings: 0 blocking, 1 nonblocking.
    pub lane: u8,
    pub turn: u16,
    pub slot: u32,
    /// The communicator.
    pub comm: u64,
    /// The collective's number in its lane; a count of barriers; a rank.
    pub number: u64,
    /// A place of the receiver's buffers, as a number.
    pub at: u32,
}

pub const HEAD_BYTES: usize = 40;
/// Of a description.
const DESCRIBED_BYTES: usize = 16;

impl Head {
    pub fn new(job: u64, what: What) -> Head {
        Head { job, what, lane: 0, turn: 0, slot: 0, comm: 0, number: 0, at: 0 }
    }

    /// A message without data.
    pub fn alone(&self) -> Message {
        self.with(&Bytes::new())
    }

    /// The message.
    pub fn with(&self, data: &Bytes) -> Message {
        Message { head: self.bytes(&[]), data: data.clone() }
    }

    /// The message of a [`What::Forward`].
    pub fn with_described(&self, description: Description, data: &Bytes) -> Message {
        let [first, second] = description.to_words().map(u64::to_le_bytes);
        Message {
            head: Head { what: What::Forward, ..*self }.bytes(&[first, second].concat()),
            data: data.clone(),
        }
    }

    fn bytes(&self, more: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + more.len());
        bytes.extend_from_slice(&self.job.to_le_bytes());
        bytes.extend_from_slice(&[self.what as u8, self.lane]);
        bytes.extend_from_slice(&self.turn.to_le_bytes());
        bytes.extend_from_slice(&self.slot.to_le_bytes());
        bytes.extend_from_slice(&self.comm.to_le_bytes());
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.at.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(more);
        bytes
    }

    /// Head and data of a message; None if it is none.
    pub fn read(message: &Bytes) -> Option<(Head, Bytes)> {
        let (head, _) = message.split_at_checked(HEAD_BYTES)?;
        let eight = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let four = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let what = What::ALL.into_iter().find(|what| *what as u8 == head[8])?;
        let turn = u16::from_le_bytes([head[10], head[11]]);
        let read = Head {
            job: eight(0),
            what,
            lane: head[9].min(1),
            turn,
            slot: four(12),
            comm: eight(16),
            number: eight(24),
            at: four(32),
        };
        Some((read, message.slice(HEAD_BYTES..)))
    }
}

/// Description and data of a [`What::Forward`]; None if there is none.
pub fn described(data: &Bytes) -> Option<(Description, Bytes)> {
    let (words, _) = data.split_at_checked(DESCRIBED_BYTES)?;
    let word = |at: usize| u64::from_le_bytes(words[at..at + 8].try_into().expect("eight bytes"));
    Some((Description::from_words([word(0), word(8)])?, data.slice(DESCRIBED_BYTES..)))
}

/// What is sent: a head, with what belongs to it, and data that need not be copied behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub head: Vec<u8>,
    pub data: Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_engine::collective::call::Kind;

    fn arrived(message: Message) -> Bytes {
        [message.head, message.data.to_vec()].concat().into()
    }

    #[test]
    fn a_head_is_read_as_it_was_written() {
        let head = Head {
            job: 1 << 63,
            what: What::Step,
            lane: 1,
            turn: 7,
            slot: 9,
            comm: 11,
            number: 13,
            at: u32::MAX,
        };
        let data = Bytes::from_static(b"data");
        assert_eq!(Head::read(&arrived(head.with(&data))), Some((head, data)));
        assert_eq!(Head::read(&arrived(head.alone())), Some((head, Bytes::new())));
        assert_eq!(Head::read(&Bytes::from_static(&[0; HEAD_BYTES])), None);
        assert_eq!(Head::read(&Bytes::from_static(b"short")), None);
    }

    #[test]
    fn what_is_passed_on_says_what_it_is() {
        let description = Description {
            kind: Kind::Bcast,
            root: evenkeel_spanning::Location { node: 3, local_rank: 1 },
            bytes: 65536,
            operator: 0,
        };
        let head = Head { comm: 5, number: 7, ..Head::new(1, What::Step) };
        let data = Bytes::from_static(b"data");
        let message = arrived(head.with_described(description, &data));
        let (read, rest) = Head::read(&message).unwrap();
        assert_eq!(read, Head { what: What::Forward, ..head });
        assert_eq!(described(&rest), Some((description, data)));
        assert_eq!(described(&rest.slice(..15)), None);
    }
}
