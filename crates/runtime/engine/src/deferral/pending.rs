//! Which communicators have pending barriers, and whether barriers may be deferred at all.

use super::fast_path;
use super::gate::{GATE, PENDING};
use super::mode::BarrierMode;
use super::observer::Observations;
use super::rule::{NextAction, PendingBarriers, must_complete};
use crate::clock::{Clock, Ticks};
use crate::comm::part::NodePart;
use crate::comm::stamp::BarrierStamp;
use std::ffi::c_int;
use std::ptr::from_ref;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Arms the gate ([`ON`], [`AGAIN`]), disarms it ([`OFF`]), or looks whether anything forbids deferral
/// ([`LOOK`], and [`ON`]). Returns nonzero on success.
pub type ArmGate = extern "C" fn(c_int) -> c_int;

/// See [`ArmGate`].
pub const OFF: c_int = 0;
/// See [`ArmGate`].
pub const ON: c_int = 1;
/// See [`ArmGate`].
pub const LOOK: c_int = 2;

/// See [`ArmGate`].
pub const AGAIN: c_int = 3;

/// How long barriers may be left pending until the front end looks again for what forbids that. A look
/// takes about a microsecond.
const LOOK_INTERVAL_NS: u64 = 1_000_000;

/// At most this many communicators have pending barriers at the same time.
const MOST_COMMUNICATORS: usize = 8;

/// The bit of `forbidden` that is set while deferral has not been opened. The other bits are reasons of the
/// front end.
const NOT_OPENED: u32 = 1 << 31;

/// Why deferral may be forbidden, in the order of `enum ek_channel`.
const REASONS: [&str; 8] = [
    "it has started threads, and one thread can see without a call what another has done",
    "it shares memory with other processes, and can see without a call what they have done",
    "it handles signals, which reach it without a call of its own",
    "it has one-sided windows, through which others change its memory without a call of its own",
    "it handles faults, and a barrier that has already returned cannot report one",
    "it gives memory back to the system that it may use again without a call",
    "its system calls are no longer caught, and cannot be caught again",
    "it blocks the signals of faults, and a fault would end it before barriers are complete",
];

/// Which of this process's barriers are pending, and whether barriers may be deferred.
pub struct Deferral {
    /// Why barriers are strict at present, one bit per reason.
    forbidden: AtomicU32,
    /// All reasons that have been set so far.
    ever_forbidden: AtomicU32,
    /// How many barriers of a communicator may be pending.
    window: AtomicU64,
    /// Deferral stops where it does not pay.
    is_adaptive: AtomicBool,
    /// The kernel reads [`GATE`] on each system call. That makes every system call a little slower, so the
    /// gate is not armed while no communicator defers.
    is_armed: AtomicBool,
    arm: AtomicPtr<()>,
    /// When the front end has last looked, as [`Ticks`].
    looked: AtomicU64,
    /// A communicator has stopped deferring while barriers were pending; the gate is disarmed when they are
    /// complete.
    disarms_later: AtomicBool,
    /// The communicators with pending barriers: the first `PENDING` entries. They are attached, because
    /// their pending barriers are completed before they are detached.
    parts: [AtomicPtr<NodePart>; MOST_COMMUNICATORS],
    /// The reasons for which pending barriers were completed.
    pub observations: Observations,
}

impl Default for Deferral {
    fn default() -> Deferral {
        Deferral {
            forbidden: AtomicU32::new(NOT_OPENED),
            ever_forbidden: AtomicU32::new(0),
            window: AtomicU64::new(0),
            is_adaptive: AtomicBool::new(false),
            is_armed: AtomicBool::new(false),
            arm: AtomicPtr::new(std::ptr::null_mut()),
            looked: AtomicU64::new(0),
            disarms_later: AtomicBool::new(false),
            parts: [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST_COMMUNICATORS],
            observations: Observations::default(),
        }
    }
}

/// Returns whether barriers of any communicator are pending.
#[inline(always)]
pub fn any_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
}

impl Deferral {
    // ---- whether barriers may be deferred ----

