//! Processes one step at a time, interleaved at random or in every possible way. Used by more than one test.

use evenkeel_random::Random;
use std::collections::HashSet;
use std::hash::Hash;

/// Processes with programs, of which each step is possible or not, and wrong or not.
pub trait Interleaved {
    type System: Clone + Eq + Hash;

    fn start(&self) -> Self::System;
    fn processes(&self) -> usize;
    /// One step of process `me`; false if it can do none.
    fn step(&self, s: &mut Self::System, me: usize) -> Result<bool, String>;
    fn is_over(&self, s: &Self::System) -> bool;

    /// One random interleaving, in which one process is often far ahead, and the others are left alone for
    /// long.
    fn run(&self, random: &mut Random) -> Result<(), String> {
        let (mut s, n) = (self.start(), self.processes());
        let (mut favourite, mut patience) = (0, 0);
        while !self.is_over(&s) {
            if patience == 0 {
                (favourite, patience) = (random.below(n), 1 + random.below(12));
            }
            patience -= 1;
            let first = if random.below(4) > 0 { favourite } else { random.below(n) };
            let mut moved = false;
            for me in (0..n).map(|i| (first + i) % n) {
                if self.step(&mut s, me)? {
                    moved = true;
                    break;
                }
            }
            if !moved {
                return Err("nobody can go on".into());
            }
        }
        Ok(())
    }

    /// All interleavings; how many states there are.
    fn explore(&self) -> Result<usize, String> {
        let mut seen = HashSet::new();
        let mut open = vec![self.start()];
        while let Some(s) = open.pop() {
            if !seen.insert(s.clone()) {
                continue;
            }
            let mut moved = false;
            for me in 0..self.processes() {
                let mut next = s.clone();
                if self.step(&mut next, me)? {
                    moved = true;
                    open.push(next);
                }
            }
            if !moved && !self.is_over(&s) {
                return Err("nobody can go on".into());
            }
        }
        Ok(seen.len())
    }
}
