//! Memory that operations use: which bytes, exactly.

use std::rc::Rc;

/// Runs of bytes of one element, and how far elements are apart.
#[derive(Debug)]
pub struct Shape {
    /// Displacement and length.
    pub runs: Vec<(i64, u64)>,
    /// From one element to the next.
    pub extent: i64,
}

/// Elements in memory.
#[derive(Clone, Debug)]
pub struct Region {
    address: i64,
    count: i64,
    shape: Rc<Shape>,
    /// The lowest byte, and the one behind the highest.
    pub low: i64,
    /// See `low`.
    pub high: i64,
}

/// Regions of more runs are not compared: nothing is said of them.
const MOST_RUNS: usize = 1 << 14;

impl Region {
    /// `None`: no bytes, or addresses that no process has.
    pub fn new(address: i64, count: i64, shape: &Rc<Shape>) -> Option<Region> {
        if count <= 0 {
            return None;
        }
        let used = || shape.runs.iter().filter(|(_, length)| *length > 0);
        let lowest = used().map(|(at, _)| *at).min()?;
        let highest = used().map(|(at, length)| at.saturating_add(*length as i64)).max()?;
        let last = (count - 1).checked_mul(shape.extent)?;
        let low = address.checked_add(lowest)?.checked_add(last.min(0))?;
        let high = address.checked_add(highest)?.checked_add(last.max(0))?;
        Some(Region { address, count, shape: Rc::clone(shape), low, high })
    }

    fn is_whole(&self) -> bool {
        match self.shape.runs.as_slice() {
            [(_, length)] => self.count == 1 || self.shape.extent == *length as i64,
            _ => false,
        }
    }

    /// All runs; `None`: too many.
    fn runs(&self) -> Option<Vec<(i64, i64)>> {
        if self.is_whole() {
            return Some(vec![(self.low, self.high)]);
        }
        let number = usize::try_from(self.count).ok()?.checked_mul(self.shape.runs.len())?;
        if number > MOST_RUNS {
            return None;
        }
        let mut all = Vec::with_capacity(number);
        for element in 0..self.count {
            let start = self.address + element * self.shape.extent;
            let used = self.shape.runs.iter().filter(|(_, length)| *length > 0);
            all.extend(used.map(|(at, length)| (start + at, start + at + *length as i64)));
        }
        all.sort_unstable();
        Some(all)
    }

    /// Whether both are known to have a byte in common.
    pub fn overlaps(&self, other: &Region) -> bool {
        if self.low >= other.high || other.low >= self.high {
            return false;
        }
        if self.is_whole() && other.is_whole() {
            return true;
        }
        let (Some(mine), Some(theirs)) = (self.runs(), other.runs()) else { return false };
        let (mut i, mut j) = (0, 0);
        while i < mine.len() && j < theirs.len() {
            if mine[i].0 < theirs[j].1 && theirs[j].0 < mine[i].1 {
                return true;
            }
            if mine[i].1 <= theirs[j].1 { i += 1 } else { j += 1 }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn overlaps_are_those_of_the_bytes_written_out() {
        let mut random = Random::new(5);
        let mut seen = [0; 2];
        for _ in 0..3000 {
            let mut draw = || {
                let mut at = 0;
                let runs = (0..1 + random.below(3)).map(|_| {
                    at += random.below(6) as i64;
                    let length = random.below(4) as u64;
                    let run = (at, length);
                    at += length as i64;
                    run
                });
                let runs: Vec<_> = runs.collect();
                let shape = Shape { extent: at + random.below(5) as i64, runs };
                (random.below(60) as i64, random.below(5) as i64, Rc::new(shape))
            };
            let bytes = |(address, count, shape): &(i64, i64, Rc<Shape>)| {
                let mut all = BTreeSet::new();
                for element in 0..*count {
                    for &(at, length) in &shape.runs {
                        let start = address + element * shape.extent + at;
                        all.extend(start..start + length as i64);
                    }
                }
                all
            };
            let (one, other) = (draw(), draw());
            let expected = !bytes(&one).is_disjoint(&bytes(&other));
            let regions = [&one, &other].map(|(address, count, shape)| Region::new(*address, *count, shape));
            let found = matches!(&regions, [Some(one), Some(other)] if one.overlaps(other));
            assert_eq!(found, expected, "{one:?} {other:?}");
            seen[usize::from(expected)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }
}
