//! When programs enter calls and leave them.

use super::state::{NOTHING, OVER, RankState, Simulation};
use crate::observer::{Activity, Observer};
use crate::time::VirtualTime;
use crate::workload::Leaving;
use evenkeel_schedule::deposits::Sources;
use evenkeel_schedule::{Collective, Rank};

impl<O: Observer> Simulation<'_, O> {
    /// The rank's program computes from `from` on and enters its next call. Returns false if it never
    /// does.
    pub(super) fn enter(&mut self, rank: u32, state: &mut RankState, from: VirtualTime) -> bool {
        state.waits = OVER;
        if state.epoch == self.workload.iterations {
            return false;
        }
        let entered = self.processors.compute(rank, from);
        if entered == VirtualTime::NEVER {
            self.tally.dead += 1;
            return false;
        }
        self.observer.span(rank, Activity::Compute, from, entered);
        // An agent may still be busy with the previous call.
        *state = RankState {
            clock: state.clock.max(entered),
            entered,
            epoch: state.epoch + 1,
            round: 0,
            step: 0,
            waits: NOTHING,
            origin: rank,
            ..*state
        };
        self.tally.enters(state.epoch, entered);
        true
    }

    /// The steps of the rank's call are done. Returns when its program leaves the call: now, or earlier.
    pub(super) fn leave(&mut self, rank: u32, state: &RankState) -> VirtualTime {
        self.tally.done(state.epoch, state.clock);
        let Leaving::Bypass { window } = self.workload.leaving else {
            self.tally.leaves(state.entered, state.clock, rank, state.origin);
            return state.clock;
        };
        let mut left = (state.entered + self.machine.deposit, rank);
        let slot = rank as usize * window as usize + (state.epoch % window) as usize;
        if self.needs_result(rank) {
            left = left.max((state.clock, state.origin));
        } else if state.epoch > window {
            left = left.max(self.complete[slot]);
        }
        self.complete[slot] = (state.clock, state.origin);
        self.tally.leaves(state.entered, left.0, rank, left.1);
        self.observer.span(rank, Activity::Wait, state.entered, left.0);
        left.0
    }

    /// No message is in flight any more. A rank whose calls will never complete still continues until its
    /// window is full.
    pub(super) fn run_ahead(&mut self, rank: u32) {
        let mut state = self.states[rank as usize];
        let Leaving::Bypass { window } = self.workload.leaving else { return };
        if state.waits == OVER || self.needs_result(rank) {
            return;
        }
        for _ in 0..window {
            let slot = rank as usize * window as usize + (state.epoch % window) as usize;
            let before = if state.epoch > window { self.complete[slot].0 } else { VirtualTime::ZERO };
            let left = before.max(state.entered + self.machine.deposit);
            self.tally.leaves(state.entered, left, rank, rank);
            if !self.enter(rank, &mut state, left) {
                return;
            }
        }
    }

    /// Whether the rank cannot leave a call without its result.
    fn needs_result(&self, rank: u32) -> bool {
        // No process can tell that a barrier has not completed until a message is received. So the rank
        // leaves the barrier, which completes later without the program.
        let collective = self.schedule.algorithm.collective;
        collective != Collective::Barrier
            && self.schedule.problem.participation(collective, Rank(rank)).needs != Sources::Empty
    }
}
