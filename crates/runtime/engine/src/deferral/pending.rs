//! Barriers that this process has entered and not waited for, and what must happen before anybody could
//! tell.
//!
//! Between messages nobody can observe that a barrier is not complete yet. So a barrier may return at
//! once if it is completed before the program does anything that another process could notice, or that
//! shows it what another process did. The front end closes a *gate* while something is pending (the
//! next system call of the program is caught) and reports every other observation; this module knows
//! what is pending and completes it.
//!
//! Deferral is for programs with one thread; everything here is called by that one, also from the
//! handler of a caught system call: nothing here may allocate or take a lock.

use crate::communicator::node::Comm;
use crate::deferral::fast_path;
use crate::message::visibility::{Going, Stamp, going};
use evenkeel_options as options;
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// 1 while the gate is closed: the byte that the kernel looks at on every system call of this process.
#[unsafe(export_name = "ek_gate")]
pub static GATE: AtomicU8 = AtomicU8::new(0);

/// Communicators with pending barriers: how many.
#[unsafe(export_name = "ek_deferred")]
pub static PENDING: AtomicU32 = AtomicU32::new(0);

/// Reasons why barriers are strict at present, one bit each; `NOT_OPENED` until the front end has seen
/// to the gate.
static STRICT_BECAUSE: AtomicU32 = AtomicU32::new(NOT_OPENED);
const NOT_OPENED: u32 = 1 << 31;

static WINDOW: AtomicU64 = AtomicU64::new(0);
static ADAPTIVE: AtomicU8 = AtomicU8::new(0);

/// Whether the kernel looks at [`GATE`] at all: that makes every system call a little slower, so not
/// while nothing is deferred.
static ARMED: AtomicU8 = AtomicU8::new(0);
static ARM: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// A communicator has stopped deferring while something was pending.
static GAVE_UP: AtomicU8 = AtomicU8::new(0);

/// More communicators than this are not left pending together.
const COMMS: usize = 8;

struct Alone<T>(UnsafeCell<T>);
// SAFETY: reached by the one thread of a program that defers.
unsafe impl<T> Sync for Alone<T> {}

static COMMS_PENDING: Alone<[*const Comm; COMMS]> = Alone(UnsafeCell::new([std::ptr::null(); COMMS]));

/// What `--barrier` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Deferred where the gate can be closed, and where it is worth it.
    Auto,
    /// Deferred also without a gate, and whether or not it is worth it.
    Deferred,
    Strict,
}

impl Mode {
    pub fn from_environment() -> Result<Mode, String> {
        match options::BARRIER.get().as_str() {
            "auto" => Ok(Mode::Auto),
            "deferred" => Ok(Mode::Deferred),
            "strict" => Ok(Mode::Strict),
            other => Err(format!(
                "{}={other} is none of {}; barriers are strict",
                options::BARRIER.env,
                options::BARRIER.values
            )),
        }
    }
}

/// Arms the gate (1) or disarms it (0); nonzero: done.
pub type Arm = extern "C" fn(c_int) -> c_int;

/// Lets barriers be deferred from now on. `arm`: None if system calls are not to be caught.
pub fn open(mode: Mode, window: u64, arm: Option<Arm>) {
    ARMED.store(arm.is_none() as u8, Ordering::Relaxed);
    ARM.store(arm.map_or(std::ptr::null_mut(), |f| f as *mut ()), Ordering::Relaxed);
    WINDOW.store(window, Ordering::Relaxed);
    ADAPTIVE.store((mode == Mode::Auto) as u8, Ordering::Relaxed);
    if mode != Mode::Strict && window > 0 {
        let before = STRICT_BECAUSE.fetch_and(!NOT_OPENED, Ordering::Relaxed);
        EVER.fetch_or(before & !NOT_OPENED, Ordering::Relaxed);
    }
}

/// What may forbid deferral, in the order of `enum ek_channel`.
const CHANNELS: [&str; 5] = [
    "it has started threads, so that one could see what another did without asking anybody",
    "it shares memory with other processes, by which one can see what another did without asking anybody",
    "it handles signals, which come without its asking",
    "it has one-sided windows, by which one can see what another did without asking anybody",
    "it handles faults, and a barrier that has returned cannot report one",
];
static EVER: AtomicU32 = AtomicU32::new(0);

/// For the record: why barriers were strict for a time, or to the end.
pub fn why_strict(threaded: bool) -> Vec<String> {
    let (ever, now) = (EVER.load(Ordering::Relaxed), STRICT_BECAUSE.load(Ordering::Relaxed));
    let bit = |set: u32, i: usize| set & 1 << i != 0;
    let threads = threaded && Mode::from_environment() != Ok(Mode::Strict);
    let threads = threads.then(|| {
        "barriers of this program are strict: several of its threads may call MPI (MPI_THREAD_MULTIPLE)"
            .to_string()
    });
    let told = CHANNELS.iter().enumerate().filter(|(i, _)| bit(ever, *i));
    let told = told.map(|(i, why)| {
        let until = if bit(now, i) { "" } else { ", for a time" };
        format!("barriers of this program are strict{until}: {why}")
    });
    threads.into_iter().chain(told).collect()
}

