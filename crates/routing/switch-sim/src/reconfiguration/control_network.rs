//! Control messages between neighbouring switches, in the same time and over the same channels as packets.

use super::Settings;
use super::switch_tables::Views;
use crate::simulator::Simulator;
use crate::wiring::ChannelId;
use evenkeel_route::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens at a switch, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event<M> {
    pub at: u32,
    /// The neighbour that it came from; the switch itself for its own timers.
    pub from: u32,
    pub what: M,
}

/// Orders events by time, then by when they were made.
pub struct Courier<M> {
    settings: Settings,
    queue: BinaryHeap<Reverse<(u64, u64, Event<M>)>>,
    count: u64,
    /// By channel: when the last control message on it ends. They have a buffer of their own and go before
    /// packets.
    free: Vec<u64>,
    /// By switch: when it has done with the messages it has.
    busy: Vec<u64>,
    random: Random,
    pub messages: u64,
    pub phits: u64,
}

impl<M: Copy + Ord> Courier<M> {
    pub fn new(settings: Settings, channels: usize, switches: usize) -> Courier<M> {
        Courier {
            settings,
            queue: BinaryHeap::new(),
            count: 0,
            free: vec![0; channels],
            busy: vec![0; switches],
            random: Random::new(settings.seed),
            messages: 0,
            phits: 0,
        }
    }

    /// Sends a message over a channel. One that is lost is sent again after a while, until it comes through.
    pub fn send(
        &mut self,
        simulator: &mut Simulator<Views>,
        channel: usize,
        from: u32,
        at: u32,
        phits: u32,
        what: M,
    ) {
        let phits = u64::from(phits);
        loop {
            let begin = self.free[channel].max(simulator.now());
            self.free[channel] = begin + phits;
            simulator.occupy(ChannelId(channel as u32), begin + phits);
            self.messages += 1;
            self.phits += phits;
            if self.random.unit() >= self.settings.loss {
                let arrival = begin + phits + 1;
                let done = self.busy[at as usize].max(arrival) + self.settings.process_cycles;
                self.busy[at as usize] = done;
                self.push(done, Event { at, from, what });
                return;
            }
            self.free[channel] = begin + phits + self.settings.retry_cycles;
        }
    }

    /// A switch does something by itself after a while.
    pub fn after(&mut self, now: u64, cycles: u64, at: u32, what: M) {
        self.push(now + cycles, Event { at, from: at, what });
    }

    fn push(&mut self, time: u64, event: Event<M>) {
        self.count += 1;
        self.queue.push(Reverse((time, self.count, event)));
    }

    /// When the next event is.
    pub fn next_time(&self) -> Option<u64> {
        self.queue.peek().map(|e| e.0.0)
    }

    pub fn next(&mut self) -> Option<(u64, Event<M>)> {
        self.queue.pop().map(|Reverse((time, _, event))| (time, event))
    }
}
