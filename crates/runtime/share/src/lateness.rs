//! How late a switcher was, and which quantum it can keep. Pure.

use serde::{Deserialize, Serialize};

/// How late switches were: counts by powers of the square root of 2 of microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    counts: Vec<u64>,
    /// The latest, ns.
    pub max_ns: u64,
}

const CLASSES: usize = 64;

impl Lateness {
    /// Notes one.
    pub fn note(&mut self, late_ns: u64) {
        self.counts.resize(CLASSES, 0);
        let class = 2.0 * (late_ns as f64 / 1000.0).max(1.0).log2();
        self.counts[(class as usize).min(CLASSES - 1)] += 1;
        self.max_ns = self.max_ns.max(late_ns);
    }

    /// How many were noted.
    pub fn switches(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The upper end of the class in which this part of all lies, ns.
    pub fn quantile_ns(&self, part: f64) -> u64 {
        let wanted = (self.switches() as f64 * part).ceil() as u64;
        let mut seen = 0;
        for (class, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return ((2f64.powf((class + 1) as f64 / 2.0) * 1000.0) as u64).min(self.max_ns);
            }
        }
        0
    }

    /// The shortest quantum of which a switcher that is so late loses little: ten times what nine of ten
    /// switches keep; whole milliseconds.
    pub fn shortest_quantum_ns(&self) -> u64 {
        const MILLISECOND: u64 = 1_000_000;
        const MOST: u64 = 100 * MILLISECOND;
        let wanted = self.quantile_ns(0.9) * 10;
        if wanted <= MILLISECOND {
            0
        } else {
            wanted.div_ceil(MILLISECOND).saturating_mul(MILLISECOND).min(MOST)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[(u64, usize)]) -> Lateness {
        let mut lateness = Lateness::default();
        for (late_us, how_often) in times {
            (0..*how_often).for_each(|_| lateness.note(late_us * 1000));
        }
        lateness
    }

    #[test]
    fn quantiles_are_upper_bounds_of_their_class() {
        let lateness = of(&[(40, 90), (3000, 10)]);
        let median = lateness.quantile_ns(0.5);
        assert!((40_000..60_000).contains(&median), "{median}");
        assert_eq!(lateness.quantile_ns(1.0), 3_000_000);
        assert_eq!(Lateness::default().quantile_ns(0.5), 0);
    }

    #[test]
    fn a_late_switcher_gets_a_longer_quantum() {
        assert_eq!(of(&[(60, 100)]).shortest_quantum_ns(), 0);
        let late = of(&[(2500, 100)]).shortest_quantum_ns();
        assert!((25_000_000..40_000_000).contains(&late), "{late}");
        assert_eq!(of(&[(80_000, 100)]).shortest_quantum_ns(), 100_000_000);
    }
}
