//! What single steps do: to the rank that takes them, and to the ranks that it sends to.

use super::state::{
    COUNT, INDEX, KIND, Message, NOTHING, ORIGIN_WITHIN, OVER, OWN, RAISE, RankState, Simulation, WITHIN,
    Word,
};
use crate::machine::WITHIN_NODE;
use crate::observer::{Activity, Observer};
use crate::time::VirtualTime;
use crate::workload::Leaving;

/// A message before it is sent.
#[derive(Clone, Copy)]
pub(super) struct Outgoing {
    pub(super) to: u32,
    /// As in [`Message::word`], without [`WITHIN`].
    pub(super) word: u32,
    pub(super) value: u32,
    pub(super) bytes: u64,
}

impl<O: Observer> Simulation<'_, O> {
    /// Continues if the rank's own word has reached the value; otherwise the rank waits for it.
    #[inline]
    pub(super) fn wait(&mut self, rank: u32, state: &mut RankState, index: u32, value: u32) {
        let word = *self.word(rank, index);
        if word.value < value {
            (state.waits, state.wants) = (index, value);
            return;
        }
        state.waits = NOTHING;
        if word.seen > state.clock {
            self.observe_step(rank, Activity::Wait, state.clock, word.seen);
            state.clock = word.seen;
            state.origin = word.origin & !ORIGIN_WITHIN;
        }
        // A flag that the rank raised itself is no message. Neither is the initial value 0.
        if word.origin != OWN && value > 0 {
            let link = usize::from(word.origin & ORIGIN_WITHIN != 0);
            let cost = self.machine.links[link].cost(1).receive;
            self.work(rank, state, Activity::Receive, cost);
        }
    }

    /// Work of the processor that takes the steps: the rank's own, or an agent's, which nothing disturbs.
    #[inline]
    pub(super) fn work(&mut self, rank: u32, state: &mut RankState, activity: Activity, work: VirtualTime) {
        let from = state.clock;
        let end = match self.workload.leaving {
            Leaving::Strict => self.processors.end_of(rank, from, work),
            Leaving::Bypass { .. } => from + work,
        };
        if end != from + work {
            state.origin = rank;
        }
        state.clock = end;
        if end == VirtualTime::NEVER {
            self.tally.dead += 1;
            state.waits = OVER;
        } else {
            self.observe_step(rank, activity, from, end);
        }
    }

    /// Reports what the rank itself does. What an agent does for it is not reported.
    #[inline]
    fn observe_step(&mut self, rank: u32, activity: Activity, from: VirtualTime, to: VirtualTime) {
        if self.workload.leaving == Leaving::Strict {
            self.observer.span(rank, activity, from, to);
        }
    }

    /// Sends one of `burst` messages that are sent together.
    #[inline]
    pub(super) fn send(&mut self, rank: u32, state: &mut RankState, out: Outgoing, burst: u8) {
        if state.waits == OVER {
            return;
        }
        if out.to == rank && out.word & KIND == RAISE {
            let seen = state.clock;
            let own = self.word(rank, out.word & INDEX);
            *own = Word { seen, value: own.value.max(out.value), origin: OWN };
            return;
        }
        let link = &self.machine.links[self.machine.link_index(rank, out.to)];
        let (cost, wire) = (*link.cost(burst), link.wire(out.bytes));
        if !cost.serial {
            state.clock = state.clock.max(state.out_free);
        }
        let from = state.clock;
        self.work(rank, state, Activity::Send, cost.send);
        if state.waits == OVER {
            return;
        }
        let arrives = if cost.serial {
            state.out_free = state.out_free.max(state.clock) + cost.latency + wire;
            state.out_free
        } else {
            state.out_free = state.clock.max(from + cost.gap) + wire;
            state.clock + wire + cost.latency
        };
        self.post(rank, state, out, arrives);
    }

    /// Sends the previous message once more, to another rank. The network card does it.
    pub(super) fn repeat(&mut self, rank: u32, state: &mut RankState, out: Outgoing) {
        let link = &self.machine.links[self.machine.link_index(rank, out.to)];
        let (cost, wire) = (*link.cost(1), link.wire(out.bytes));
        let from = state.out_free.max(state.clock);
        state.out_free = from + cost.gap + wire;
        self.post(rank, state, out, from + wire + cost.latency);
    }

    /// Sends to one of several ranks. The first message on each link with multicast is sent; it reaches
    /// the other ranks of that link too. `had`: the links that have carried the multicast.
    pub(super) fn multicast(
        &mut self,
        rank: u32,
        state: &mut RankState,
        out: Outgoing,
        burst: u8,
        had: &mut [bool; 2],
    ) {
        let index = self.machine.link_index(rank, out.to);
        let is_reached =
            out.to != rank && self.machine.multicast[index] && std::mem::replace(&mut had[index], true);
        if is_reached {
            let time = state.clock + self.machine.links[index].cost(1).latency;
            self.post(rank, state, out, time);
        } else {
            self.send(rank, state, out, burst);
        }
    }

    /// Writes into a memory that is replicated to all ranks: one message on a link with multicast,
    /// otherwise one for each rank.
    pub(super) fn share(&mut self, rank: u32, state: &mut RankState, bytes: u64) {
        let mut had = [false; 2];
        for to in 0..self.schedule.problem.ranks {
            let index = self.machine.link_index(rank, to);
            if to == rank || (self.machine.multicast[index] && std::mem::replace(&mut had[index], true)) {
                continue;
            }
            let link = &self.machine.links[index];
            let (cost, wire) = (*link.cost(1), link.wire(bytes));
            state.clock = state.clock.max(state.out_free);
            let from = state.clock;
            self.work(rank, state, Activity::Send, cost.send);
            if state.waits == OVER {
                return;
            }
            state.out_free = state.clock.max(from + cost.gap) + wire;
        }
    }

    /// Puts a message into the queue.
    #[inline]
    fn post(&mut self, rank: u32, state: &RankState, out: Outgoing, time: VirtualTime) {
        let Outgoing { to, word, value, .. } = out;
        let within = if self.machine.link_index(rank, to) == WITHIN_NODE { WITHIN } else { 0 };
        let origin = if word & KIND == COUNT { rank } else { state.origin };
        self.observer.message(rank, to, state.clock, time);
        self.queue.push(Message { time, to, word: word | within, value, origin });
    }
}
