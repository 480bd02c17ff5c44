//! Flags and counters through which the ranks of a communicator run schedules, in a block beside the
//! communicator's own.
//!
//! ```text
//! head       as of every block | how many ranks sleep for a flag
//! each rank  its eventcount | its flags | its counters; every word on two lines of its own
//! ```
//!
//! Flags and counters only grow, from zero: nothing is cleared, so the next epoch may begin while other ranks
//! are still in the last one. A flag is raised by a plain store, so a rank that raises it must know of every
//! earlier raise; schedules are checked for that. Each rank sleeps at an eventcount of its own. In a barrier
//! of messages most signals concern one rank, and waking all ranks for each signal would take longer than the
//! barrier.
//!
//! May use: the words of the block, the eventcount. Must never: know which schedule is run.

mod geometry;
mod words;

pub use geometry::FlagGeometry;
pub use words::Flags;
