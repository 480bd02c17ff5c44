//! Blocking barriers: entered and waited for (strict), or entered and left pending (deferred).
//!
//! The protocol is [`evenkeel_segment::board::barrier`]'s; ranks that wait and ranks that do not may meet in
//! one barrier, so each decides for itself. What keeps the program from noticing is
//! [`crate::deferral::pending`]'s part.

use crate::barrier::trial::{Advice, Trial};
use crate::clock::Ticks;
use crate::collective::call::Kind;
use crate::comm::shared::Served;
use crate::comm::state::State;
use crate::communicator::node::{Comm, Revoked};
use crate::deferral::fast_path;
use crate::deferral::pending::{self as deferral, Observer};
use crate::message::visibility::Stamp;
use crate::record::tally::{Tallies, is_sampled};

/// Looks at the release flag alone, at the start of a wait: fewer than come before any sleep.
const FLAG_ONLY: u32 = 4;
/// Barriers between two looks at the clock for the trial.
const LOOKS_AT_THE_CLOCK: u64 = 8;

/// One rank's count of the barriers of one communicator.
#[derive(Default)]
pub struct Barriers {
    /// How many this rank has entered.
    pub(crate) entered: u64,
    /// How many of them are known to be complete: all of these, as they are entered in order.
    pub(crate) known: u64,
    /// How many had been entered when the short way was opened: those since are counted later.
    pub(crate) again_from: Option<u64>,
    /// When the oldest pending one was entered.
    since: Ticks,
    /// Barriers of two that went the quick way, and before how many of them the other one was there. Kept
    /// apart from the other tallies: they are close at hand.
    quick: u64,
    quick_last: u64,
    /// Barriers that went by a schedule and were not sampled, kept apart for the same reason; how many had
    /// been entered when one was sampled last.
    pub(crate) by_schedule: u64,
    sampled: u64,
    /// What the members are told to do, as far as this rank has seen it.
    advice: Option<Advice>,
    /// The lead's; rank 0 is it.
    trial: Trial,
}

impl Barriers {
    #[inline(always)]
    fn pending(&self) -> u64 {
        self.entered - self.known
    }

    fn enter(&mut self) -> u64 {
        self.entered += 1;
        self.entered - 1
    }

    /// Counts a barrier that is never left pending; its number.
    #[inline(always)]
    pub(crate) fn enter_and_pass(&mut self) -> u64 {
        self.entered += 1;
        self.known = self.entered;
        self.entered - 1
    }

    /// Takes note of a sample; how many barriers there were since the one before, this one included.
    pub(crate) fn sampled(&mut self, number: u64) -> u64 {
        number + 1 - std::mem::replace(&mut self.sampled, number + 1)
    }

    /// Moves what was counted on the quick way to where it belongs.
    pub(crate) fn settle(&mut self, tallies: &mut Tallies) {
        let again = self.again_from.is_some();
        self.count_again(tallies, true);
        if again {
            self.begin_again();
        }
        if self.quick > 0 {
            let tally = tallies.of(Kind::Barrier, false);
            tally.calls += self.quick;
            tally.last += self.quick_last;
            (self.quick, self.quick_last) = (0, 0);
        }
        if self.by_schedule > 0 {
            tallies.of(Kind::Barrier, false).calls += std::mem::take(&mut self.by_schedule);
        }
    }
}

/// Looks a few times whether `other` has entered.
#[inline(never)]
fn comes_soon(served: &Served, other: usize, number: u64) -> bool {
    (0..served.waiting.first_looks()).any(|_| served.board.has_entered(other, number))
}

impl Comm {
    /// A barrier; false if the host must carry it out. `may_defer`: nothing of the host's is under way that
    /// would need this rank's calls to go on.
    #[inline(always)]
    pub fn barrier(&self, may_defer: bool) -> Result<bool, Revoked> {
        if let Some(scheduled) = &self.scheduled {
            if let Some(outcome) = self.barrier_by_schedule(scheduled) {
                return outcome.map(|()| true);
            }
        } else if self.barrier_of_two() {
            return Ok(true);
        }
        self.barrier_of_any(may_defer)
    }

