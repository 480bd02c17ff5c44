//! Links that lose, repeat and reorder packets.

use super::packet::Packet;
use evenkeel_random::Random;

/// How unreliable the links are: packets of a thousand.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Packets that never arrive.
    pub lost: u64,
    /// Packets that arrive twice.
    pub repeated: u64,
}

/// The packets in flight, each to or from the host on a port.
pub struct Medium {
    faults: Faults,
    random: Random,
    in_flight: Vec<(Direction, Packet)>,
    /// Repetitions, which may arrive much later.
    repetitions: Vec<(Direction, Packet)>,
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the host on this port.
    Up(usize),
    /// To the host on this port.
    Down(usize),
}

impl Medium {
    /// No packets in flight. The seed determines which packets are lost, repeated and reordered.
    pub fn new(faults: Faults, seed: u64) -> Medium {
        Medium { faults, random: Random::new(seed), in_flight: Vec::new(), repetitions: Vec::new() }
    }

    /// Sends a packet, which may be lost.
    pub fn send(&mut self, direction: Direction, packet: Packet) {
        if self.random.less_than(1000) >= self.faults.lost {
            self.in_flight.push((direction, packet));
        }
    }

    /// Delivers one of the packets in flight, chosen at random. The same packet may arrive once more,
    /// sooner or later. None if nothing is in flight.
    pub fn arrive(&mut self) -> Option<(Direction, Packet)> {
        if !self.repetitions.is_empty() && self.random.below(64) == 0 {
            let which = self.random.below(self.repetitions.len());
            return Some(self.repetitions.swap_remove(which));
        }
        if self.in_flight.is_empty() {
            return None;
        }
        let which = self.random.below(self.in_flight.len());
        let arrived = self.in_flight.swap_remove(which);
        if self.random.less_than(1000) < self.faults.repeated {
            self.repetitions.push(arrived);
        }
        Some(arrived)
    }

    /// A random number below `n`, from the same seed.
    pub fn draw(&mut self, n: u64) -> u64 {
        self.random.less_than(n)
    }
}
