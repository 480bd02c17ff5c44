//! Links that lose, repeat and reorder packets.

use super::packet::Packet;
use crate::check::drive::Draw;

/// How bad the links are, in packets of a thousand.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub lost: u64,
    pub repeated: u64,
}

/// Packets on their way, each to or from a port's host.
pub struct Medium {
    faults: Faults,
    draw: Draw,
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
        Medium { faults, draw: Draw(seed), flying: Vec::new(), repetitions: Vec::new() }
    }

    /// Sends a packet off; it may come to nothing.
    pub fn send(&mut self, direction: Direction, packet: Packet) {
        if self.draw.below(1000) >= self.faults.lost {
            self.flying.push((direction, packet));
        }
    }

    /// One of the packets arrives, any of them; perhaps it will once more, soon or late.
    pub fn arrive(&mut self) -> Option<(Direction, Packet)> {
        if !self.repetitions.is_empty() && self.draw.below(64) == 0 {
            let which = self.draw.below(self.repetitions.len() as u64) as usize;
            return Some(self.repetitions.swap_remove(which));
        }
        if self.flying.is_empty() {
            return None;
        }
        let which = self.draw.below(self.flying.len() as u64) as usize;
        let arrived = self.flying.swap_remove(which);
        if self.draw.below(1000) < self.faults.repeated {
            self.repetitions.push(arrived);
        }
        Some(arrived)
    }

    /// A number below `n`, from the same seed.
    pub fn draw(&mut self, n: u64) -> u64 {
        self.draw.below(n)
    }
}
