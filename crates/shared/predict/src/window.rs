//! Sets of identifiers: LRU, FIFO and LFU. They do not foresee the next one, they only say whether it is
//! among those that they hold.

use super::Identifier;

/// Which identifier goes when another one needs its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eviction {
    /// The one that was used least recently.
    LeastRecent,
    /// The one that came first.
    Oldest,
    /// The one that was used least often since it came, the oldest of several.
    LeastFrequent,
}

/// A set of at most `size` identifiers.
#[derive(Clone, Debug)]
pub struct Window {
    eviction: Eviction,
    size: usize,
    /// The one that goes first stands first, but for LFU, where it has the smallest count.
    held: Vec<(Identifier, u64)>,
}

impl Window {
    /// An empty one.
    pub fn new(eviction: Eviction, size: usize) -> Window {
        Window { eviction, size, held: Vec::with_capacity(size) }
    }

    /// Whether the identifier is among those held, and takes it in.
    pub fn hits(&mut self, identifier: Identifier) -> bool {
        if let Some(at) = self.held.iter().position(|(held, _)| *held == identifier) {
            self.held[at].1 += 1;
            if self.eviction == Eviction::LeastRecent {
                self.held[at..].rotate_left(1);
            }
            return true;
        }
        if self.held.len() >= self.size {
            let least = match self.eviction {
                Eviction::LeastRecent | Eviction::Oldest => 0,
                Eviction::LeastFrequent => {
                    let by_count = self.held.iter().enumerate().min_by_key(|(_, (_, count))| *count);
                    by_count.map_or(0, |(at, _)| at)
                }
            };
            if least < self.held.len() {
                self.held.remove(least);
            }
        }
        if self.size > 0 {
            self.held.push((identifier, 1));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(eviction: Eviction, size: usize, sequence: &[u64]) -> Vec<bool> {
        let mut window = Window::new(eviction, size);
        sequence.iter().map(|it| window.hits(*it)).collect()
    }

    #[test]
    fn each_evicts_what_its_name_says() {
        // 1 is used again before 3 needs room: LRU drops 2, FIFO drops 1, LFU drops 2.
        let sequence = [1, 2, 1, 3, 1];
        assert_eq!(hits(Eviction::LeastRecent, 2, &sequence), [false, false, true, false, true]);
        assert_eq!(hits(Eviction::Oldest, 2, &sequence), [false, false, true, false, false]);
        assert_eq!(hits(Eviction::LeastFrequent, 2, &sequence), [false, false, true, false, true]);
        // 1 is used often, 3 came last: LRU drops 1 for 4, LFU drops 2.
        let sequence = [1, 1, 2, 3, 4, 1];
        assert!(!hits(Eviction::LeastRecent, 3, &sequence)[5]);
        assert!(hits(Eviction::LeastFrequent, 3, &sequence)[5]);
        assert_eq!(hits(Eviction::LeastRecent, 0, &[1, 1]), [false, false]);
    }

    #[test]
    fn a_window_as_long_as_the_period_misses_only_once_each() {
        let sequence: Vec<u64> = (0..100).map(|it| it % 5).collect();
        for eviction in [Eviction::LeastRecent, Eviction::Oldest, Eviction::LeastFrequent] {
            assert_eq!(hits(eviction, 5, &sequence).iter().filter(|hit| **hit).count(), 95);
        }
        // The classic worst case of LRU and FIFO: one too small.
        assert!(hits(Eviction::LeastRecent, 4, &sequence).iter().all(|hit| !hit));
    }
}
