//! Packets that can never move again.
//!
//! A packet can go on some day if its head is moving or being looked at, or if one of the lanes that it
//! may take is free, or is held by a packet that can go on. What is left when this has been followed to
//! its end is deadlocked, also while other traffic still flows.

use crate::parameters::Switching;
use crate::routing::{Lane, Routing};
use crate::simulator::buffer::NONE;
use crate::simulator::{Halt, Simulator};
use std::fmt;
use thiserror::Error;

/// Packets that wait for each other in a circle.
#[derive(Clone, Debug, Error, PartialEq)]
pub struct Deadlock {
    /// The cycle in which it was found.
    pub found: u64,
    /// Packets that can never move again.
    pub packets: usize,
    /// Each of these lanes is held by a packet that waits for the next one, the last by one that waits for
    /// the first.
    pub circle: Vec<Lane>,
    /// The same, for people.
    pub names: Vec<String>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "deadlock at cycle {}: {} packets wait for ever, among them the holders of these lanes, each for the next: {}, and again the first",
            self.found,
            self.packets,
            self.names.join("; ")
        )
    }
}

/// What a packet waits for: any one of these lanes, each with the packet that has to leave first (or none).
type Wait = Vec<(u32, u32)>;

impl<R: Routing> Simulator<R> {
    /// The deadlock, if there is one.
    pub fn no_deadlock(&mut self) -> Result<(), Halt> {
        let waiting = self.waiting();
        // Who has nowhere to go waits for nobody: it can be taken out, or be given a way, and then those
        // behind it go on.
        let mut alive: Vec<bool> =
            waiting.iter().map(|wait| wait.as_ref().is_none_or(Vec::is_empty)).collect();
        // Rounds until nothing changes: packets are few beside phits, and this is done every few thousand
        // cycles.
        loop {
            let mut changed = false;
            for (i, wait) in waiting.iter().enumerate() {
                let free =
                    |wait: &Wait| wait.iter().any(|(_, holder)| *holder == NONE || alive[*holder as usize]);
                if !alive[i] && wait.as_ref().is_some_and(free) {
                    alive[i] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let dead: Vec<usize> = (0..waiting.len()).filter(|i| !alive[*i]).collect();
        for start in &dead {
            let mut seen: Vec<(usize, u32)> = Vec::new();
            let mut at = *start;
            while let Some((lane, holder)) = waiting[at].as_ref().and_then(|wait| wait.first().copied()) {
                if let Some(first) = seen.iter().position(|(i, _)| *i == at) {
                    // The packets of the circle that lie in line in one lane wait for the same.
                    let mut circle: Vec<Lane> =
                        seen[first..].iter().map(|(_, lane)| self.lane_of(*lane)).collect();
                    circle.dedup();
                    if circle.len() > 1 && circle.first() == circle.last() {
                        circle.pop();
                    }
                    let names = circle
                        .iter()
                        .map(|l| format!("{}, lane {}", self.wiring.name(l.channel), l.lane))
                        .collect();
                    return Err(Deadlock { found: self.now, packets: dead.len(), circle, names }.into());
                }
                seen.push((at, lane));
                at = holder as usize;
            }
        }
        Ok(())
    }

    /// By packet: what it waits for; nothing for those that move, and those that have not left their host.
    fn waiting(&mut self) -> Vec<Option<Wait>> {
        let places = self.packets.ids().map(|id| id.0 as usize + 1).max().unwrap_or(0);
        let mut found: Vec<Option<Wait>> = (0..places).map(|_| None).collect();
        let pending: std::collections::HashSet<u32> = self.pending.iter().flatten().copied().collect();
        for at in 0..self.buffers.len() as u32 {
            let buffer = self.buffers[at as usize];
            let from_host = self.is_host_queue(at);
            if buffer.front == NONE || (!from_host && self.node_of(at) >= self.wiring.switches()) {
                continue;
            }
            if !from_host {
                for (packet, _) in &self.behind[at as usize] {
                    found[packet.0 as usize] = Some(vec![(at, buffer.front)]);
                }
            }
            if !buffer.whole {
                continue; // its head is farther on
            }
            let wait = if buffer.out != NONE {
                let beyond = &self.buffers[buffer.out as usize];
                (beyond.occupied >= beyond.capacity && beyond.front != NONE)
                    .then(|| vec![(buffer.out, beyond.front)])
            } else if !from_host && pending.contains(&at) {
                let wanted = self.wanted(at);
                let on = wanted
                    .iter()
                    .map(|l| self.buffer_of(*l))
                    .map(|out| (out, self.holder(out, buffer.left)))
                    .collect();
                self.scratch.candidates = wanted;
                Some(on)
            } else {
                None
            };
            if wait.is_some() {
                found[buffer.front as usize] = wait;
            }
        }
        found
    }

    /// The packet that has to leave before a lane can be taken; none if it can be taken now.
    fn holder(&self, out: u32, phits: u32) -> u32 {
        let lane = self.buffers[out as usize];
        // A whole packet fits into the buffer where its head is, so one whose head has gone on leaves for
        // certain.
        if self.parameters.switching != Switching::Wormhole && lane.front != NONE && !lane.whole {
            return NONE;
        }
        if lane.feeder != NONE {
            return self.buffers[lane.feeder as usize].front;
        }
        if self.parameters.switching != Switching::Wormhole && lane.capacity - lane.occupied < phits {
            lane.front
        } else {
            NONE
        }
    }
}
