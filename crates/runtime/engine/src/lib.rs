//! Starts, progresses and completes collectives over the segment of one node.
//!
//! Modules are listed from the top down; each uses only those below it.
//!
//! | module | what it does |
//! |---|---|
//! | [`dispatch`] | the entry points: what a front end asks for on a communicator |
//! | [`barrier`], [`blocking`], [`message::calls`], [`message::waiting`] | carry out calls that may wait |
//! | [`process`] | all that the library keeps in this process |
//! | [`communicator`] | what this process knows of each communicator: host, node or spanning |
//! | [`nonblocking`], [`message`], [`deferral`] | what is under way: operations, messages, pending barriers |
//! | [`spanning`] | collectives of communicators that span nodes, at one node |
//! | [`collective`] | collectives among the ranks of one node, without any waiting |
//! | [`comm`] | a communicator's part on one node: shared memory, numbering, window |
//! | [`job`] | the processes of the job, and the node that some of them share |
//! | [`wait`], [`record`], [`reduction`], [`copy`], [`clock`] | waiting, counting, combining, copying, time |
//!
//! A call goes this way: [`dispatch`] makes a plan of it ([`collective::plan`]) from what all ranks
//! know alike, and declines it if the host library must carry it out. A small one takes the fast path
//! ([`blocking::fast_path`]). Otherwise it becomes an operation ([`collective::operation`]), which
//! makes this rank's deposits and completes when what the rank needs is there; the rank waits for that
//! ([`blocking::wait_loop`]).
//!
//! May use: segment, spanning, schedule, barrier-table, options, record, libc. Must never know MPI,
//! choose an algorithm by anything that ranks may see differently, hold a rank for something that it
//! does not need, or combine in another order than that of the ranks.

pub mod barrier;
pub mod blocking;
pub mod clock;
pub mod collective;
pub mod comm;
pub mod communicator;
pub mod copy;
pub mod deferral;
pub mod dispatch;
pub mod job;
pub mod message;
pub mod nonblocking;
pub mod process;
pub mod record;
pub mod reduction;
pub mod spanning;
pub mod wait;