    #[inline(never)]
    fn barrier_of_any(&self, may_defer: bool) -> Result<bool, Revoked> {
        let Some(served) = self.served.as_ref().filter(|_| !self.is_known_revoked()) else {
            if let Some(across) = self.across().filter(|_| !self.is_known_revoked()) {
                return across.local.barrier(may_defer);
            }
            self.with(|state| state.tallies.of(Kind::Barrier, false).host_calls += 1);
            return Ok(false);
        };
        if self.threaded() {
            self.barrier_among_threads(served)?;
            return Ok(true);
        }
        // SAFETY: there is one thread in MPI, and nothing below comes back here.
        let state = unsafe { &mut *self.state_pointer() };
        if deferral::is_on() && may_defer {
            return if deferral::is_adaptive() {
                self.barrier_adaptively(served, state)
            } else {
                self.barrier_deferred(served, state)
            };
        }
        self.barrier_strictly(served, state)?;
        Ok(true)
    }

    #[inline]
    fn barrier_deferred(&self, served: &Served, state: &mut State) -> Result<bool, Revoked> {
        if !self.defer(served, state) {
            self.barrier_strictly(served, state)?;
        }
        Ok(true)
    }

    /// As the lead advises; the lead itself waits where one way of going about it ends.
    #[inline]
    fn barrier_adaptively(&self, served: &Served, state: &mut State) -> Result<bool, Revoked> {
        let number = state.barriers.entered;
        if self.me == 0
            && number % LOOKS_AT_THE_CLOCK == 0
            && state.barriers.trial.is_due(number, Ticks::now().ns_since(Ticks(0)))
        {
            self.barrier_strictly(served, state)?;
            let advice = state.barriers.trial.turn(number, Ticks::now().ns_since(Ticks(0)));
            served.board.advise(advice as u64);
        } else {
            match Advice::from_word(served.board.advice()) {
                Advice::Defer => self.barrier_deferred(served, state)?,
                Advice::Wait => self.barrier_strictly(served, state).map(|()| true)?,
            };
        }
        let advice = Advice::from_word(served.board.advice());
        if state.barriers.advice.replace(advice) != Some(advice) && advice == Advice::Wait {
            deferral::give_up();
        }
        Ok(true)
    }

    // ---- strict
    // ---------------------------------------------------------------------------------------------------

    /// The strict barrier of two ranks with nothing out of the ordinary about it: two flags. False if there
    /// is, or if the other one is not there yet: then `barrier_strictly` goes on; to enter a barrier twice
    /// is to enter it once.
    #[inline(always)]
    fn barrier_of_two(&self) -> bool {
        let Some(served) = &self.served else { return false };
        if !self.is_pair || deferral::is_on() || deferral::any_pending() || self.is_known_revoked() {
            return false;
        }
        // SAFETY: pairs are of programs with one thread in MPI, and nothing below comes back here.
        let barriers = &mut unsafe { &mut *self.state_pointer() }.barriers;
        let (board, number, other) = (&served.board, barriers.entered, 1 - self.me);
        if is_sampled(number) {
            return false;
        }
        board.enter_barrier(self.me, number, 0);
        board.notify_entry(number);
        let was_there = board.has_entered(other, number);
        if !was_there && !comes_soon(served, other, number) {
            return false;
        }
        (barriers.entered, barriers.known) = (number + 1, number + 1);
        barriers.quick += 1;
        barriers.quick_last += was_there as u64;
        true
    }

