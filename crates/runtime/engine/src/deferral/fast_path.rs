//! Deferred barriers that follow one another on a communicator, while nothing else is pending: what
//! there is to decide has been decided for the first of them, and each is a word written.
//! [`crate::barrier::central`] has what comes now and then: room in the window, samples, a look at the clock or
//! at advice.

use crate::barrier::central::Barriers;
use crate::collective::call::Kind;
use crate::communicator::node::Comm;
use crate::deferral::pending::GATE;
use crate::record::tally::{Tallies, is_sampled};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, compiler_fence};

/// The communicator whose next barriers may go this way; null: none, which the front end looks at
/// before it calls.
#[unsafe(export_name = "ek_deferred_fast_path")]
pub static COMM: AtomicPtr<Comm> = AtomicPtr::new(std::ptr::null_mut());
/// They may below this number.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Barriers of `comm`, which has pending ones and is alone in that, may go this way below number `limit`.
#[inline(always)]
pub(crate) fn allow(comm: &Comm, limit: u64) {
    LIMIT.store(limit, Ordering::Relaxed);
    COMM.store(std::ptr::from_ref(comm).cast_mut(), Ordering::Relaxed);
}

/// No more, whatever the reason: nothing is pending any more, or something of another communicator's
/// is, or deferral is forbidden.
#[inline(always)]
pub(crate) fn stop() {
    COMM.store(std::ptr::null_mut(), Ordering::Relaxed);
}

/// Enters a barrier of `comm` and leaves it pending, if that is all there is to do; false: nothing was
/// done. Nothing of the host's, nor a message, may need this rank's calls to go on.
///
/// # Safety
/// By the one thread in MPI. `comm` is compared with a communicator that is alive, and used if it is
/// the same one.
#[inline(always)]
pub unsafe fn barrier(comm: *const Comm) -> bool {
    if comm.is_null() || !std::ptr::eq(COMM.load(Ordering::Relaxed), comm) {
        return false;
    }
    // SAFETY: `stop` is called before its pending barriers are gone, and these before it is.
    let comm = unsafe { &*comm };
    let Some(served) = &comm.served else { return false };
    // SAFETY: there is one thread in MPI, and nothing below comes back here.
    let entered = unsafe { &mut (*comm.state_pointer()).barriers.entered };
    let number = *entered;
    if number >= LIMIT.load(Ordering::Relaxed) || is_sampled(number) {
        return false;
    }
    // A handler of a signal may run in here and make a system call, which must not find a barrier that is
    // half entered; and to wake somebody takes one.
    let gate = GATE.load(Ordering::Relaxed);
    GATE.store(0, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    *entered = number + 1;
    served.enter_and_go_on(comm.me, number, 0);
    compiler_fence(Ordering::SeqCst);
    GATE.store(gate, Ordering::Relaxed);
    true
}

impl Barriers {
    /// From here on barriers may go the short way.
    #[inline(always)]
    pub(crate) fn begin_again(&mut self) {
        self.again_from = Some(self.entered);
    }

    /// Counts those that have gone it. To be called before barriers are entered in any other way, or are
    /// known to be complete.
    #[inline(always)]
    pub(crate) fn count_again(&mut self, tallies: &mut Tallies, recording: bool) {
        if let Some(from) = self.again_from.take().filter(|&from| recording && from < self.entered) {
            let tally = tallies.of(Kind::Barrier, false);
            tally.calls += self.entered - from;
            tally.deferred += self.entered - from;
            tally.ahead = tally.ahead.max(self.entered - self.known);
        }
    }
}
