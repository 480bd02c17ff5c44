//! What one node tells another within a TLS session.
//!
//! A frame is a head of 8 bytes and a body, little-endian:
//!
//! ```text
//! 0 kind | 1 zero | 4 length of the body | 8 body
//!
//! MORE, LAST   a part of a message, and its last part
//! PUT          0 at | 8 ticket, 0 if more follows | 16 place of the flag, or all ones | 24 flag | 32 data
//! ATOMIC       0 at | 8 ticket | 16 operation | 24 operand | 32 second operand | 40
//! DONE         0 ticket | 8 old value | 16
//! ```
//!
//! Every length is checked before memory is taken for it.

use crate::memory::{Atomic, WordWrite};
use bytes::Bytes;

/// Length of a frame's head.
pub(super) const HEAD_BYTES: usize = 8;
/// The longest body of a frame.
pub(super) const MAX_BODY_BYTES: usize = 256 << 10;
/// The longest message, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

const MORE: u8 = 1;
const LAST: u8 = 2;
const PUT: u8 = 3;
const ATOMIC: u8 = 4;
const DONE: u8 = 5;

const PUT_BYTES: usize = 32;
const ATOMIC_BYTES: usize = 40;
const DONE_BYTES: usize = 16;
/// The place of a flag where there is none.
const NO_FLAG: u64 = u64::MAX;

/// A frame to be sent: what has been put together, and data that need not be copied behind it.
#[derive(Clone, Debug)]
pub(super) struct OutgoingFrame {
    pub front: Vec<u8>,
    pub data: Bytes,
}

impl OutgoingFrame {
    pub fn len(&self) -> usize {
        self.front.len() + self.data.len()
    }

    /// A frame whose body begins with `front`, which has room for the head before it.
    fn new(kind: u8, mut front: Vec<u8>, data: Bytes) -> OutgoingFrame {
        let body = front.len() - HEAD_BYTES + data.len();
        debug_assert!(body <= MAX_BODY_BYTES);
        front[0] = kind;
        front[4..HEAD_BYTES].copy_from_slice(&(body as u32).to_le_bytes());
        OutgoingFrame { front, data }
    }

    fn of_words(kind: u8, words: &[u64], data: Bytes) -> OutgoingFrame {
        let mut front = vec![0; HEAD_BYTES];
        words.iter().for_each(|word| front.extend_from_slice(&word.to_le_bytes()));
        OutgoingFrame::new(kind, front, data)
    }

    /// The frames of a message that is `head` followed by `data`.
    pub fn of_message(head: &[u8], data: Bytes) -> Vec<OutgoingFrame> {
        let with_front = |bytes: &[u8]| [&[0; HEAD_BYTES], bytes].concat();
        if head.len() + data.len() <= MAX_BODY_BYTES {
            return vec![OutgoingFrame::new(LAST, with_front(head), data)];
        }
        let mut frames = Vec::new();
        for part in head.chunks(MAX_BODY_BYTES) {
            frames.push(OutgoingFrame::new(MORE, with_front(part), Bytes::new()));
        }
        for at in (0..data.len()).step_by(MAX_BODY_BYTES) {
            let part = data.slice(at..data.len().min(at + MAX_BODY_BYTES));
            frames.push(OutgoingFrame::new(MORE, with_front(&[]), part));
        }
        frames.last_mut().expect("the message is long").front[0] = LAST;
        frames
    }

    /// The frames of a put.
    pub fn of_put(at: usize, bytes: &[u8], flag: Option<WordWrite>, ticket: u64) -> Vec<OutgoingFrame> {
        const PART: usize = MAX_BODY_BYTES - PUT_BYTES;
        let parts = bytes.len().div_ceil(PART).max(1);
        (0..parts)
            .map(|number| {
                let begin = number * PART;
                let part = &bytes[begin..bytes.len().min(begin + PART)];
                let (ticket, flag) = if number + 1 == parts { (ticket, flag) } else { (0, None) };
                let (place, value) = flag.map_or((NO_FLAG, 0), |flag| (flag.at as u64, flag.value));
                let words = [(at + begin) as u64, ticket, place, value];
                OutgoingFrame::of_words(PUT, &words, Bytes::copy_from_slice(part))
            })
            .collect()
    }

