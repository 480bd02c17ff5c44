//! Deferred barriers, for C.

use evenkeel_engine::deferral::pending::{self as deferral, Mode, Observer};
use evenkeel_engine::job::node::{self, world};
use evenkeel_options as options;
use std::ffi::{c_char, c_int};

fn mode() -> Mode {
    Mode::from_environment().unwrap_or_else(|sentence| {
        node::note(&sentence);
        Mode::Strict
    })
}

fn window() -> u64 {
    let text = options::WINDOW.get();
    text.parse().unwrap_or_else(|_| {
        node::note(&format!(
            "{}={text} is not a number of barriers; barriers are strict",
            options::WINDOW.env
        ));
        0
    })
}

#[unsafe(no_mangle)]
extern "C" fn ek_deferral_wanted() -> c_int {
    let served = world().is_some_and(|w| !w.threaded && w.ranks > 1);
    match mode() {
        _ if !served || window() == 0 => 0,
        Mode::Strict => 0,
        Mode::Auto => 1,
        Mode::Deferred => 2,
    }
}

#[unsafe(no_mangle)]
extern "C" fn ek_gate_wanted() -> c_int {
    (options::GATE.get() != "off") as c_int
}

#[unsafe(no_mangle)]
extern "C" fn ek_deferral_open(arm: Option<deferral::Arm>) {
    deferral::open(mode(), window(), arm);
}

#[unsafe(no_mangle)]
extern "C" fn ek_deferral_close() {
    deferral::close();
}

#[unsafe(no_mangle)]
extern "C" fn ek_deferral_forbid(reason: u32) {
    deferral::forbid(reason);
}

#[unsafe(no_mangle)]
extern "C" fn ek_deferral_permit(reason: u32) {
    deferral::permit(reason);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_observed(name: *const c_char, is_syscall: c_int) {
    // SAFETY: a literal, by the interface.
    deferral::complete(unsafe { Observer::named(name, is_syscall != 0) });
}

#[unsafe(no_mangle)]
extern "C" fn ek_free_clock() -> c_int {
    (options::CLOCK.get() == "free") as c_int
}
