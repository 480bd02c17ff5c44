//! The board of a communicator: the block through which its members on one node carry out collectives.
//!
//! ```text
//! Geometry     where everything lies in the block
//! Board        numbered instances of collectives, each with a cell a rank (deposits);
//!              counted arrivals and a release for the result (arrivals);
//!              pieces of work on an instance that any rank may take (shares)
//! backlog      deposits of ranks that are further ahead than the window allows
//! barrier      barriers, counted apart from the other collectives
//! call_queue   the collectives called here, for the node's agent, if the communicator spans nodes
//! work         how long ranks worked before barriers that they did not wait for
//! sleeping     waiting for any of this at the block's eventcount
//! revocation   marks that end everything under way
//! ```
//!
//! May use: the words of the block, the eventcount. Must never: know what an operation or a datatype is, or
//! wait without a bound.

mod arrivals;
pub mod backlog;
pub mod barrier;
pub mod call_queue;
mod deposits;
pub mod geometry;
pub mod revocation;
mod shares;
pub mod sleeping;
mod tagged;
pub mod work;

pub use deposits::{Board, Seq};
pub use geometry::Geometry;
