//! Deferred barriers.
//!
//! A barrier that is deferred has been entered and is pending: this rank has not waited for the others.
//! Before the program does anything that others could notice, or looks at anything that others may have
//! done, the shim calls `ek_complete_deferred`. For programs with one thread.

use evenkeel_engine::barrier::completion::complete;
use evenkeel_engine::deferral::mode::BarrierMode;
use evenkeel_engine::deferral::observer::Observer;
use evenkeel_engine::process::Process;
use evenkeel_options as options;
use std::ffi::{c_char, c_int};

/// When barriers may be deferred.
#[repr(C)]
pub enum DeferralMode {
    /// Never.
    Strict,
    /// If system calls of the program can be caught.
    Gated,
    /// Also if they cannot.
    Always,
}

/// By what a program may notice what another one did, without a call that the shim sees. While one of
/// them exists, barriers are strict. The engine has a sentence for each, in this order.
#[repr(C)]
#[allow(dead_code, reason = "the shim passes their numbers")]
pub enum Channel {
    Threads,
    SharedMemory,
    Signals,
    Windows,
    Faults,
}

/// How many channels there are.
pub const EK_CHANNELS: c_int = 5;

const _: () = assert!(Channel::Faults as c_int + 1 == EK_CHANNELS);

fn mode(process: &Process) -> BarrierMode {
    BarrierMode::from_environment().unwrap_or_else(|error| {
        process.notes.add(&error.to_string());
        BarrierMode::Strict
    })
}

fn window(process: &Process) -> u64 {
    let text = options::WINDOW.get();
    text.parse().unwrap_or_else(|_| {
        let variable = options::WINDOW.env;
        process.notes.add(&format!("{variable}={text} is not a number of barriers; barriers are strict"));
        0
    })
}

/// Which ek_deferral_mode the options and the program allow: `Strict` also where several threads may be
/// in MPI.
#[unsafe(no_mangle)]
pub extern "C" fn ek_allowed_deferral() -> u32 {
    let Some(process) = Process::get() else { return DeferralMode::Strict as u32 };
    let may_defer = process.node().is_some_and(|node| !node.threaded && node.ranks > 1);
    let allowed = match mode(process) {
        _ if !may_defer || window(process) == 0 => DeferralMode::Strict,
        BarrierMode::Strict => DeferralMode::Strict,
        BarrierMode::Auto => DeferralMode::Gated,
        BarrierMode::Deferred => DeferralMode::Always,
    };
    allowed as u32
}

/// False if pending barriers are not to be completed before system calls (--gate off).
#[unsafe(no_mangle)]
pub extern "C" fn ek_gate_is_wanted() -> bool {
    options::GATE.get() != "off"
}

/// Barriers may be deferred from now on. The engine calls `arm` with 1 before it leaves the first
/// barrier pending and with 0 when nothing is deferred for a time; nonzero: that is done. NULL: no
/// system call is to be caught.
#[unsafe(no_mangle)]
pub extern "C" fn ek_deferral_open(arm: Option<extern "C" fn(on: c_int) -> c_int>) {
    if let Some(process) = Process::get() {
        process.deferral.open(mode(process), window(process), arm);
    }
}

/// No barrier is deferred any more.
#[unsafe(no_mangle)]
pub extern "C" fn ek_deferral_close() {
    if let Some(process) = Process::get() {
        process.deferral.close();
    }
}

/// There is such a channel (ek_channel): barriers are strict while it exists. What is pending must have
/// been completed. Async-signal-safe.
#[unsafe(no_mangle)]
pub extern "C" fn ek_deferral_forbid(channel: u32) {
    if let Some(process) = Process::get() {
        process.deferral.forbid(channel);
    }
}

/// There is no such channel any more.
#[unsafe(no_mangle)]
pub extern "C" fn ek_deferral_permit(channel: u32) {
    if let Some(process) = Process::get() {
        process.deferral.permit(channel);
    }
}

/// Completes what is pending and opens the gate. `cause`: what the program is about to do, a literal,
/// for the report. Async-signal-safe where the code that was interrupted holds no lock of the
/// allocator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_complete_deferred(cause: *const c_char, is_system_call: bool) {
    if let Some(process) = Process::get() {
        // SAFETY: a literal, by the interface.
        complete(process, unsafe { Observer::named(cause, is_system_call) });
    }
}

/// Whether MPI_Wtime may be called while barriers are pending (--clock free).
#[unsafe(no_mangle)]
pub extern "C" fn ek_clock_is_free() -> bool {
    options::CLOCK.get() == "free"
}