    #[inline]
    fn barrier_strictly(&self, served: &Served, state: &mut State) -> Result<(), Revoked> {
        if deferral::any_pending() {
            deferral::before_entering(self);
        }
        let (board, me, recording) = (&served.board, self.me, served.world.recording);
        state.barriers.count_again(&mut state.tallies, recording);
        let number = state.barriers.enter();
        let sampled = recording && is_sampled(number);
        let began = if sampled { Ticks::now() } else { Ticks(0) };
        board.enter_barrier(me, number, began.0);
        if recording {
            state.tallies.of(Kind::Barrier, false).calls += 1;
        }
        let waited_before = if sampled { state.tallies.of(Kind::Barrier, false).wait_ns } else { 0 };
        if self.ranks == 2 {
            served.notify_entry(number);
            self.wait_small(served, state, Kind::Barrier, || board.has_entered(1 - me, number))?;
        } else {
            let last = board.count_waiting(me, number);
            served.notify_entry(number);
            if last {
                state.tallies.of(Kind::Barrier, false).last += 1;
                if sampled {
                    self.note_lateness(served, state, number);
                }
            } else {
                let (mut looks, mut seen) = (0u32, 0);
                self.wait_small(served, state, Kind::Barrier, || {
                    looks = looks.saturating_add(1);
                    // The flag alone at first. Before a sleep it must be the words: somebody may have entered
                    // who did not count.
                    board.is_barrier_released(number)
                        || (looks > FLAG_ONLY && board.all_entered(number, &mut seen))
                })?;
            }
        }
        if state.barriers.pending() > 1 {
            deferral::forget(self); // those before are complete with this one
        }
        state.barriers.known = number + 1;
        if sampled {
            let tally = state.tallies.of(Kind::Barrier, false);
            let waited = tally.wait_ns - waited_before;
            tally.sample(Ticks::now().ns_since(began), waited);
        }
        Ok(())
    }

    /// Several threads may be in MPI: the state is taken for moments only.
    #[cold]
    fn barrier_among_threads(&self, served: &Served) -> Result<(), Revoked> {
        let began = Ticks::now();
        let (number, expected) =
            self.with(|state| (state.barriers.enter(), state.expected_ns[Kind::Barrier as usize]));
        let board = &served.board;
        board.enter_barrier(self.me, number, began.0);
        let last = self.ranks > 2 && board.count_waiting(self.me, number);
        served.notify_entry(number);
        let mut seen = 0;
        let waited = if last || board.all_entered(number, &mut seen) {
            0
        } else {
            self.wait(served, Kind::Barrier, expected, || {
                board.is_barrier_released(number) || board.all_entered(number, &mut seen)
            })?
        };
        self.with(|state| {
            state.barriers.known = state.barriers.known.max(number + 1);
            state.learn(Kind::Barrier, waited);
            if served.world.recording {
                let sampled = is_sampled(number);
                let tally = state.tallies.of(Kind::Barrier, false);
                tally.calls += 1;
                tally.wait_ns += waited;
                tally.last += last as u64;
                if sampled {
                    tally.sample(Ticks::now().ns_since(began), waited);
                }
            }
        });
        Ok(())
    }

    /// By the last to arrive: for how long the first one had been waiting.
    #[cold]
    fn note_lateness(&self, served: &Served, state: &mut State, number: u64) {
        let now = Ticks::now();
        let first = (0..self.ranks)
            .filter_map(|r| served.board.entered_at(r, number))
            .filter(|&ticks| ticks > 0)
            .min()
            .map_or(now, Ticks);
        let tally = state.tallies.of(Kind::Barrier, false);
        tally.last_sampled += 1;
        tally.late_ns += now.ns_since(first);
    }

    // ---- deferred
    // -------------------------------------------------------------------------------------------------

    /// Enters a barrier and leaves it pending; false if this one should be waited for.
    #[inline]
    fn defer(&self, served: &Served, state: &mut State) -> bool {
        state.barriers.count_again(&mut state.tallies, served.world.recording);
        if !deferral::is_only(self) {
            deferral::before_entering(self);
        }
        if state.barriers.pending() >= deferral::window() {
            self.make_room(served, state);
        }
        let first = state.barriers.pending() == 0;
        if first && !deferral::arm() {
            return false;
        }
        let number = state.barriers.enter();
        let sampled = served.world.recording && is_sampled(number);
        // Asking for the time is a good part of so short a call.
        let now = if first || sampled { Ticks::now() } else { Ticks(0) };
        served.enter_and_go_on(self.me, number, now.0);
        if first {
            state.barriers.since = now;
            deferral::add(self);
        }
        if served.world.recording {
            let ahead = state.barriers.pending();
            let tally = state.tallies.of(Kind::Barrier, false);
            tally.calls += 1;
            tally.deferred += 1;
            tally.ahead = tally.ahead.max(ahead);
            if sampled {
                tally.sample(Ticks::now().ns_since(now), 0);
            }
        }
        if deferral::is_only(self) {
            self.go_on_again(state);
        }
        true
    }

