//! What a datagram says.
//!
//! ```text
//! 0 kind | 4 bytes of content | 8 communicator | 16 number | 24 content | at most 24 + 4 + 256
//! ```
//!
//! All numbers are little-endian.

/// The longest content of a statement: a description of four bytes, and 256 bytes of data.
pub const MAX_STATEMENT_BYTES: usize = 4 + 256;

const HEAD_BYTES: usize = 24;
/// The longest frame.
pub const MAX_FRAME_BYTES: usize = HEAD_BYTES + MAX_STATEMENT_BYTES;

const STATEMENT: u32 = 1;
const CREDIT: u32 = 2;
const PROBE: u32 = 3;

/// What the sending node says about one communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// What the node has to say in a collective: each node says at most one thing in each, so it may be said
    /// again.
    Statement {
        /// The job's name for the communicator.
        communicator: u64,
        /// The number of the collective among those of the communicator.
        number: u64,
        /// What, a multiple of four bytes, at most [`MAX_STATEMENT_BYTES`].
        content: &'a [u8],
    },
    /// The ranks of the node have finished all collectives below a number.
    Credit {
        /// The job's name for the communicator.
        communicator: u64,
        /// The number.
        finished: u64,
    },
    /// Finds out whether datagrams come through, when the job starts.
    Probe {
        /// The nodes of which the sender has had one, a bit for each.
        heard: u64,
    },
}

impl<'a> Frame<'a> {
    /// The communicator that it is about, if it is about one.
    pub fn communicator(&self) -> Option<u64> {
        match *self {
            Frame::Statement { communicator, .. } | Frame::Credit { communicator, .. } => Some(communicator),
            Frame::Probe { .. } => None,
        }
    }

    /// Appends the frame's bytes.
    ///
    /// # Panics
    /// If a statement is too long.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let (kind, communicator, number, content) = match *self {
            Frame::Statement { communicator, number, content } => (STATEMENT, communicator, number, content),
            Frame::Credit { communicator, finished } => (CREDIT, communicator, finished, &[][..]),
            Frame::Probe { heard } => (PROBE, 0, heard, &[][..]),
        };
        assert!(content.len() <= MAX_STATEMENT_BYTES, "statements are cut before");
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&(content.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&communicator.to_le_bytes());
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(content);
    }

    /// The frame in these bytes; `None` if they are none.
    pub fn read(bytes: &'a [u8]) -> Option<Frame<'a>> {
        let (head, content) = bytes.split_at_checked(HEAD_BYTES)?;
        let four = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let eight = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let (communicator, number) = (eight(8), eight(16));
        if four(4) as usize != content.len() {
            return None;
        }
        match four(0) {
            STATEMENT if content.len() <= MAX_STATEMENT_BYTES && content.len() % 4 == 0 => {
                Some(Frame::Statement { communicator, number, content })
            }
            CREDIT if content.is_empty() => Some(Frame::Credit { communicator, finished: number }),
            PROBE if content.is_empty() && communicator == 0 => Some(Frame::Probe { heard: number }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written_and_nothing_shorter_is() {
        for frame in [
            Frame::Statement { communicator: u64::MAX, number: 7, content: &[1; MAX_STATEMENT_BYTES] },
            Frame::Statement { communicator: 1, number: 1 << 40, content: &[] },
            Frame::Credit { communicator: 5, finished: u64::MAX - 1 },
            Frame::Probe { heard: 1 << 31 | 1 },
        ] {
            let mut bytes = Vec::new();
            frame.write(&mut bytes);
            assert_eq!(Frame::read(&bytes), Some(frame));
            for length in 0..bytes.len() {
                assert_eq!(Frame::read(&bytes[..length]), None, "{length}");
            }
            bytes.push(0);
            assert_eq!(Frame::read(&bytes), None);
        }
    }

    #[test]
    fn bytes_that_are_no_frame_are_refused() {
        let mut bytes = Vec::new();
        Frame::Statement { communicator: 1, number: 2, content: &[0; 8] }.write(&mut bytes);
        for (at, value) in [(0, 0), (0, 3), (0, 4), (4, 9), (5, 1)] {
            let mut other = bytes.clone();
            other[at] = value;
            assert_eq!(Frame::read(&other), None, "{at}");
        }
        let odd = [&[1, 0, 0, 0, 3, 0, 0, 0][..], &[0; 16 + 3]].concat();
        assert_eq!(Frame::read(&odd), None, "not a multiple of four");
    }
}
