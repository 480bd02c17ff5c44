//! One wait for messages, from the first look that failed.

use crate::wait::chores::Chores;
use crate::wait::pause::Pause;

/// One wait for messages.
pub(super) struct Waiter {
    pub(super) pause: Pause,
    pub(super) chores: Chores,
}
