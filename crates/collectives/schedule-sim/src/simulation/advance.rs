//! Takes the steps of a rank, one after the other, until it has to wait.

use super::effects::Outgoing;
use super::state::{ADD, AN_ANSWER, COUNT, NOTHING, OVER, RAISE, RankState, Simulation};
use crate::observer::{Activity, Observer};
use crate::time::VirtualTime;
use evenkeel_schedule::{Counter, Flag, Rank, Step, flag_value};

/// The bank of a rank's epoch: the index of its first word, and how often it has been used.
#[derive(Clone, Copy)]
struct Bank {
    base: u32,
    uses: u64,
}

/// What follows a step.
enum Next {
    /// The next step, unless the rank waits.
    Step,
    /// The first step of this round.
    Round(u32),
    /// The rank waits for an answer.
    Wait,
}

impl<O: Observer> Simulation<'_, O> {
    /// Continues with a rank's steps until it waits, has completed all calls, or dies.
    pub(super) fn advance(&mut self, rank: u32) {
        let mut steps = std::mem::take(&mut self.steps);
        let mut state = self.states[rank as usize];
        let rounds = self.schedule.rounds();
        let mut bank = Bank { base: 0, uses: 0 };
        let mut is_stale = true;
        // The number of consecutive messages that the rank is sending. 0 after another step.
        let mut burst = 0_u8;
        loop {
            if is_stale {
                let (number, uses) = self.schedule.bank(u64::from(state.epoch));
                bank = Bank { base: number as u32 * self.words_per_bank, uses };
                self.schedule.round(Rank(rank), state.round, &mut steps);
                is_stale = false;
            }
            let Some(step) = steps.steps.get(state.step as usize) else {
                (state.round, state.step, is_stale) = (state.round + 1, 0, true);
                if state.round < rounds {
                    continue;
                }
                let left = self.leave(rank, &state);
                if !self.enter(rank, &mut state, left) {
                    break;
                }
                continue;
            };
            if !is_message(step) {
                burst = 0;
            } else if burst == 0 {
                let messages = steps.steps[state.step as usize..].iter().take_while(|s| is_message(s));
                burst = messages.count().min(255) as u8;
            }
            match self.take_step(rank, &mut state, step, bank, burst) {
                Next::Step if state.waits == NOTHING => state.step += 1,
                Next::Round(round) => (state.round, state.step, is_stale) = (round, 0, true),
                Next::Step | Next::Wait => break,
            }
        }
        self.states[rank as usize] = state;
        self.steps = steps;
    }

    #[inline(always)]
    fn take_step(&mut self, rank: u32, state: &mut RankState, step: &Step, bank: Bank, burst: u8) -> Next {
        let (resources, element_bytes) = (&self.schedule.resources, self.element_bytes);
        let flag_word = |flag: &Flag| bank.base + flag.0;
        let counter_word = |counter: &Counter| bank.base + resources.flags + counter.0;
        let value = |turn: &u16| flag_value(bank.uses, resources.turns, *turn) as u32;
        let raise = |to: Rank, flag: &Flag, turn: &u16, length: u32| Outgoing {
            to: to.0,
            word: RAISE | flag_word(flag),
            value: value(turn),
            bytes: u64::from(length) * element_bytes,
        };
        match step {
            Step::Put { to, flag, turn } => self.send(rank, state, raise(*to, flag, turn, 0), burst),
            Step::Send { to, flag, turn, is_repeat: true, length, .. } if self.machine.repeats => {
                self.repeat(rank, state, raise(*to, flag, turn, *length));
            }
            Step::Send { to, flag, turn, length, .. } => {
                self.send(rank, state, raise(*to, flag, turn, *length), burst)
            }
            Step::Multicast { to, flag, turn } => {
                let mut had = [false; 2];
                for to in to.iter() {
                    self.multicast(rank, state, raise(to, flag, turn, 0), burst, &mut had);
                }
            }
            Step::Share { length, .. } => self.share(rank, state, u64::from(*length) * element_bytes),
            Step::Add { at, counter } => {
                let out = Outgoing { to: at.0, word: ADD | counter_word(counter), value: 0, bytes: 0 };
                self.send(rank, state, out, burst)
            }
            Step::Count { at, counter, of, otherwise } => {
                let goal = (bank.uses * u64::from(*of)) as u32;
                return self.count(rank, state, *at, counter_word(counter), goal, *otherwise);
            }
            Step::Wait { flag, turn } => self.wait(rank, state, flag_word(flag), value(turn)),
            Step::AwaitCount { counter, of, previous } => {
                let times = bank.uses - u64::from(*previous);
                self.wait(rank, state, counter_word(counter), (times * u64::from(*of)) as u32);
            }
            Step::Combine { length, .. } | Step::Copy { length, .. } => {
                let bytes = u64::from(*length) * element_bytes;
                let work =
                    VirtualTime::from_ps((bytes as f64 * self.machine.work_per_byte_ps).round() as u64);
                self.work(rank, state, Activity::Combine, work);
            }
        }
        Next::Step
    }

    /// Adds to a counter and waits for the answer or, if the answer has arrived, takes it.
    fn count(
        &mut self,
        rank: u32,
        state: &mut RankState,
        at: Rank,
        word: u32,
        goal: u32,
        otherwise: u32,
    ) -> Next {
        if state.waits == AN_ANSWER {
            let cost = *self.machine.links[self.machine.link_index(rank, at.0)].cost(1);
            self.work(rank, state, Activity::Receive, cost.receive);
            if state.waits == OVER {
                return Next::Step;
            }
            state.waits = NOTHING;
            return if state.wants == 0 { Next::Round(otherwise) } else { Next::Step };
        }
        self.send(rank, state, Outgoing { to: at.0, word: COUNT | word, value: 0, bytes: 0 }, 1);
        state.wants = goal;
        if state.waits == OVER {
            return Next::Step;
        }
        state.waits = AN_ANSWER;
        Next::Wait
    }
}

/// Whether a step sends one of several consecutive messages.
fn is_message(step: &Step) -> bool {
    matches!(step, Step::Put { .. } | Step::Send { .. } | Step::Add { .. })
}
