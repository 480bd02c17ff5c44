//! Records from one process of the node to another: a ring of bytes for each ordered pair, with one writer
//! and one reader.
//!
//! A record starts on a cache line with its header: length and kind in one word, which is stored last and is
//! never zero. The reader looks at that word alone, so a small record costs one cache line. When a header is
//! stored, zero stands where the next one will be: what is left there from the last round could look like a
//! header. The writer zeroes some lines in advance, after it has published a record, so that no process waits
//! while it fetches those lines. The reader says from time to time how far it has come; until then the writer
//! leaves what it has written alone. So memory is bounded, nothing is allocated, and a process that dies
//! between two instructions leaves at most a record without a header, which no process sees.
//!
//! May use: the words and bytes of the rings, the eventcount. Must never: know what a record means, or wait.

mod geometry;
mod reader;
mod writer;

pub use geometry::{Bytes, Channels};
pub use reader::{Reader, Record};
pub use writer::{Writer, notify};
