//! A set of small numbers that is emptied in constant time.

/// A set of numbers below a bound.
#[derive(Clone, Debug)]
pub struct VisitedSet {
    /// By number: the generation in which it was inserted last.
    generation_of: Vec<u32>,
    generation: u32,
}

impl VisitedSet {
    /// An empty set of numbers below `end`.
    pub fn new(end: usize) -> VisitedSet {
        VisitedSet { generation_of: vec![0; end], generation: 1 }
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.generation_of.fill(0);
            self.generation = 1;
        }
    }

    /// Inserts a number. Returns whether it was not in the set.
    pub fn insert(&mut self, number: u32) -> bool {
        std::mem::replace(&mut self.generation_of[number as usize], self.generation) != self.generation
    }
}