/// Barriers are strict while any reason stands.
pub fn forbid(reason: u32) {
    if is_opened() {
        EVER.fetch_or(1 << reason, Ordering::Relaxed);
    }
    STRICT_BECAUSE.fetch_or(1 << reason, Ordering::Relaxed);
    fast_path::stop();
}

pub fn permit(reason: u32) {
    STRICT_BECAUSE.fetch_and(!(1 << reason), Ordering::Relaxed);
}

/// In a child after fork, and at the end.
pub fn close() {
    STRICT_BECAUSE.store(NOT_OPENED, Ordering::Relaxed);
    PENDING.store(0, Ordering::Relaxed);
    GATE.store(0, Ordering::Relaxed);
    fast_path::stop();
}

fn is_opened() -> bool {
    STRICT_BECAUSE.load(Ordering::Relaxed) & NOT_OPENED == 0
}

#[inline(always)]
pub fn is_on() -> bool {
    STRICT_BECAUSE.load(Ordering::Relaxed) == 0
}

/// Before the first barrier is left pending; false if the gate cannot be armed, and barriers are strict
/// from now on.
#[inline(always)]
pub fn arm() -> bool {
    ARMED.load(Ordering::Relaxed) != 0 || set_armed(true)
}

#[cold]
fn set_armed(armed: bool) -> bool {
    let arm = ARM.load(Ordering::Relaxed);
    if arm.is_null() {
        return true;
    }
    // SAFETY: only ever set from a function of this type.
    let arm: Arm = unsafe { std::mem::transmute(arm) };
    let done = arm(armed as c_int) != 0;
    ARMED.store((done && armed) as u8, Ordering::Relaxed);
    if armed && !done {
        close();
    }
    done
}

/// A communicator has stopped deferring. Where another one goes on, its next barrier arms the gate again.
#[cold]
pub fn give_up() {
    if any_pending() {
        GAVE_UP.store(1, Ordering::Relaxed);
    } else {
        disarm();
    }
}

#[cold]
fn disarm() {
    GAVE_UP.store(0, Ordering::Relaxed);
    if ARMED.load(Ordering::Relaxed) != 0 {
        set_armed(false);
    }
}

#[inline(always)]
pub fn window() -> u64 {
    WINDOW.load(Ordering::Relaxed)
}

pub fn is_adaptive() -> bool {
    ADAPTIVE.load(Ordering::Relaxed) != 0
}

#[inline(always)]
pub fn any_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
}

/// Whether no other communicator has pending barriers.
#[inline(always)]
pub fn is_only(comm: &Comm) -> bool {
    match pending() {
        [] => true,
        [one] => std::ptr::eq(*one, comm),
        _ => false,
    }
}

#[inline(always)]
fn pending() -> &'static [*const Comm] {
    // SAFETY: one thread; the slice is not kept across `add` and `forget`.
    unsafe { &(&*COMMS_PENDING.0.get())[..PENDING.load(Ordering::Relaxed) as usize] }
}

#[cold]
pub fn add(comm: &Comm) {
    fast_path::stop();
    let n = PENDING.load(Ordering::Relaxed) as usize;
    debug_assert!(n < COMMS, "before_entering makes room");
    // SAFETY: one thread.
    unsafe { (&mut *COMMS_PENDING.0.get())[n] = comm };
    PENDING.store(n as u32 + 1, Ordering::Relaxed);
}

/// The communicator has no pending barriers any more.
#[cold]
pub fn forget(comm: &Comm) {
    fast_path::stop();
    let n = PENDING.load(Ordering::Relaxed) as usize;
    // SAFETY: one thread.
    let all = unsafe { &mut (&mut *COMMS_PENDING.0.get())[..n] };
    if let Some(at) = all.iter().position(|c| std::ptr::eq(*c, comm)) {
        all.copy_within(at + 1.., at);
        PENDING.store(n as u32 - 1, Ordering::Relaxed);
    }
}

/// What a rank is about to do while barriers of its are pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Enter another barrier.
    Barrier,
    /// A collective to which it only hands something in.
    HandIn,
    /// Send, take something out of a collective, look for what is not there, or anything outside MPI.
    Observe,
}

/// Which barriers are pending, seen from the communicator that the act is about.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// All of this communicator.
    pub same: bool,
    /// All of communicators of which this one has all members, or that have all members of this one.
    pub nested: bool,
}

/// The rule: whether pending barriers must be complete before the act. Receiving is not here, it may
/// always go on.
///
/// * Nothing leaves a rank that others could take for a sign that it has passed a barrier, before
///   everybody has entered that barrier. So messages wait at their sender.
/// * What is handed in to a collective of the same communicator reaches members only, who have entered
///   the same barriers and complete them before they take it.
/// * To enter a barrier is such a sign too, for its members. Where one communicator has all members of
///   the other, they have entered the barriers of both in the same order, so what they learn from one
///   they may know of the other. Where the two only overlap, somebody could tell a rank that has not
///   entered the first one.
#[inline]
pub fn must_complete(act: Act, pending: Pending) -> bool {
    match act {
        Act::Barrier => !pending.nested,
        Act::HandIn => !pending.same,
        Act::Observe => true,
    }
}

