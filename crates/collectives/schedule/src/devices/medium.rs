//! Links that lose, repeat and reorder packets.

use super::packet::Packet;
use evenkeel_random::Random;

/// How bad the links are, in packets of a thousand.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub lost: u64,
    pub repeated: u64,
}

/// Packets on their way, each to or from a port's host.
pub struct Medium {
    faults: Faults,
    random: Random,
    flying: Vec<(Direction, Packet)>,
    /// Repetitions, which may come much later.
    repetitions: Vec<(Direction, Packet)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the host on this port.
    Up(usize),
    /// To the host on this port.
    Down(usize),
}

impl Medium {
    pub fn new(faults: Faults, seed: u64) -> Medium {
        Medium { faults, random: Random::new(seed), flying: Vec::new(), repetitions: Vec::new() }
    }

    /// Sends a packet off; it may come to nothing.
    pub fn send(&mut self, direction: Direction, packet: Packet) {
        if self.random.less_than(1000) >= self.faults.lost {
            self.flying.push((direction, packet));
        }
    }

    /// One of the packets arrives, any of them; perhaps it will once more, soon or late.
    pub fn arrive(&mut self) -> Option<(Direction, Packet)> {
        if !self.repetitions.is_empty() && self.random.below(64) == 0 {
            let which = self.random.below(self.repetitions.len());
            return Some(self.repetitions.swap_remove(which));
        }
        if self.flying.is_empty() {
            return None;
        }
        let which = self.random.below(self.flying.len());
        let arrived = self.flying.swap_remove(which);
        if self.random.less_than(1000) < self.faults.repeated {
            self.repetitions.push(arrived);
        }
        Some(arrived)
    }

    /// A number below `n`, from the same seed.
    pub fn draw(&mut self, n: u64) -> u64 {
        self.random.less_than(n)
    }
}
