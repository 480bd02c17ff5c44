//! The gate makes every system call of its thread slower, so it is armed no longer than barriers are left pending now and then.

use evenkeel_engine::deferral::{self, Mode};
use evenkeel_engine::wait::offer_the_core;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static ARMED: AtomicUsize = AtomicUsize::new(0);
static DISARMED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(armed: c_int) -> c_int {
    if armed != 0 { &ARMED } else { &DISARMED }.fetch_add(1, Relaxed);
    1
}

#[test]
fn a_rank_that_waits_long_with_nothing_pending_is_disarmed_and_armed_again() {
    deferral::open(Mode::Auto, 64, Some(count));
    offer_the_core();
    assert_eq!((ARMED.load(Relaxed), DISARMED.load(Relaxed)), (0, 0), "it is not armed before a barrier is left pending");
    for turn in 1..=3 {
        assert!(deferral::arm() && deferral::arm());
        (0..8).for_each(|_| offer_the_core());
        assert_eq!((ARMED.load(Relaxed), DISARMED.load(Relaxed)), (turn, turn - 1), "a short wait is not worth it");
        assert!(deferral::arm());
        (0..100).for_each(|_| offer_the_core());
        assert_eq!((ARMED.load(Relaxed), DISARMED.load(Relaxed)), (turn, turn));
    }
}
