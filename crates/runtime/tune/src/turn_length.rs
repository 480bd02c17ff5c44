//! How many barriers make a turn.

use crate::rounds::fastest;
use crate::variant_timer::VariantTimer;

/// The length of a turn. It is long enough that its two ends do not count, and short enough that many turns
/// fit between two disturbances.
const TURN_NS: f64 = 400_000.0;
const FEWEST_CALLS: f64 = 4.0;
const MOST_CALLS: f64 = 4_000.0;

/// How many barriers fill [`TURN_NS`], from turns of the built-in barrier.
///
/// The first calls of a job are slow, and short turns are easily disturbed. So each attempt takes the
/// fastest of three turns, and attempts get longer until the result is no longer than twice the attempt.
pub(crate) fn calls_per_turn(timer: &mut impl VariantTimer) -> u32 {
    let mut calls = FEWEST_CALLS;
    loop {
        let ns = fastest(&[(); 3].map(|()| timer.time_turn(0, calls as u32)));
        let wanted = (TURN_NS / ns.max(1.0)).clamp(FEWEST_CALLS, MOST_CALLS);
        if wanted < 2.0 * calls {
            return wanted as u32;
        }
        calls = wanted.min(8.0 * calls);
    }
}
