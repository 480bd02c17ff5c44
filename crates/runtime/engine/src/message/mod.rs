//! Point-to-point messages of communicators whose members share this node. evenkeel carries them so that
//! they may overtake pending barriers.
//!
//! A message is sent at once, into the [channel](evenkeel_segment::channel) to its receiver, and carries the
//! stamp of its sender's latest pending barrier. The receiver matches it with a receive ([`matching`]) and
//! decides when the program may see it ([`visibility`], [`known`]). Small messages are copied twice.
//! [Large](large) ones stay in their sender's memory until they are wanted; then the receiver reads them
//! there ([`fetching`]) or, if the kernel does not allow that, the sender sends them in parts. [`port`] is
//! this process's end of the channels, with [`sending`] and [`receiving`] for the records, and [`table`] for
//! the queues of each communicator. [`request`] is one send or receive, and [`envelope`] defines the records.
//! [`messages`] owns the port. On top are the [`calls`] of the front end, and [`waiting`] for messages.
//!
//! Only one thread at a time is in here. Messages are for programs of which one thread calls MPI, and a
//! progress thread of the front end polls only while that thread is inside the host library.
//!
//! May use: comm, deferral, and (only in [`calls`] and [`waiting`]) barrier and process. Must never: change
//! the order that MPI demands.

pub mod calls;
pub mod envelope;
mod fetching;
mod known;
pub mod large;
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
