//! What the nodes of a measurement say to each other over the fabric: 16 bytes, and in messages of some
//! size what fills them up.

/// Bytes of a signal, and the shortest message.
pub const HEAD: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From node 0: what follows is timed, look busily. The content tells whether cores are shared.
    Begin = 1,
    Ready,
    /// From node 0, to be answered.
    Signal,
    Answer,
    /// From node 0: one of a stream. The second one is to be credited.
    Stream,
    StreamAnswered,
    Credit,
    /// From node 0: a message of some bytes, which is to come back.
    Letter,
    Reply,
    /// To node 0: what came is not what should have been sent.
    Wrong,
    /// From node 0: nothing follows for a while.
    End,
}

const KINDS: [Kind; 11] = [
    Kind::Begin,
    Kind::Ready,
    Kind::Signal,
    Kind::Answer,
    Kind::Stream,
    Kind::StreamAnswered,
    Kind::Credit,
    Kind::Letter,
    Kind::Reply,
    Kind::Wrong,
    Kind::End,
];

/// The first 16 bytes of every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub kind: Kind,
    /// Turns are counted on and on, so that what comes late or twice is known as such. Below 2^56.
    pub epoch: u64,
    pub content: u64,
}

impl Head {
    pub fn bytes(self) -> [u8; HEAD] {
        let first = (self.kind as u64) << 56 | self.epoch;
        let mut bytes = [0; HEAD];
        bytes[..8].copy_from_slice(&first.to_le_bytes());
        bytes[8..].copy_from_slice(&self.content.to_le_bytes());
        bytes
    }

    /// None: it is no message of a measurement.
    pub fn read(message: &[u8]) -> Option<Head> {
        let (first, rest) = message.split_first_chunk::<8>()?;
        let (content, _) = rest.split_first_chunk::<8>()?;
        let first = u64::from_le_bytes(*first);
        let kind = *KINDS.get(((first >> 56) as usize).checked_sub(1)?)?;
        Some(Head { kind, epoch: first & ((1 << 56) - 1), content: u64::from_le_bytes(*content) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_read_back_and_nothing_else_does() {
        for (i, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, i + 1);
            let head = Head { kind, epoch: (1 << 56) - 1 - i as u64, content: u64::MAX - 3 };
            assert_eq!(Head::read(&head.bytes()), Some(head));
            assert_eq!(Head::read(&[&head.bytes()[..], &[7; 100]].concat()), Some(head));
        }
        assert_eq!(
            (Head::read(&[0; HEAD]), Head::read(&[255; HEAD]), Head::read(&[1; HEAD - 1])),
            (None, None, None)
        );
    }
}
