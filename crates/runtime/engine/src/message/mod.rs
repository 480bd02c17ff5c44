//! Point-to-point messages of communicators whose members share this node, so that they may overtake
//! pending barriers.
//!
//! A message is sent at once, into the [channel](evenkeel_segment::channel) to its receiver, and
//! carries the stamp of its sender's latest pending barrier. The receiver pairs it with a receive
//! ([`matching`]) and decides when it may be seen ([`visibility`], [`known`]). Small messages are
//! copied twice. Large ones stay where they are until they are wanted, and are then read from their
//! sender's memory, or sent in parts where the kernel does not allow that. [`port`] is this process's
//! end of the channels, with [`sending`] and [`receiving`] for the records on their way and [`table`]
//! for the queues by communicator; [`request`] is one send or receive, [`envelope`] what the records
//! say. [`messages`] holds the port. On top are the front end's [`calls`], and [`waiting`] for
//! messages.
//!
//! One thread at a time is in here: messages are for programs of which one thread calls MPI, and a
//! progress thread of the front end moves them on only while that thread is inside the host library.
//!
//! May use: comm, deferral; on top, the process. Must never change MPI's order.

pub mod calls;
pub mod envelope;
mod known;
pub mod matching;
pub mod messages;
pub mod port;
mod receiving;
pub mod request;
mod sending;
mod table;
pub mod visibility;
mod waiter;
pub mod waiting;
