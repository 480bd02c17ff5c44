//! Predicts which receive a program posts next, from those that it has posted.
//!
//! A receive has an *identifier*: a number for its source, tag, length and communicator, however the caller
//! makes it. It has a *site*, which is the place in the program that posts it. A predictor is asked for the
//! next identifier at a site, and is told afterwards which one it was.
//!
//! ```text
//! window      LRU, FIFO, LFU: is the next one among the last k? (sets, no prediction)
//! tag         the same as the last time at this site
//! cycle       the sequence since its first identifier repeats: one for all, or one for each site
//! context     what followed the longest known sequence of recent identifiers
//! tournament  the predictor that has been right most often of late, and nothing where none is
//! score       how often a predictor is right
//! bounded     tables that never grow beyond a limit
//! ```
//!
//! The first three are those of Afsahi and Dimopoulos, "Efficient communication using message prediction for
//! cluster of multiprocessors", CANPC 2000. Their predictors have no limits of memory; these have, and forget
//! where they reach them.
//!
//! May use: std. Must never: know MPI, clocks or segments, use more memory than its limits allow, or depend
//! on anything but what it is told: equal runs give equal predictions.

mod bounded;
pub mod context;
pub mod cycle;
pub mod score;
pub mod tag;
pub mod tournament;
pub mod window;

pub use context::LongestContext;
pub use cycle::{SingleCycle, TagBetterCycle, TagCycle};
pub use score::Score;
pub use tag::Tag;
pub use tournament::Tournament;
pub use window::{Eviction, Window};

/// Tells receives apart.
pub type Identifier = u64;

/// Tells places in the program apart.
pub type Site = u64;

/// Foresees identifiers.
pub trait Predictor {
    /// The identifier of the next receive, if it is posted at this site. None: it does not know.
    fn predict(&self, site: Site) -> Option<Identifier>;

    /// The next receive was posted at this site, and had this identifier.
    fn learn(&mut self, site: Site, identifier: Identifier);
}
