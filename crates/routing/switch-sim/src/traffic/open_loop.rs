//! Hosts that send without waiting for anything (an open loop), and what is measured of it.

use crate::simulator::packet::Packet;
use crate::simulator::{Post, Workload};
use crate::traffic::{Destinations, Length, Pattern};
use crate::wiring::Wiring;
use evenkeel_route::{EndNodeId, Random};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What hosts send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    pub pattern: Pattern,
    pub length: Length,
    /// Phits per cycle and sending host, as many as they want to send; times between messages are
    /// exponential.
    pub load: f64,
    /// Destinations of each message. Above 1 the host hands the message to its interface once, which makes
    /// the copies (multi-send): they follow each other without a gap, and the load counts each of them.
    pub copies: u32,
    pub seed: u64,
}

/// Traffic on a network, counting what arrives.
pub struct OpenLoop {
    traffic: Traffic,
    destinations: Destinations,
    /// By host: its random numbers, and when it wants to send next.
    hosts: Vec<(Random, f64)>,
    due: BinaryHeap<Reverse<(u64, u32)>>,
    pub(crate) tally: Tally,
}

/// Packets that have arrived since it was last taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub phits: u64,
    pub packets: u64,
    pub latency: f64,
    pub network_latency: f64,
    pub longest: u64,
}

impl OpenLoop {
    pub fn new(traffic: Traffic, wiring: &Wiring) -> OpenLoop {
        let destinations = Destinations::new(traffic.pattern, wiring);
        let mut hosts: Vec<(Random, f64)> =
            (0..wiring.hosts()).map(|h| (Random::stream(traffic.seed, h.into()), 0.0)).collect();
        let mut due = BinaryHeap::new();
        let gap = traffic.length.mean() * f64::from(traffic.copies.max(1)) / traffic.load;
        for (h, (random, next)) in
            hosts.iter_mut().enumerate().filter(|(h, _)| destinations.sends(EndNodeId(*h as u32)))
        {
            *next = random.exponential() * gap;
            if next.is_finite() {
                due.push(Reverse((next.ceil() as u64, h as u32)));
            }
        }
        OpenLoop { traffic, destinations, hosts, due, tally: Tally::default() }
    }

    /// How many hosts send.
    pub fn senders(&self) -> u32 {
        (0..self.hosts.len() as u32).filter(|h| self.destinations.sends(EndNodeId(*h))).count() as u32
    }

    /// No host sends any more.
    pub fn stop(&mut self) {
        self.due.clear();
    }
}

impl Workload for OpenLoop {
    fn next(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |d| d.0.0)
    }

    fn act(&mut self, now: u64, posts: &mut Vec<Post>) {
        let copies = self.traffic.copies.max(1);
        while let Some(Reverse((at, host))) = self.due.peek().copied().filter(|d| d.0.0 <= now) {
            self.due.pop();
            let (random, next) = &mut self.hosts[host as usize];
            let phits = self.traffic.length.draw(random);
            for _ in 0..copies {
                let destination = self.destinations.draw(EndNodeId(host), random);
                posts.push(Post { source: EndNodeId(host), destination, phits, tag: at });
            }
            *next +=
                random.exponential() * (self.traffic.length.mean() * f64::from(copies) / self.traffic.load);
            self.due.push(Reverse(((next.ceil() as u64).max(now + 1), host)));
        }
    }

    fn delivered(&mut self, now: u64, packet: &Packet, _posts: &mut Vec<Post>) {
        self.tally.phits += u64::from(packet.phits);
        self.tally.packets += 1;
        let latency = now - packet.created;
        self.tally.latency += latency as f64;
        self.tally.network_latency += (now - packet.injected) as f64;
        self.tally.longest = self.tally.longest.max(latency);
    }
}
