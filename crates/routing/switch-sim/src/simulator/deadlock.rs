//! Finds packets that can never move again.
//!
//! A packet can move eventually if its head is moving or being routed, or if one of the lanes that it may
//! take is free or held by a packet that can move eventually. The packets for which this never holds are
//! deadlocked, even if other traffic still flows.

use super::buffer::NONE;
use super::contents::Simulator;
use crate::parameters::Switching;
use crate::routing::{Routing, VirtualLane};
use std::collections::HashSet;
use std::fmt;
use thiserror::Error;

/// Packets that wait for each other in a cycle.
#[derive(Clone, Debug, Error, PartialEq)]
pub struct Deadlock {
    /// The simulated cycle in which it was found.
    pub found_at: u64,
    /// Packets that can never move again.
    pub packets: usize,
    /// The lanes of the cycle. A packet that holds one of them waits for the next, and one that holds the
    /// last waits for the first.
    pub cycle: Vec<VirtualLane>,
    /// Names of these lanes, for people.
    pub names: Vec<String>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "deadlock at cycle {}: {} packets can never move again. Packets that hold these lanes wait for \
             each other, each for the next lane and the last for the first: {}",
            self.found_at,
            self.packets,
            self.names.join("; ")
        )
    }
}

/// What a packet waits for: any one of these lanes, each with the packet that has to leave first, or
/// [`NONE`].
type AwaitedLanes = Vec<(u32, u32)>;

impl<R: Routing> Simulator<R> {
    /// Checks that no packets are deadlocked.
    ///
    /// # Errors
    /// The deadlock.
    pub fn check_deadlock(&mut self) -> Result<(), Deadlock> {
        let waiting = self.waiting_packets();
        let can_move = can_move_eventually(&waiting);
        let deadlocked: Vec<usize> = (0..waiting.len()).filter(|i| !can_move[*i]).collect();
        for start in &deadlocked {
            let mut visited: Vec<(usize, u32)> = Vec::new();
            let mut at = *start;
            while let Some((lane, holder)) = waiting[at].as_ref().and_then(|lanes| lanes.first().copied()) {
                if let Some(first) = visited.iter().position(|(i, _)| *i == at) {
                    let lanes = visited[first..].iter().map(|(_, lane)| self.lane_of(*lane)).collect();
                    return Err(self.deadlock(deadlocked.len(), lanes));
                }
                visited.push((at, lane));
                at = holder as usize;
            }
        }
        Ok(())
    }

    fn deadlock(&self, packets: usize, mut cycle: Vec<VirtualLane>) -> Deadlock {
        // Packets that queue in the same buffer wait for the same lane.
        cycle.dedup();
        if cycle.len() > 1 && cycle.first() == cycle.last() {
            cycle.pop();
        }
        let name = |l: &VirtualLane| format!("{}, lane {}", self.wiring.name(l.channel), l.lane);
        let names = cycle.iter().map(name).collect();
        Deadlock { found_at: self.now, packets, cycle, names }
    }

    /// By packet: what it waits for. `None` for packets that move, and for packets that have not left their
    /// host.
    fn waiting_packets(&mut self) -> Vec<Option<AwaitedLanes>> {
        let count = self.packets.ids().map(|id| id.0 as usize + 1).max().unwrap_or(0);
        let mut found: Vec<Option<AwaitedLanes>> = (0..count).map(|_| None).collect();
        let waiting_heads: HashSet<u32> = self.waiting_heads.iter().flatten().copied().collect();
        for at in 0..self.buffers.len() as u32 {
            let buffer = self.buffers[at as usize];
            let is_host_queue = self.is_host_queue(at);
            if buffer.front == NONE || (!is_host_queue && self.node_of(at) >= self.wiring.switches()) {
                continue;
            }
            if !is_host_queue {
                for (packet, _) in &self.queued[at as usize] {
                    found[packet.0 as usize] = Some(vec![(at, buffer.front)]);
                }
            }
            if !buffer.has_head {
                // The head of the front packet is further on.
                continue;
            }
            let awaited = if buffer.output != NONE {
                let next = &self.buffers[buffer.output as usize];
                (next.occupied >= next.capacity && next.front != NONE)
                    .then(|| vec![(buffer.output, next.front)])
            } else if !is_host_queue && waiting_heads.contains(&at) {
                let candidates = self.candidates(at);
                let outputs = candidates.iter().map(|l| self.buffer_of(*l));
                let awaited = outputs.map(|output| (output, self.holder(output, buffer.remaining))).collect();
                self.scratch.candidates = candidates;
                Some(awaited)
            } else {
                None
            };
            if awaited.is_some() {
                found[buffer.front as usize] = awaited;
            }
        }
        found
    }

    /// The packet that has to leave before a lane can be allocated, or [`NONE`] if it can be allocated now.
    fn holder(&self, lane: u32, phits: u32) -> u32 {
        let buffer = self.buffers[lane as usize];
        let is_wormhole = self.parameters.switching == Switching::Wormhole;
        // Without wormhole switching, the buffer that has the head has room for the whole packet. So a
        // packet whose head has left this buffer leaves it completely.
        if !is_wormhole && buffer.front != NONE && !buffer.has_head {
            return NONE;
        }
        if buffer.allocated_to != NONE {
            return self.buffers[buffer.allocated_to as usize].front;
        }
        if !is_wormhole && buffer.capacity - buffer.occupied < phits { buffer.front } else { NONE }
    }
}

/// By packet: whether it can move eventually.
fn can_move_eventually(waiting: &[Option<AwaitedLanes>]) -> Vec<bool> {
    // A packet without any lane to wait for is not deadlocked: it can be discarded or be given a path, and
    // then the packets behind it move.
    let mut can_move: Vec<bool> =
        waiting.iter().map(|lanes| lanes.as_ref().is_none_or(Vec::is_empty)).collect();
    // Repeat until nothing changes. There are few packets compared with phits, and this is done every few
    // thousand cycles.
    loop {
        let mut has_changed = false;
        for (i, lanes) in waiting.iter().enumerate() {
            let some_is_free = |lanes: &AwaitedLanes| {
                lanes.iter().any(|(_, holder)| *holder == NONE || can_move[*holder as usize])
            };
            if !can_move[i] && lanes.as_ref().is_some_and(some_is_free) {
                can_move[i] = true;
                has_changed = true;
            }
        }
        if !has_changed {
            return can_move;
        }
    }
}