    /// Lets barriers be deferred from now on, up to `window` per communicator. `arm` is `None` if system
    /// calls are not to be caught.
    pub fn open(&self, mode: BarrierMode, window: u64, arm: Option<ArmGate>) {
        fast_path::close();
        self.is_armed.store(arm.is_none(), Ordering::Relaxed);
        self.arm.store(arm.map_or(std::ptr::null_mut(), |f| f as *mut ()), Ordering::Relaxed);
        self.window.store(window, Ordering::Relaxed);
        self.is_adaptive.store(mode == BarrierMode::Auto, Ordering::Relaxed);
        if mode != BarrierMode::Strict && window > 0 {
            let before = self.forbidden.fetch_and(!NOT_OPENED, Ordering::Relaxed);
            self.ever_forbidden.fetch_or(before & !NOT_OPENED, Ordering::Relaxed);
        }
    }

    /// Ends deferral: at the end of the program, in a forked child, and if the gate cannot be armed.
    pub fn close(&self) {
        fast_path::close();
        self.forbidden.store(NOT_OPENED, Ordering::Relaxed);
        PENDING.store(0, Ordering::Relaxed);
        GATE.store(0, Ordering::Relaxed);
    }

    /// Makes barriers strict until `reason` is removed by [`Deferral::permit`].
    pub fn forbid(&self, reason: u32) {
        fast_path::close();
        if self.forbidden.load(Ordering::Relaxed) & NOT_OPENED == 0 {
            self.ever_forbidden.fetch_or(1 << reason, Ordering::Relaxed);
        }
        self.forbidden.fetch_or(1 << reason, Ordering::Relaxed);
    }

    /// Removes a reason that [`Deferral::forbid`] has set.
    pub fn permit(&self, reason: u32) {
        self.forbidden.fetch_and(!(1 << reason), Ordering::Relaxed);
    }