/// Before this rank enters a barrier of `comm`: completes what the rule wants complete.
#[cold]
pub fn before_entering(comm: &Comm) {
    let mine = pending().iter().any(|c| std::ptr::eq(*c, comm));
    if pending().len() + !mine as usize > COMMS {
        complete(Observer::OTHER_COMM);
        return;
    }
    // SAFETY: communicators with pending barriers are attached: `Comm::detach` completes them first.
    let nested = pending().iter().all(|&c| std::ptr::eq(c, comm) || unsafe { &*c }.is_nested_with(comm));
    if must_complete(Act::Barrier, Pending { same: is_only(comm), nested }) {
        complete(Observer::OTHER_COMM);
    }
}

/// Before a collective of `comm` other than a barrier: `needs_nothing` if this rank only hands in
/// something and leaves.
#[cold]
pub fn before_collective(comm: &Comm, needs_nothing: bool) {
    let act = if needs_nothing { Act::HandIn } else { Act::Observe };
    if must_complete(act, Pending { same: is_only(comm), nested: false }) {
        complete(Observer::COLLECTIVE);
    }
}

// ---- messages
// -----------------------------------------------------------------------------------------------------

/// The stamp of what this process sends or posts now. Completes what is pending if one stamp cannot say it.
#[cold]
pub fn stamp() -> Option<Stamp> {
    match going(pending().len()) {
        Going::Plain => None,
        Going::Stamped => Some(latest_stamp(pending()[0])),
        Going::Completed => {
            complete(Observer::MESSAGE);
            None
        }
    }
}

fn latest_stamp(comm: *const Comm) -> Stamp {
    // SAFETY: as in `before_entering`.
    unsafe { &*comm }.latest_barrier()
}

/// Whether this process has entered the barrier, and that is still pending here.
pub fn is_pending_here(stamp: Stamp) -> bool {
    pending().iter().any(|&c| {
        let latest = latest_stamp(c);
        latest.comm == stamp.comm && latest.number >= stamp.number
    })
}

/// Completes everything that is pending.
#[cold]
pub fn complete(observer: Observer) {
    GATE.store(0, Ordering::Relaxed); // waiting takes system calls
    fast_path::stop();
    count(observer);
    for &comm in pending() {
        // SAFETY: as in `before_entering`.
        unsafe { &*comm }.complete_barriers();
    }
    PENDING.store(0, Ordering::Relaxed);
    if GAVE_UP.load(Ordering::Relaxed) != 0 {
        disarm();
    }
}

// ---- who observed
// ---------------------------------------------------------------------------------------------------

/// What completed pending barriers: the name of a function or of a system call, which lives as long as
/// the process.
#[derive(Clone, Copy)]
pub struct Observer {
    name: *const c_char,
    is_syscall: bool,
}

impl Observer {
    pub const WINDOW: Observer = Observer { name: c"window full".as_ptr(), is_syscall: false };
    pub const OTHER_COMM: Observer = Observer { name: c"a barrier among others".as_ptr(), is_syscall: false };
    pub const MESSAGE: Observer = Observer { name: c"a message among others".as_ptr(), is_syscall: false };
    pub const COLLECTIVE: Observer = Observer { name: c"a collective".as_ptr(), is_syscall: false };

    /// # Safety
    /// `name` must be a terminated string that is never freed.
    pub unsafe fn named(name: *const c_char, is_syscall: bool) -> Observer {
        Observer { name, is_syscall }
    }
}

const OBSERVERS: usize = 64;

static OBSERVED: Alone<[(*const c_char, bool, u64); OBSERVERS]> =
    Alone(UnsafeCell::new([(std::ptr::null(), false, 0); OBSERVERS]));

/// Counts an observation; the last entry stands for all that found no room.
pub fn count(observer: Observer) {
    // SAFETY: one thread.
    let all = unsafe { &mut *OBSERVED.0.get() };
    let at = all
        .iter()
        .position(|(name, ..)| name.is_null() || std::ptr::eq(*name, observer.name))
        .unwrap_or(OBSERVERS - 1);
    all[at].0 = observer.name;
    all[at].1 = observer.is_syscall;
    all[at].2 += 1;
}

/// Names of what completed pending barriers, and how often; system calls as "write()".
pub fn observers() -> Vec<(String, u64)> {
    // SAFETY: one thread, and names are strings by the promise of `named`.
    let all = unsafe { &*OBSERVED.0.get() };
    all.iter()
        .take_while(|(name, ..)| !name.is_null())
        .map(|&(name, is_syscall, n)| {
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            (if is_syscall { format!("{name}()") } else { name.into_owned() }, n)
        })
        .collect()
}
