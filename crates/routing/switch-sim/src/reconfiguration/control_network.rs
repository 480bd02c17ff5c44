//! Control messages between neighbouring switches, in the time of the simulation and over the same channels
//! as packets.

use super::control_parameters::ControlParameters;
use super::switch_tables::SwitchTables;
use crate::simulator::Simulator;
use crate::wiring::ChannelId;
use evenkeel_route::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A message that arrives at a switch, or a timer of the switch that expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ControlEvent<M> {
    /// The switch.
    pub at: u32,
    /// The neighbour that sent the message, or the switch itself for a timer.
    pub from: u32,
    /// The message.
    pub message: M,
}

/// A message for a neighbour.
#[derive(Clone, Copy)]
pub(super) struct ControlMessage<M> {
    pub channel: usize,
    pub from: u32,
    pub to: u32,
    pub phits: u32,
    pub message: M,
}

/// Messages and timers, ordered by time and then by creation.
pub(super) struct ControlNetwork<M> {
    parameters: ControlParameters,
    queue: BinaryHeap<Reverse<(u64, u64, ControlEvent<M>)>>,
    count: u64,
    /// By channel: when its last control message ends. Control messages have a buffer of their own, and go
    /// before packets.
    free_at: Vec<u64>,
    /// By switch: when it has processed all messages that have arrived.
    processed_at: Vec<u64>,
    random: Random,
    /// Messages that were sent, including those that were lost.
    pub messages: u64,
    /// Phits of these messages.
    pub phits: u64,
}

impl<M: Copy + Ord> ControlNetwork<M> {
    /// A network without messages.
    pub fn new(parameters: ControlParameters, channels: usize, switches: usize) -> ControlNetwork<M> {
        ControlNetwork {
            parameters,
            queue: BinaryHeap::new(),
            count: 0,
            free_at: vec![0; channels],
            processed_at: vec![0; switches],
            random: Random::new(parameters.seed),
            messages: 0,
            phits: 0,
        }
    }

    /// Sends a message. If it is lost, it is sent again after a while, until it arrives.
    pub fn send(&mut self, simulator: &mut Simulator<SwitchTables>, message: ControlMessage<M>) {
        let ControlMessage { channel, from, to, phits, message } = message;
        let phits = u64::from(phits);
        loop {
            let begin = self.free_at[channel].max(simulator.now());
            self.free_at[channel] = begin + phits;
            simulator.reserve_channel(ChannelId(channel as u32), begin + phits);
            self.messages += 1;
            self.phits += phits;
            if self.random.unit() >= self.parameters.loss {
                let arrival = begin + phits + 1;
                let processed = self.processed_at[to as usize].max(arrival) + self.parameters.process_cycles;
                self.processed_at[to as usize] = processed;
                self.schedule(processed, ControlEvent { at: to, from, message });
                return;
            }
            self.free_at[channel] = begin + phits + self.parameters.retry_cycles;
        }
    }

    /// Starts a timer of a switch.
    pub fn start_timer(&mut self, now: u64, cycles: u64, at: u32, message: M) {
        self.schedule(now + cycles, ControlEvent { at, from: at, message });
    }

    fn schedule(&mut self, time: u64, event: ControlEvent<M>) {
        self.count += 1;
        self.queue.push(Reverse((time, self.count, event)));
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<u64> {
        self.queue.peek().map(|e| e.0.0)
    }

    /// Removes the next event. Returns its time and the event.
    pub fn next_event(&mut self) -> Option<(u64, ControlEvent<M>)> {
        self.queue.pop().map(|Reverse((time, _, event))| (time, event))
    }
}