    pub fn of_atomic(at: usize, operation: Atomic, ticket: u64) -> OutgoingFrame {
        let (code, operand, second) = match operation {
            Atomic::Add(by) => (0, by, 0),
            Atomic::Swap(new) => (1, new, 0),
            Atomic::CompareSwap { expected, new } => (2, expected, new),
            Atomic::And(with) => (3, with, 0),
            Atomic::Or(with) => (4, with, 0),
            Atomic::Xor(with) => (5, with, 0),
        };
        OutgoingFrame::of_words(ATOMIC, &[at as u64, ticket, code, operand, second], Bytes::new())
    }

    pub fn of_done(ticket: u64, fetched: u64) -> OutgoingFrame {
        OutgoingFrame::of_words(DONE, &[ticket, fetched], Bytes::new())
    }
}

/// What has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IncomingFrame {
    Message(Vec<u8>),
    Put { at: usize, ticket: u64, flag: Option<WordWrite>, data: Vec<u8> },
    Atomic { at: usize, ticket: u64, operation: Atomic },
    Done { ticket: u64, fetched: u64 },
}

/// Why bytes are no frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    #[error("it has sent a frame of unknown kind {0}")]
    Kind(u8),
    #[error("it has sent a frame of kind {0} with a length of {1} bytes")]
    Length(u8, usize),
    #[error("it has sent a message of more than {MAX_MESSAGE_BYTES} bytes")]
    Message,
    #[error("it has sent an operation that does not exist, or does not lie within this node's memory")]
    Operation,
}

/// Puts frames together from the bytes of one session. It holds one frame, and the parts of one message.
#[derive(Default)]
pub(super) struct FrameReader {
    head: Vec<u8>,
    /// Bytes of the body that are missing, once the head is there.
    missing: usize,
    /// The body, and of a message the parts before it.
    body: Vec<u8>,
}

impl FrameReader {
    /// Takes bytes as they arrive, and gives the frames that they complete to `take`.
    pub fn read(
        &mut self,
        mut bytes: &[u8],
        take: &mut impl FnMut(IncomingFrame) -> Result<(), FrameError>,
    ) -> Result<(), FrameError> {
        loop {
            if self.head.len() < HEAD_BYTES {
                let (head, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.head.len()));
                self.head.extend_from_slice(head);
                bytes = rest;
                if self.head.len() < HEAD_BYTES {
                    return Ok(());
                }
                self.begin()?;
            }
            let (body, rest) = bytes.split_at(bytes.len().min(self.missing));
            self.body.extend_from_slice(body);
            self.missing -= body.len();
            bytes = rest;
            if self.missing > 0 {
                return Ok(());
            }
            let kind = self.head[0];
            self.head.clear();
            if kind != MORE {
                take(parse(kind, std::mem::take(&mut self.body))?)?;
            }
        }
    }

    /// The head is there: checks it, and then makes room for the body.
    fn begin(&mut self) -> Result<(), FrameError> {
        let kind = self.head[0];
        let length = u32::from_le_bytes(self.head[4..].try_into().expect("four bytes")) as usize;
        let is_part = matches!(kind, MORE | LAST);
        let is_possible = match kind {
            MORE | LAST => length <= MAX_BODY_BYTES,
            PUT => (PUT_BYTES..=MAX_BODY_BYTES).contains(&length),
            ATOMIC => length == ATOMIC_BYTES,
            DONE => length == DONE_BYTES,
            kind => return Err(FrameError::Kind(kind)),
        };
        let is_amid_message = !is_part && !self.body.is_empty();
        // A part without data would cost work and move nothing.
        let is_empty_part = kind == MORE && length == 0;
        if !is_possible || self.head[1..4] != [0; 3] || is_amid_message || is_empty_part {
            return Err(FrameError::Length(kind, length));
        }
        if self.body.len() + length > MAX_MESSAGE_BYTES {
            return Err(FrameError::Message);
        }
        self.body.reserve(length);
        self.missing = length;
        Ok(())
    }
}

