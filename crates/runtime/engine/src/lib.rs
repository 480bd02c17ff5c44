//! Carries out collectives, barriers and messages among the ranks of one node through its shared-memory
//! segment. Communicators that span nodes are served together with the node's agent, or by datagrams.
//!
//! Modules are listed from the top down; each uses only those below it.
//!
//! | module | what it does |
//! |---|---|
//! | [`dispatch`] | the entry points: carries out the calls of a front end on a communicator |
//! | [`communicator_lifecycle`] | makes, duplicates, revokes and frees communicators |
//! | [`barrier`], [`blocking`], [`message::calls`], [`message::waiting`] | carry out calls that may wait |
//! | [`process`] | the state that the library keeps in this process |
//! | [`communicator`] | what this process knows of each communicator: host, node or spanning |
//! | [`nonblocking`], [`message`], [`deferral`] | operations, messages and barriers in progress |
//! | [`spanning`] | collectives of communicators that span nodes, as one node sees them |
//! | [`direct`] | small collectives across nodes that ranks carry themselves |
//! | [`collective`] | collectives among the ranks of one node, without any waiting |
//! | [`comm`] | a communicator's part on one node: shared memory, numbering, window |
//! | [`job`] | the processes of the job, and the node that some of them share |
//! | [`wait`], [`record`], [`reduction`], [`copy`], [`clock`] | waiting, counting, combining, copying, time |
//! | `lock` | taking a lock |
//!
//! The path of a call: [`dispatch`] makes a plan for it ([`collective::plan`]) from facts that are the same
//! on all ranks, or declines it if the host library must carry it out. A small call takes the fast path
//! ([`blocking::fast_path`]). Any other call becomes an operation ([`collective::operation`]), which makes
//! this rank's deposits and completes when the data that the rank needs is there. The rank waits for that
//! in [`blocking::wait_loop`].
//!
//! May use: segment, spanning, schedule, datagram, barrier-table, options, record, libc. Must never: know
//! MPI, choose an algorithm by facts that may differ between ranks, make a rank wait for something that it
//! does not need, or combine contributions in any order but rank order.

pub mod barrier;
pub mod blocking;
pub mod clock;
pub mod collective;
pub mod comm;
pub mod communicator;
pub mod communicator_lifecycle;
pub mod copy;
pub mod deferral;
pub mod direct;
pub mod dispatch;
pub mod job;
mod lock;
pub mod message;
pub mod nonblocking;
pub mod process;
pub mod record;
pub mod reduction;
pub mod spanning;
pub mod wait;
