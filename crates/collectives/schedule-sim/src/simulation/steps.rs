//! What single steps do to the rank that takes them, and to whom they send.

use super::{
    CELL, CELL_WITHIN, COUNT, Cell, KIND, Message, NOTHING, OVER, OWN, RAISE, Simulation, State, WITHIN,
};
use crate::machine::WITHIN_NODE;
use crate::observer::{Activity, Observer};
use crate::time::VirtualTime;
use crate::workload::Leaving;

impl<W: Observer> Simulation<'_, W> {
    /// Goes on if the own cell has reached the value; otherwise the rank waits for it.
    #[inline]
    pub(super) fn wait(&mut self, rank: u32, state: &mut State, index: u32, value: u32) {
        let cell = self.cells[rank as usize * self.cells_per_rank + index as usize];
        if cell.value < value {
            (state.waits, state.wants) = (index, value);
            return;
        }
        state.waits = NOTHING;
        if cell.seen > state.clock {
            self.observe_step(rank, Activity::Wait, state.clock, cell.seen);
            state.clock = cell.seen;
            state.origin = cell.origin & !CELL_WITHIN;
        }
        // What the rank raised itself is no message; neither is what it need not wait for because it is 0.
        if cell.origin != OWN && value > 0 {
            let way = usize::from(cell.origin & CELL_WITHIN != 0);
            let cost = self.machine.links[way].cost(1).receive;
            self.work(rank, state, Activity::Receive, cost);
        }
    }

    /// Work of whoever does the steps: the rank's own processor, or an agent, which nothing disturbs.
    #[inline]
    pub(super) fn work(&mut self, rank: u32, state: &mut State, activity: Activity, work: VirtualTime) {
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

    /// An agent's doings are not the rank's.
    #[inline]
    fn observe_step(&mut self, rank: u32, activity: Activity, from: VirtualTime, to: VirtualTime) {
        if self.workload.leaving == Leaving::Strict {
            self.observer.span(rank, activity, from, to);
        }
    }

    /// One of `burst` messages that are sent at once.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn send(
        &mut self,
        rank: u32,
        state: &mut State,
        to: u32,
        cell: u32,
        value: u32,
        bytes: u64,
        burst: u8,
    ) {
        if state.waits == OVER {
            return;
        }
        if to == rank && cell & KIND == RAISE {
            let own = &mut self.cells[rank as usize * self.cells_per_rank + (cell & CELL) as usize];
            *own = Cell { seen: state.clock, value: own.value.max(value), origin: OWN };
            return;
        }
        let link = &self.machine.links[self.machine.way(rank, to)];
        let (cost, wire) = (*link.cost(burst), link.wire(bytes));
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
        self.post(rank, state, to, cell, value, arrives);
    }

    /// The message before once more, to another rank: the network card does it.
    pub(super) fn repeat(
        &mut self,
        rank: u32,
        state: &mut State,
        to: u32,
        cell: u32,
        value: u32,
        bytes: u64,
    ) {
        let link = &self.machine.links[self.machine.way(rank, to)];
        let (cost, wire) = (*link.cost(1), link.wire(bytes));
        let from = state.out_free.max(state.clock);
        state.out_free = from + cost.gap + wire;
        self.post(rank, state, to, cell, value, from + wire + cost.latency);
    }

    /// Writes into a memory that is replicated to all: one message where there is multicast, else one to
    /// each.
    pub(super) fn share(&mut self, rank: u32, state: &mut State, bytes: u64) {
        let mut had = [false; 2];
        for to in 0..self.schedule.problem.ranks {
            let way = self.machine.way(rank, to);
            if to == rank || (self.machine.multicast[way] && std::mem::replace(&mut had[way], true)) {
                continue;
            }
            let link = &self.machine.links[way];
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

    #[inline]
    pub(super) fn post(
        &mut self,
        rank: u32,
        state: &State,
        to: u32,
        cell: u32,
        value: u32,
        time: VirtualTime,
    ) {
        let within = if self.machine.way(rank, to) == WITHIN_NODE { WITHIN } else { 0 };
        let origin = if cell & KIND == COUNT { rank } else { state.origin };
        self.observer.message(rank, to, state.clock, time);
        self.queue.push(Message { time, to, cell: cell | within, value, origin });
    }
}
