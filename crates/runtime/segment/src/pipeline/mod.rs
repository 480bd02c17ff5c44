//! One large message copied by both ends at once.
//!
//! A receiver can read an offered message from its sender's memory all by itself, while the sender waits.
//! With a pipeline the sender copies as well: each process has one in the segment, for the messages that it
//! sends. The receiver of a message opens it. Then both claim chunks of the message by compare-and-swap on
//! one word: the receiver from the front, which it reads from the sender's memory; the sender from the back,
//! which it copies into the pipeline's slots, from where the receiver takes them in the same order.
//!
//! ```text
//! claims     generation, first chunk that is not claimed, end of these chunks; or closed, or being opened
//! message    the sender's token for the message, and the number of its chunks
//! taken      number of the sender's chunks that the receiver is done with
//! filled     for each slot: generation, and which of the sender's chunks it holds
//! slots      the chunks
//! ```
//!
//! The receiver never depends on the sender: a chunk that the sender has claimed and does not deliver,
//! perhaps because it has been stopped, is read by the receiver after all. Only the sender writes slots, one
//! after another, and a slot says which generation it was filled for. So a sender that goes on late fills a
//! slot that no receiver looks at. It never claims anything for a message that the receiver has finished
//! with: the word that it would have to swap has another generation by then. A receiver that dies leaves the
//! pipeline open, and later messages are read by their receivers alone.
//!
//! May use: the words and bytes of a pipeline. Must never: wait without asking its caller, or know what a
//! message is.

mod geometry;
mod receiver;
mod sender;

pub use geometry::{CHUNK_BYTES, Pipelines, SLOTS, slot_offset};
pub use receiver::{Part, Receiver};
pub use sender::{Claimed, Sender};

/// What the word with the claims says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claims {
    generation: u32,
    front: u16,
    back: u16,
}

/// In place of the front: there is no message.
const NO_MESSAGE: u16 = u16::MAX;
/// Beside it in place of the back: a receiver is about to open the pipeline.
const OPENING: u16 = 1;

/// The largest number of chunks of one message.
const MOST_CHUNKS: usize = NO_MESSAGE as usize - 1;

impl Claims {
    fn of_word(word: u64) -> Claims {
        Claims { generation: (word >> 32) as u32, front: (word >> 16) as u16, back: word as u16 }
    }

    fn word(self) -> u64 {
        (self.generation as u64) << 32 | (self.front as u64) << 16 | self.back as u64
    }

    fn closed(generation: u32) -> Claims {
        Claims { generation, front: NO_MESSAGE, back: 0 }
    }

    /// Chunks that are not claimed yet; `None` if there is no message.
    fn unclaimed(self) -> Option<usize> {
        (self.front != NO_MESSAGE).then(|| (self.back - self.front) as usize)
    }
}

/// A count that is valid in one generation only.
fn counted(generation: u32, count: usize) -> u64 {
    (generation as u64) << 32 | count as u64
}
