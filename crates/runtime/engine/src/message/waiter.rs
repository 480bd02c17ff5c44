//! One wait for messages, from the first poll that found nothing.

use crate::wait::chores::Chores;
use crate::wait::pause::Pause;

/// One wait for messages.
pub(super) struct Waiter {
    pub(super) pause: Pause,
    pub(super) chores: Chores,
    /// How long the program had waited for nonblocking collectives when this wait began.
    pub(super) collectives_ns: u64,
}
