//! Vector clocks: which events lie in the past of a rank (Lamport 1978; Mattern 1989).

/// When something happened at a rank: that rank's own count of its events. 0 is before everything.
pub type EventTime = u32;

/// What a rank knows of all ranks: for each of them, the time up to which its events lie in the past.
pub type VectorClock = Vec<EventTime>;

/// Adds what another rank knows to what a rank knows.
pub fn learn(clock: &mut VectorClock, other: &VectorClock) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
