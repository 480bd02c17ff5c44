//! One wait for messages, from the first poll that found nothing.

use crate::wait::chores::Chores;
use crate::wait::pause::Pause;

/// One wait for messages.
pub(super) struct Waiter {
    pub(super) pause: Pause,
    pub(super) chores: Chores,
}
