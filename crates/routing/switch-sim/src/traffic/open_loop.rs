//! Open-loop traffic: hosts that send at random times, whatever happens to earlier messages.

use super::destinations::Destinations;
use super::length::Length;
use super::pattern::Pattern;
use crate::packet::Packet;
use crate::simulator::{NewPacket, Workload};
use crate::wiring::Wiring;
use evenkeel_route::{EndNodeId, Random};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What hosts send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// To which hosts.
    pub pattern: Pattern,
    /// Lengths of messages.
    pub length: Length,
    /// The offered load, in phits per cycle and sending host. Times between messages are exponentially
    /// distributed.
    pub load: f64,
    /// Destinations of each message. With more than one, the host gives the message to its interface once,
    /// and the interface sends the copies (multi-send). They follow each other without a gap, and each
    /// counts as load.
    pub copies: u32,
    /// Seed of the random choices.
    pub seed: u64,
}

/// Open-loop traffic on a network, and totals of what has arrived.
pub struct OpenLoop {
    traffic: Traffic,
    destinations: Destinations,
    /// By host: its random numbers, and when it wants to send next.
    hosts: Vec<(Random, f64)>,
    /// When hosts send next: the cycle and the host.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    pub(crate) totals: DeliveryTotals,
}

/// Totals of the packets that have arrived since the totals were last taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeliveryTotals {
    pub phits: u64,
    pub packets: u64,
    /// Sums over packets, in cycles.
    pub latency: f64,
    pub network_latency: f64,
    /// The longest latency of a packet.
    pub longest: u64,
}

impl OpenLoop {
    /// Traffic on a network, from cycle 0 on.
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
        OpenLoop { traffic, destinations, hosts, due, totals: DeliveryTotals::default() }
    }

    /// Number of hosts that send.
    pub fn senders(&self) -> u32 {
        (0..self.hosts.len() as u32).filter(|h| self.destinations.sends(EndNodeId(*h))).count() as u32
    }

    /// Returns the totals, and starts new ones.
    pub(crate) fn take_totals(&mut self) -> DeliveryTotals {
        std::mem::take(&mut self.totals)
    }

    /// Makes all hosts stop sending.
    pub fn stop(&mut self) {
        self.due.clear();
    }
}

impl Workload for OpenLoop {
    fn next_time(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |d| d.0.0)
    }

    fn generate(&mut self, now: u64, packets: &mut Vec<NewPacket>) {
        let copies = self.traffic.copies.max(1);
        while let Some(Reverse((at, host))) = self.due.peek().copied().filter(|d| d.0.0 <= now) {
            self.due.pop();
            let (random, next) = &mut self.hosts[host as usize];
            let phits = self.traffic.length.draw(random);
            for _ in 0..copies {
                let destination = self.destinations.draw(EndNodeId(host), random);
                packets.push(NewPacket { source: EndNodeId(host), destination, phits, tag: at });
            }
            *next +=
                random.exponential() * (self.traffic.length.mean() * f64::from(copies) / self.traffic.load);
            self.due.push(Reverse(((next.ceil() as u64).max(now + 1), host)));
        }
    }

    fn delivered(&mut self, now: u64, packet: &Packet, _packets: &mut Vec<NewPacket>) {
        self.totals.phits += u64::from(packet.phits);
        self.totals.packets += 1;
        let latency = now - packet.created;
        self.totals.latency += latency as f64;
        self.totals.network_latency += (now - packet.injected) as f64;
        self.totals.longest = self.totals.longest.max(latency);
    }
}
