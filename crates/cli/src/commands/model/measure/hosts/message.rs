//! The messages between the nodes of a measurement: 16 bytes, and in messages of some size what fills them
//! up.

/// Bytes of a signal, which is the shortest message.
pub const HEADER_BYTES: usize = 16;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// From node 0: what follows is timed, so poll without pause. The content tells whether cores are shared.
    Begin = 1,
    /// The answer to `Begin`.
    Ready,
    /// From node 0, to be answered.
    Signal,
    /// The answer to a signal.
    Answer,
    /// From node 0: one of a stream.
    Stream,
    /// The same, and the position is to be reported.
    StreamToReport,
    /// The report of a position in the stream.
    Credit,
    /// From node 0: a message of some bytes, which is to come back.
    Message,
    /// The message, on its way back.
    Returned,
    /// To node 0: what came is not what should have been sent.
    Wrong,
    /// From node 0: nothing follows for a while.
    End,
}

const KINDS: [MessageKind; 11] = [
    MessageKind::Begin,
    MessageKind::Ready,
    MessageKind::Signal,
    MessageKind::Answer,
    MessageKind::Stream,
    MessageKind::StreamToReport,
    MessageKind::Credit,
    MessageKind::Message,
    MessageKind::Returned,
    MessageKind::Wrong,
    MessageKind::End,
];

/// The first 16 bytes of every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is for.
    pub kind: MessageKind,
    /// The number of the turn, which only grows, so that late and repeated messages are recognised. Below
    /// 2^56.
    pub epoch: u64,
    /// What the message carries.
    pub content: u64,
}

impl Header {
    /// The header as bytes.
    pub fn bytes(self) -> [u8; HEADER_BYTES] {
        let first = (self.kind as u64) << 56 | self.epoch;
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&first.to_le_bytes());
        bytes[8..].copy_from_slice(&self.content.to_le_bytes());
        bytes
    }

    /// The header of a message; None if it is not a message of a measurement.
    pub fn read(message: &[u8]) -> Option<Header> {
        let (first, rest) = message.split_first_chunk::<8>()?;
        let (content, _) = rest.split_first_chunk::<8>()?;
        let first = u64::from_le_bytes(*first);
        let kind = *KINDS.get(((first >> 56) as usize).checked_sub(1)?)?;
        Some(Header { kind, epoch: first & ((1 << 56) - 1), content: u64::from_le_bytes(*content) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_back_and_other_bytes_are_not() {
        for (i, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, i + 1);
            let header = Header { kind, epoch: (1 << 56) - 1 - i as u64, content: u64::MAX - 3 };
            assert_eq!(Header::read(&header.bytes()), Some(header));
            assert_eq!(Header::read(&[&header.bytes()[..], &[7; 100]].concat()), Some(header));
        }
        assert_eq!(Header::read(&[0; HEADER_BYTES]), None);
        assert_eq!(Header::read(&[255; HEADER_BYTES]), None);
        assert_eq!(Header::read(&[1; HEADER_BYTES - 1]), None);
    }
}
