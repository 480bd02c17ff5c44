//! Which call.

/// A call: which lane, and which of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The lane.
    pub lane: u32,
    /// Which of its calls.
    pub call: u32,
}
