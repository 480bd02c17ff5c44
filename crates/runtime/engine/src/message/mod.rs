//! Point-to-point messages of communicators whose members share this node, so that they may overtake
//! pending barriers.
//!
//! A message goes at once, into the [channel](evenkeel_segment::channel) to its receiver, and carries
//! the stamp of its sender's latest pending barrier ([`stamp`] has the rules). The receiver pairs it
//! with a receive ([`matching`]) and decides when it may be seen. Small messages are copied twice;
//! large ones stay where they are until they are wanted, and are then read from their sender's memory,
//! or sent in parts where the kernel does not allow that. [`port`] is this process's end of all that,
//! with `sending` and `receiving` for the records on their way, `known` for what is known of barriers,
//! `table` for the queues by communicator; [`request`] is one send or receive, [`envelope`] what stands
//! in the records, [`waiting`] how a rank waits for messages.
//!
//! One thread at a time is in here: messages are for programs of which one thread calls MPI, and a
//! helper thread of the front end moves them on only while that one is inside the host library.

pub mod calls;
pub mod envelope;
mod known;
pub mod matching;
pub mod port;
mod receiving;
pub mod request;
mod sending;
mod table;
pub mod visibility;
pub mod waiting;

pub use port::{close, forget, incomplete, is_busy, is_on, is_sending, open, progress, sent};
pub use request::{Message, Probed};
