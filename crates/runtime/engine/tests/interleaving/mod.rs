//! Runs processes one step at a time, interleaved at random or in every possible order. Used by several
//! tests.

use evenkeel_random::Random;
use std::collections::HashSet;
use std::hash::Hash;

/// Processes with programs. A step of a process may be impossible for now, and it may reveal an error.
pub trait Interleaved {
    /// The state of all processes and of what is between them.
    type System: Clone + Eq + Hash;

    fn start(&self) -> Self::System;
    fn processes(&self) -> usize;
    /// Takes one step of process `me`. Returns false if it cannot take one now.
    fn step(&self, s: &mut Self::System, me: usize) -> Result<bool, String>;
    fn is_over(&self, s: &Self::System) -> bool;

    /// Runs one random interleaving, in which one process is often far ahead, and others take no step for
    /// long.
    fn run(&self, random: &mut Random) -> Result<(), String> {
        let (mut s, n) = (self.start(), self.processes());
        let (mut preferred, mut steps_left) = (0, 0);
        while !self.is_over(&s) {
            if steps_left == 0 {
                (preferred, steps_left) = (random.below(n), 1 + random.below(12));
            }
            steps_left -= 1;
            let first = if random.below(4) > 0 { preferred } else { random.below(n) };
            let mut moved = false;
            for me in (0..n).map(|i| (first + i) % n) {
                if self.step(&mut s, me)? {
                    moved = true;
                    break;
                }
            }
            if !moved {
                return Err("no process can take a step".into());
            }
        }
        Ok(())
    }

    /// Runs all interleavings. Returns how many states there are.
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
                return Err("no process can take a step".into());
            }
        }
        Ok(seen.len())
    }
}

/// Runs one random interleaving of each of `count` scenarios, which differ by the seed of their generator.
pub fn run_random<S: Interleaved>(count: u64, scenario: impl Fn(&mut Random) -> S) -> Result<(), String> {
    for seed in 1..=count {
        let mut random = Random::new(seed);
        scenario(&mut random).run(&mut random).map_err(|e| format!("seed {seed}: {e}"))?;
    }
    Ok(())
}