    /// Lets the next barriers go the short way: as long as there is room, and until the next look at the
    /// clock and at advice.
    #[inline(always)]
    fn go_on_again(&self, state: &mut State) {
        let Barriers { entered, known, .. } = state.barriers;
        let look =
            if deferral::is_adaptive() { entered.next_multiple_of(LOOKS_AT_THE_CLOCK) } else { u64::MAX };
        state.barriers.begin_again();
        fast_path::allow(self, look.min(known + deferral::window()));
    }

    /// The window is full: takes note of what is complete, and waits if that is nothing.
    #[cold]
    fn make_room(&self, served: &Served, state: &mut State) {
        let Barriers { entered, known, .. } = state.barriers;
        // Half a window at a time: each look may cost a cache line from each rank.
        let half = known + (entered - known).div_ceil(2);
        let number = if served.board.all_entered(half - 1, &mut 0) { half - 1 } else { known };
        let mut seen = 0;
        if !served.board.all_entered(number, &mut seen) {
            // Revoked: the next call on the communicator says so.
            let _ =
                self.wait_small(served, state, Kind::Barrier, || served.board.all_entered(number, &mut seen));
        }
        state.barriers.known = number + 1;
        if state.barriers.pending() == 0 {
            deferral::forget(self); // a window of one
        }
        deferral::count(Observer::WINDOW);
    }

    /// Waits until all barriers that this rank has entered are complete. Only for communicators with
    /// pending ones.
    pub(crate) fn complete_barriers(&self) {
        let served = self.served.as_ref().expect("only served communicators have pending barriers");
        // SAFETY: deferral is for programs with one thread; it is inside MPI or caught at a system call of
        // its own, not in here.
        let state = unsafe { &mut *self.state_pointer() };
        state.barriers.count_again(&mut state.tallies, served.world.recording);
        let pending = state.barriers.pending();
        let number = state.barriers.entered - 1;
        let mut seen = 0;
        let observed = Ticks::now();
        let complete = served.board.all_entered(number, &mut seen);
        if !complete {
            // Revoked: the next call on the communicator says so.
            let _ =
                self.wait_small(served, state, Kind::Barrier, || served.board.all_entered(number, &mut seen));
        }
        state.barriers.known = number + 1;
        if served.world.recording && pending == 1 {
            // What waiting at once would have cost: until the last one entered. Not known if that one has
            // gone on since.
            let mine = state.barriers.since;
            let last = (0..self.ranks)
                .filter(|&r| r != self.me)
                .map(|r| served.board.entered_at(r, number))
                .max()
                .flatten();
            let overlapped = observed.ns_since(mine);
            state.tallies.of(Kind::Barrier, false).overlapped_ns += match last {
                _ if !complete => overlapped, // all of it: the wait would have been longer still
                Some(ticks) if ticks > 0 => Ticks(ticks).ns_since(mine).min(overlapped),
                _ => 0,
            };
        }
    }

    /// The latest barrier that this rank has entered; only for communicators with pending ones.
    pub(crate) fn latest_barrier(&self) -> Stamp {
        // SAFETY: as in `complete_barriers`.
        let entered = unsafe { &*self.state_pointer() }.barriers.entered;
        Stamp { comm: self.id(), ranks: self.ranks as u32, number: entered - 1 }
    }

    /// Whether one of the two communicators has all members of the other.
    pub(crate) fn is_nested_with(&self, other: &Comm) -> bool {
        let (Some(a), Some(b)) = (&self.served, &other.served) else { return false };
        if a.has_agent || b.has_agent {
            return false; // that all here are members says nothing of those elsewhere
        }
        let within = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(a, b)| a & !b == 0);
        within(&a.place_set, &b.place_set) || within(&b.place_set, &a.place_set)
    }
}
