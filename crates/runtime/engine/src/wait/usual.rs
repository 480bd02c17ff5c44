//! How long something usually takes that does nothing, so that what takes longer has done something.

/// About how long it takes, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct UsualTime(pub u64);

impl UsualTime {
    /// Learns from one time, and returns whether it was longer than usual by more than `tolerance_ns`, by
    /// which times differ without a reason.
    pub fn note(&mut self, took_ns: u64, tolerance_ns: u64) -> bool {
        let is_unusual = took_ns > 2 * self.0 + tolerance_ns;
        self.0 = self.after(took_ns);
        is_unusual
    }

    /// It falls fast and rises slowly: where every time is long, for example because other processes use the
    /// cache between two of them, that becomes usual.
    fn after(self, took_ns: u64) -> u64 {
        if took_ns < self.0 {
            (self.0 + took_ns) / 2
        } else {
            self.0 + (took_ns - self.0).min(4 * self.0) / 16
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE_NS: u64 = 200;

    fn learnt(times: u64, took_ns: u64) -> UsualTime {
        let mut usual = UsualTime(1_000);
        for _ in 0..times {
            usual.note(took_ns, TOLERANCE_NS);
        }
        usual
    }

    fn is_unusual(mut usual: UsualTime, took_ns: u64) -> bool {
        usual.note(took_ns, TOLERANCE_NS)
    }

    #[test]
    fn a_call_that_takes_long_has_found_something() {
        let mut usual = learnt(20, 150);
        assert!(usual.0 < 160 && !is_unusual(usual, 400) && is_unusual(usual, 800));
        // One call in which the process was descheduled changes little.
        usual.note(4_000_000, TOLERANCE_NS);
        assert!(!is_unusual(usual, 400) && is_unusual(usual, 800));
    }

    #[test]
    fn what_every_call_takes_becomes_usual() {
        let mut usual = learnt(20, 150);
        let unusual = (0..1000).take_while(|_| usual.note(1_500, TOLERANCE_NS));
        assert!((5..20).contains(&unusual.count()));
    }

    #[test]
    fn half_of_the_calls_may_find_something_for_ever() {
        let mut usual = learnt(20, 150);
        for _ in 0..1000 {
            usual.note(150, TOLERANCE_NS);
            assert!(usual.note(2_000, TOLERANCE_NS));
        }
    }
}