/// A body of a length that its kind may have.
fn parse(kind: u8, body: Vec<u8>) -> Result<IncomingFrame, FrameError> {
    let word = |at: usize| u64::from_le_bytes(body[at..at + 8].try_into().expect("eight bytes"));
    let place = |at: usize| usize::try_from(word(at)).map_err(|_| FrameError::Operation);
    match kind {
        PUT => {
            let flag = match word(16) {
                NO_FLAG => None,
                _ => Some(WordWrite { at: place(16)?, value: word(24) }),
            };
            let data = body[PUT_BYTES..].to_vec();
            Ok(IncomingFrame::Put { at: place(0)?, ticket: word(8), flag, data })
        }
        ATOMIC => {
            let (operand, second) = (word(24), word(32));
            let operation = match word(16) {
                0 => Atomic::Add(operand),
                1 => Atomic::Swap(operand),
                2 => Atomic::CompareSwap { expected: operand, new: second },
                3 => Atomic::And(operand),
                4 => Atomic::Or(operand),
                5 => Atomic::Xor(operand),
                _ => return Err(FrameError::Operation),
            };
            Ok(IncomingFrame::Atomic { at: place(0)?, ticket: word(8), operation })
        }
        DONE => Ok(IncomingFrame::Done { ticket: word(0), fetched: word(8) }),
        _ => Ok(IncomingFrame::Message(body)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(frames: &[OutgoingFrame]) -> Vec<u8> {
        frames.iter().flat_map(|frame| [&frame.front[..], &frame.data[..]].concat()).collect()
    }

    fn read_in_pieces(bytes: &[u8], piece: usize) -> Result<Vec<IncomingFrame>, FrameError> {
        let (mut reader, mut frames) = (FrameReader::default(), Vec::new());
        for piece in bytes.chunks(piece) {
            reader.read(piece, &mut |frame| {
                frames.push(frame);
                Ok(())
            })?;
        }
        Ok(frames)
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        let data: Vec<u8> = (0..600_000).map(|i| (i % 251) as u8).collect();
        let flag = Some(WordWrite { at: 8, value: 9 });
        let frames = [
            OutgoingFrame::of_message(b"", Bytes::new()),
            OutgoingFrame::of_message(b"head", Bytes::from_static(b"data")),
            OutgoingFrame::of_message(&data, data.clone().into()),
            OutgoingFrame::of_put(64, b"put", flag, 1),
            OutgoingFrame::of_put(0, &data[..300_000], None, 2),
            vec![OutgoingFrame::of_atomic(16, Atomic::CompareSwap { expected: 3, new: 4 }, 5)],
            vec![OutgoingFrame::of_done(6, 7)],
        ]
        .concat();
        let part = MAX_BODY_BYTES - PUT_BYTES;
        let put =
            |at, ticket, flag, data: &[u8]| IncomingFrame::Put { at, ticket, flag, data: data.to_vec() };
        let expected = [
            IncomingFrame::Message(Vec::new()),
            IncomingFrame::Message(b"headdata".to_vec()),
            IncomingFrame::Message([&data[..], &data[..]].concat()),
            put(64, 1, flag, b"put"),
            put(0, 0, None, &data[..part]),
            put(part, 2, None, &data[part..300_000]),
            IncomingFrame::Atomic {
                at: 16,
                ticket: 5,
                operation: Atomic::CompareSwap { expected: 3, new: 4 },
            },
            IncomingFrame::Done { ticket: 6, fetched: 7 },
        ];
        let bytes = bytes_of(&frames);
        for piece in [1, 7, 16 * 1024, bytes.len()] {
            assert!(read_in_pieces(&bytes, piece).unwrap() == expected, "in pieces of {piece} bytes");
        }
    }

    #[test]
    fn a_length_is_checked_before_memory_is_taken() {
        for kind in 0..=u8::MAX {
            for length in [0, 15, 39, MAX_BODY_BYTES as u32 + 1, u32::MAX] {
                let mut reader = FrameReader::default();
                let head = [&[kind, 0, 0, 0][..], &length.to_le_bytes()].concat();
                let outcome = reader.read(&head, &mut |_| Ok(()));
                assert!(outcome.is_err() || length <= 39, "kind {kind}, {length} bytes");
                assert!(reader.body.capacity() <= MAX_BODY_BYTES, "kind {kind}, {length} bytes");
            }
        }
    }

    #[test]
    fn a_message_without_end_is_refused() {
        let part = OutgoingFrame::new(MORE, vec![0; HEAD_BYTES], vec![0; MAX_BODY_BYTES].into());
        let bytes = bytes_of(&[part]);
        let mut reader = FrameReader::default();
        for _ in 0..MAX_MESSAGE_BYTES / MAX_BODY_BYTES {
            reader.read(&bytes, &mut |_| Ok(())).unwrap();
        }
        assert_eq!(reader.read(&bytes, &mut |_| Ok(())), Err(FrameError::Message));
        let empty = bytes_of(&[OutgoingFrame::new(MORE, vec![0; HEAD_BYTES], Bytes::new())]);
        assert!(FrameReader::default().read(&empty, &mut |_| Ok(())).is_err());
    }
}
