//! What agents tell each other: a head of fixed length, and data.
//!
//! A message may overtake another between the same two agents: large ones are fetched, small ones come at once.

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
}

impl What {
    const ALL: [What; 7] = [What::Barriers, What::Step, What::Ping, What::Pong, What::Revoked, What::Died, What::Taken];
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

impl Head {
    pub fn new(job: u64, what: What) -> Head {
        Head { job, what, lane: 0, turn: 0, slot: 0, comm: 0, number: 0, at: 0 }
    }

    /// The message.
    pub fn with(&self, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + data.len());
        bytes.extend_from_slice(&self.job.to_le_bytes());
        bytes.extend_from_slice(&[self.what as u8, self.lane]);
        bytes.extend_from_slice(&self.turn.to_le_bytes());
        bytes.extend_from_slice(&self.slot.to_le_bytes());
        bytes.extend_from_slice(&self.comm.to_le_bytes());
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.at.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(data);
        bytes
    }

    /// Head and data of a message; None if it is none.
    pub fn read(message: &[u8]) -> Option<(Head, &[u8])> {
        let (head, data) = message.split_at_checked(HEAD_BYTES)?;
        let eight = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let four = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let what = What::ALL.into_iter().find(|what| *what as u8 == head[8])?;
        let turn = u16::from_le_bytes([head[10], head[11]]);
        Some((Head { job: eight(0), what, lane: head[9].min(1), turn, slot: four(12), comm: eight(16), number: eight(24), at: four(32) }, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written() {
        let head = Head { job: 1 << 63, what: What::Step, lane: 1, turn: 7, slot: 9, comm: 11, number: 13, at: u32::MAX };
        assert_eq!(Head::read(&head.with(b"data")), Some((head, &b"data"[..])));
        assert_eq!(Head::read(&[0; HEAD_BYTES]), None);
        assert_eq!(Head::read(b"short"), None);
    }
}
