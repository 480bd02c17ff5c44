//! Deferred barriers.
//!
//! A deferred barrier has been entered and is pending: this rank has not waited for the others. The shim
//! calls `ek_complete_deferred` before the program does anything that others could notice, or reads
//! anything that others may have changed. Only for programs with one thread in MPI.

use evenkeel_engine::barrier::completion::{complete, complete_if_entered, complete_without_locks};
use evenkeel_engine::deferral::mode::BarrierMode;
use evenkeel_engine::deferral::observer::Observer;
use evenkeel_engine::deferral::pending::{AGAIN, LOOK, OFF, ON};
use evenkeel_engine::process::Process;
use evenkeel_options as options;
use std::ffi::{c_char, c_int};

/// When barriers may be deferred.
#[repr(C)]
pub enum DeferralMode {
    /// Never.
    Strict,
    /// If the program's system calls can be caught.
    Gated,
    /// Even if they cannot be caught.
    Always,
}

/// Channels through which a program may notice what another one did, without a call that the shim sees.
/// Barriers are strict while one of them exists. The engine has a sentence for each, in this order.
#[repr(C)]
#[allow(dead_code, reason = "the shim passes their numbers")]
pub enum Channel {
    Threads,
    SharedMemory,
    Signals,
    Windows,
    Faults,
    Memory,
    LostGate,
    BlockedFaults,
}

/// What the engine asks the shim to do.
#[repr(C)]
#[allow(dead_code, reason = "the shim compares with their numbers")]
pub enum Arming {
    /// Catch no system calls any more.
    Off,
    /// Catch them, and look whether anything forbids deferral.
    On,
    /// Look whether anything forbids deferral.
    Look,
    /// Catch them again, soon after a look.
    Again,
}

const _: () = assert!(Arming::Off as c_int == OFF && Arming::On as c_int == ON);
const _: () = assert!(Arming::Look as c_int == LOOK && Arming::Again as c_int == AGAIN);

/// The number of channels.
pub const EK_CHANNELS: c_int = 8;

const _: () = assert!(Channel::BlockedFaults as c_int + 1 == EK_CHANNELS);

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

/// The ek_deferral_mode that the options and the program allow.
#[unsafe(no_mangle)]
pub extern "C" fn ek_allowed_deferral() -> u32 {
    let Some(process) = Process::get() else { return DeferralMode::Strict as u32 };
    let may_defer = process.node().is_some_and(|node| node.ranks > 1);
    let allowed = match mode(process) {
        _ if !may_defer || window(process) == 0 => DeferralMode::Strict,
        BarrierMode::Strict => DeferralMode::Strict,
        BarrierMode::Auto => DeferralMode::Gated,
        BarrierMode::Deferred => DeferralMode::Always,
    };
    allowed as u32
}

/// Returns false if pending barriers need not be completed before system calls (--gate off).
#[unsafe(no_mangle)]
pub extern "C" fn ek_gate_is_wanted() -> bool {
    options::GATE.get() != "off"
}

/// Lets barriers be deferred from now on. The engine calls `arm` with an ek_arming: ON before it leaves the
/// first barrier pending, or AGAIN if it has looked shortly before, OFF when no communicator defers any more,
/// and LOOK now and then between them. It returns nonzero on success, and may forbid deferral. NULL means
/// that no system calls are to be caught.
#[unsafe(no_mangle)]
pub extern "C" fn ek_deferral_open(arm: Option<extern "C" fn(on: c_int) -> c_int>) {
    if let Some(process) = Process::get() {
        process.deferral.open(mode(process), window(process), arm);
    }
}

/// Ends deferral: from now on barriers are strict.
#[unsafe(no_mangle)]
pub extern "C" fn ek_deferral_close() {
    if let Some(process) = Process::get() {
        process.deferral.close();
    }
}

/// Makes barriers strict while this channel (ek_channel) exists. Pending barriers must have been completed.
/// Async-signal-safe.
#[unsafe(no_mangle)]
pub extern "C" fn ek_deferral_forbid(channel: u32) {
    if let Some(process) = Process::get() {
        process.deferral.forbid(channel);
    }
}

/// Declares that a channel no longer exists.
#[unsafe(no_mangle)]
pub extern "C" fn ek_deferral_permit(channel: u32) {
    if let Some(process) = Process::get() {
        process.deferral.permit(channel);
    }
}

/// Completes pending barriers and opens the gate. `cause` is a string literal for the report that says what
/// the program is about to do. Async-signal-safe if the interrupted code does not hold a lock of the
/// allocator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_complete_deferred(cause: *const c_char, is_system_call: bool) {
    if let Some(process) = Process::get() {
        // SAFETY: a string literal, by the interface.
        complete(process, unsafe { Observer::named(cause, is_system_call) });
    }
}

/// Completes pending barriers whatever locks the interrupted code holds, and opens the gate: in the handler
/// of a fault, and inside allocators. `cause` as in `ek_complete_deferred`. Returns false if some rank has
/// not entered after some seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_complete_without_locks(cause: *const c_char, is_system_call: bool) -> bool {
    // SAFETY: a string literal, by the interface.
    let observer = unsafe { Observer::named(cause, is_system_call) };
    Process::get().is_none_or(|process| complete_without_locks(process, observer))
}

/// Completes pending barriers and opens the gate if all ranks have entered them. Waits for nothing.
/// Async-signal-safe, whatever locks the interrupted code holds.
#[unsafe(no_mangle)]
pub extern "C" fn ek_complete_if_entered() {
    if let Some(process) = Process::get() {
        complete_if_entered(process);
    }
}

/// Returns whether MPI_Wtime may be called while barriers are pending (--clock free).
#[unsafe(no_mangle)]
pub extern "C" fn ek_clock_is_free() -> bool {
    options::CLOCK.get() == "free"
}
