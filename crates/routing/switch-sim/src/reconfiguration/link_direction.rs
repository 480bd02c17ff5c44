//! The direction of a link as one of its switches knows it.

/// The direction of a link as one of its switches knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkDirection {
    /// The other end is up.
    Up,
    /// The other end is down.
    Down,
    /// The link is being reversed. Only turns that are allowed in both directions are made.
    Reversing,
}

/// Whether a switch may forward packets that arrived by one link over another. It compares the directions
/// of both links from the switch: packets that arrived from an up neighbour came down, and must not go up
/// again.
pub(super) fn is_turn_allowed(arrived_by: LinkDirection, leaves_by: LinkDirection) -> bool {
    arrived_by == LinkDirection::Down || leaves_by == LinkDirection::Down
}