    /// Returns whether barriers may be deferred.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.forbidden.load(Ordering::Relaxed) == 0
    }

    /// Sentences for the report: why barriers were strict for a time or to the end.
    pub fn why_strict(&self) -> Vec<String> {
        let (ever, now) =
            (self.ever_forbidden.load(Ordering::Relaxed), self.forbidden.load(Ordering::Relaxed));
        let is_set = |set: u32, reason: usize| set & 1 << reason != 0;
        let mut sentences = Vec::new();
        for (reason, why) in REASONS.iter().enumerate().filter(|(reason, _)| is_set(ever, *reason)) {
            let until = if is_set(now, reason) { "" } else { ", for a time" };
            sentences.push(format!("barriers of this program are strict{until}: {why}"));
        }
        sentences
    }

    /// How many barriers of a communicator may be pending.
    #[inline(always)]
    pub(crate) fn window(&self) -> u64 {
        self.window.load(Ordering::Relaxed)
    }

    /// Returns whether deferral stops where it does not pay.
    #[inline(always)]
    pub(crate) fn is_adaptive(&self) -> bool {
        self.is_adaptive.load(Ordering::Relaxed)
    }

    // ---- arming the gate ----

    /// Must be called before a barrier is left pending while none is. Returns false if the gate cannot be
    /// armed, or if the front end has found something that forbids deferral.
    #[inline(always)]
    pub(crate) fn arm(&self, clock: Clock, now: Ticks) -> bool {
        let looked = Ticks(self.looked.load(Ordering::Relaxed));
        let is_recent = clock.ns_between(looked, now) < LOOK_INTERVAL_NS;
        let is_armed = self.is_armed.load(Ordering::Relaxed);
        is_armed && is_recent || self.look_or_arm(now, is_armed, is_recent)
    }

    #[cold]
    fn look_or_arm(&self, now: Ticks, is_armed: bool, is_recent: bool) -> bool {
        if !is_recent {
            self.looked.store(now.0, Ordering::Relaxed);
        }
        let is_done = if is_armed {
            self.call_front_end(LOOK).is_none_or(|answer| answer != 0)
        } else {
            self.set_armed(if is_recent { AGAIN } else { ON })
        };
        is_done && self.is_on()
    }

    /// `None` if system calls are not caught.
    fn call_front_end(&self, how: c_int) -> Option<c_int> {
        let arm = self.arm.load(Ordering::Relaxed);
        if arm.is_null() {
            return None;
        }
        // SAFETY: only ever set from a function of this type.
        let arm: ArmGate = unsafe { std::mem::transmute(arm) };
        Some(arm(how))
    }

    #[cold]
    fn set_armed(&self, how: c_int) -> bool {
        let Some(answer) = self.call_front_end(how) else { return true };
        let (is_done, armed) = (answer != 0, how != OFF);
        self.is_armed.store(is_done && armed, Ordering::Relaxed);
        if armed && !is_done {
            self.close();
        }
        is_done
    }

    /// Called when a communicator has stopped deferring. If another one still defers, its next barrier arms
    /// the gate again.
    #[cold]
    pub(crate) fn give_up(&self) {
        if any_pending() {
            self.disarms_later.store(true, Ordering::Relaxed);
        } else {
            self.disarm();
        }
    }

    #[cold]
    fn disarm(&self) {
        self.disarms_later.store(false, Ordering::Relaxed);
        if self.is_armed.load(Ordering::Relaxed) {
            self.set_armed(OFF);
        }
    }

    // ---- which communicators have pending barriers ----

    /// The communicators with pending barriers. They are attached, so the pointers may be dereferenced.
    #[inline(always)]
    pub(crate) fn parts(&self) -> impl ExactSizeIterator<Item = *const NodePart> {
        let count = PENDING.load(Ordering::Relaxed) as usize;
        self.parts[..count].iter().map(|part| part.load(Ordering::Relaxed).cast_const())
    }

    /// Adds a communicator whose first barrier is now pending. There is room, because
    /// [`Deferral::must_complete_before_barrier`] returns true if there is none.
    #[cold]
    pub(crate) fn add(&self, part: &NodePart) {
        let count = PENDING.load(Ordering::Relaxed);
        fast_path::close();
        self.parts[count as usize].store(from_ref(part).cast_mut(), Ordering::Relaxed);
        PENDING.store(count + 1, Ordering::Relaxed);
    }

    /// Removes a communicator that has no pending barriers any more.
    #[cold]
    pub(crate) fn remove(&self, part: &NodePart) {
        let count = PENDING.load(Ordering::Relaxed) as usize;
        fast_path::close();
        let found = self.parts().position(|other| std::ptr::eq(other, part));
        if let Some(found) = found {
            for at in found + 1..count {
                self.parts[at - 1].store(self.parts[at].load(Ordering::Relaxed), Ordering::Relaxed);
            }
            PENDING.store(count as u32 - 1, Ordering::Relaxed);
        }
    }

    /// Opens the gate, before all pending barriers are completed.
    pub(crate) fn begin_completion(&self) {
        GATE.store(0, Ordering::Relaxed); // waiting makes system calls
        fast_path::close();
    }

    /// Records that no barrier is pending any more.
    pub(crate) fn end_completion(&self) {
        fast_path::close();
        PENDING.store(0, Ordering::Relaxed);
        if self.disarms_later.load(Ordering::Relaxed) {
            self.disarm();
        }
    }

    /// Returns whether no other communicator has pending barriers.
    #[inline(always)]
    pub(crate) fn is_only(&self, part: &NodePart) -> bool {
        self.parts().all(|other| std::ptr::eq(other, part))
    }

    /// Returns whether pending barriers must be completed before this rank enters a barrier of `part`.
    #[cold]
    pub(crate) fn must_complete_before_barrier(&self, part: &NodePart) -> bool {
        let is_this = |other: *const NodePart| std::ptr::eq(other, part);
        if !self.parts().any(is_this) && self.parts().len() == MOST_COMMUNICATORS {
            return true; // the list has no room for one more
        }
        // SAFETY: communicators with pending barriers are attached: detaching completes them first.
        let is_nested = |other: *const NodePart| unsafe { &*other }.shared.is_nested_with(&part.shared);
        let nested = self.parts().all(|other| is_this(other) || is_nested(other));
        must_complete(NextAction::EnterBarrier, PendingBarriers { same: self.is_only(part), nested })
    }

    /// Returns whether pending barriers must be completed before a collective of `part` other than a
    /// barrier.
    #[cold]
    pub(crate) fn must_complete_before_collective(&self, part: &NodePart, only_contributes: bool) -> bool {
        let action = if only_contributes { NextAction::Contribute } else { NextAction::Observe };
        must_complete(action, PendingBarriers { same: self.is_only(part), nested: false })
    }

    /// Returns whether this process has entered the barrier and still has it pending.
    pub(crate) fn is_pending_here(&self, stamp: BarrierStamp) -> bool {
        self.parts().any(|part| {
            // SAFETY: as in `must_complete_before_barrier`.
            let latest = unsafe { &*part }.latest_barrier();
            latest.comm == stamp.comm && latest.number >= stamp.number
        })
    }
}
