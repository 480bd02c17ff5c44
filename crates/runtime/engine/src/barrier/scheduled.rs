//! Barriers of communicators for which a table names a schedule: the [`Program`] made of it, run on
//! flags of its own.
//!
//! Which communicators these are is decided by what all ranks know alike, so all of them have a
//! schedule or none has. A barrier that runs by messages cannot be left pending, since nobody but those
//! who wait see to it: schedules are for jobs in which all barriers are strict. That keeps the promise
//! of bypass: a rank waits in a barrier for nothing but the others' entering.

use crate::barrier::program::{Layout, Program, Unfit};
use crate::clock::Ticks;
use crate::collective::call::Kind;
use crate::comm::shared::Served;
use crate::comm::state::State;
use crate::communicator::node::{Comm, Revoked};
use crate::record::tally::is_sampled;
use evenkeel_schedule::{Rank, Schedule};
use evenkeel_segment::block::Block;
use evenkeel_segment::{FlagGeometry, Flags, Mapped};
use std::sync::OnceLock;

/// A communicator's schedule, and what is made of it when it is first needed.
pub struct Scheduled {
    schedule: Schedule,
    /// None: there is no room for the flags, for all members alike.
    ready: OnceLock<Option<Ready>>,
}

struct Ready {
    program: Program,
    flags: Flags<Mapped>,
    block: Block,
    geometry: FlagGeometry,
}

impl Scheduled {
    /// To be made by all members of a communicator, of the same schedule, or by none.
    pub fn new(schedule: Schedule) -> Result<Scheduled, Unfit> {
        Layout::of(&schedule)?;
        Ok(Scheduled { schedule, ready: OnceLock::new() })
    }

    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Whether barriers have been run by it.
    pub fn is_running(&self) -> bool {
        matches!(self.ready.get(), Some(Some(_)))
    }

    /// Shared memory that its flags take, once they are there.
    pub fn segment_bytes(&self) -> u64 {
        self.ready.get().and_then(Option::as_ref).map_or(0, |ready| ready.geometry.total_bytes as u64)
    }

    #[inline(always)]
    fn ready(&self, served: &Served, me: usize) -> Option<&Ready> {
        match self.ready.get() {
            Some(ready) => ready.as_ref(),
            None => self.make_ready(served, me),
        }
    }

    #[cold]
    fn make_ready(&self, served: &Served, me: usize) -> Option<&Ready> {
        let make = || {
            let layout = Layout::of(&self.schedule).expect("tried when it was made");
            let block = served.world.blocks().flags(served.block, &layout.geometry)?;
            let at = |offset: usize| served.world.segment.at(block.offset() + offset);
            let eventcounts =
                (0..layout.geometry.ranks).map(|rank| at(layout.geometry.eventcount(rank))).collect();
            let flags = Flags { memory: at(0), eventcounts, fencing: served.board.fencing };
            Some(Ready {
                program: Program::of(&self.schedule, &layout, Rank(me as u32)),
                flags,
                block,
                geometry: layout.geometry,
            })
        };
        self.ready.get_or_init(make).as_ref()
    }

    /// Gives back the flags, if this rank has ever asked for them.
    pub(crate) fn detach(&self, served: &Served) {
        if let Some(Some(ready)) = self.ready.get() {
            served.world.blocks().drop_reference(ready.block, &ready.geometry);
        }
    }
}

/// Looks a few times whether a word has come to a value.
#[inline(never)]
fn comes_soon(served: &Served, flags: &Flags<Mapped>, at: usize, value: u64) -> bool {
    (0..served.waiting.first_looks()).any(|_| flags.has_reached(at, value))
}

impl Comm {
    /// A barrier by the communicator's schedule; None if it cannot be run, which goes for all members.
    #[inline]
    pub(crate) fn barrier_by_schedule(&self, scheduled: &Scheduled) -> Option<Result<(), Revoked>> {
        let served = self.served.as_ref().filter(|_| !self.is_known_revoked())?;
        let ready = scheduled.ready(served, self.me)?;
        // SAFETY: schedules are for jobs with one thread in MPI, and nothing below comes back here.
        let state = unsafe { &mut *self.state_pointer() };
        let number = state.barriers.enter_and_pass();
        if is_sampled(number) && served.world.recording {
            return Some(self.sampled_by_schedule(served, state, ready, number));
        }
        state.barriers.by_schedule += 1;
        Some(self.run_schedule(served, state, ready, number))
    }

    #[inline(always)]
    fn run_schedule(
        &self,
        served: &Served,
        state: &mut State,
        ready: &Ready,
        number: u64,
    ) -> Result<(), Revoked> {
        let flags = &ready.flags;
        ready.program.run(flags, number + 1, |at, value| {
            if comes_soon(served, flags, at, value) {
                return Ok(());
            }
            self.wait_for_flag(served, state, flags, at, value)
        })
    }

    /// The same, timed, and with the time of entry left where all can see it.
    #[cold]
    fn sampled_by_schedule(
        &self,
        served: &Served,
        state: &mut State,
        ready: &Ready,
        number: u64,
    ) -> Result<(), Revoked> {
        let tally = state.tallies.of(Kind::Barrier, false);
        tally.calls += 1;
        let waited_before = tally.wait_ns;
        let began = Ticks::now();
        // The words that other barriers are made of; nobody waits for them here.
        served.board.enter_barrier(self.me, number, began.0);
        self.run_schedule(served, state, ready, number)?;
        self.note_sample(served, state, number, began, waited_before);
        Ok(())
    }

    #[cold]
    fn wait_for_flag(
        &self,
        served: &Served,
        state: &mut State,
        flags: &Flags<Mapped>,
        at: usize,
        value: u64,
    ) -> Result<(), Revoked> {
        let expected = state.expected_ns[Kind::Barrier as usize];
        let sleep = |timeout, done: &mut dyn FnMut() -> bool| flags.sleep_unless(self.me, timeout, done);
        let waited =
            self.wait_asleep(served, Kind::Barrier, expected, || flags.has_reached(at, value), sleep)?;
        state.learn(Kind::Barrier, waited);
        if served.world.recording {
            state.tallies.of(Kind::Barrier, false).wait_ns += waited;
        }
        Ok(())
    }

    /// A sampled barrier is over. Nobody counts arrivals here: who came last is seen from the times of
    /// entry, and stands for the barriers since the last sample.
    #[cold]
    fn note_sample(&self, served: &Served, state: &mut State, number: u64, began: Ticks, waited_before: u64) {
        let since = state.barriers.sampled(number);
        let tally = state.tallies.of(Kind::Barrier, false);
        tally.sample(Ticks::now().ns_since(began), tally.wait_ns - waited_before);
        let entered = |rank: usize| served.board.entered_at(rank, number);
        let others = || (0..self.ranks).filter(|rank| *rank != self.me);
        let is_last = others().all(|rank| entered(rank).is_some_and(|at| (at, rank) < (began.0, self.me)));
        if is_last {
            let first = others().filter_map(entered).min().map_or(began, Ticks);
            tally.last += since;
            tally.last_sampled += 1;
            tally.late_ns += began.ns_since(first);
        }
    }
}
