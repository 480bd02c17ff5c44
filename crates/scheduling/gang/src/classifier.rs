//! The class of a rank from what was measured. May use: thresholds.

use crate::thresholds::Thresholds;

/// The classes of flexible coscheduling (FCS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Coscheduled: the rank blocks often, and its partners answer soon when the gang runs. Also a rank of
    /// which nothing is known.
    #[default]
    CS,
    /// Frustrated: it blocks often, and waits long even when the gang runs.
    F,
    /// Don't care: it blocks so rarely that it needs no gang.
    DC,
}

/// What a rank did since the last sample, in slots where its gang ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// CPU time in ns, the waiting not included.
    pub cpu_ns: u64,
    /// Time in blocking calls in ns.
    pub waited_ns: u64,
    /// Blocking calls that ended.
    pub blocking_calls: u64,
}

/// The class of one rank, from samples, normally one at the end of each of its quanta.
///
/// The class changes only if several samples in a row say so by a margin. What was measured counts less and
/// less as time goes on. Constant memory, constant time.
///
/// ```
/// use evenkeel_gang::{Class, Classifier, Sample, Thresholds};
/// let mut classifier = Classifier::new(Thresholds::for_switch_cost_ns(20_000));
/// // Computes 10 ms between two calls: coarse.
/// for _ in 0..60 {
///     classifier.add(Sample { cpu_ns: 20_000_000, waited_ns: 100_000, blocking_calls: 2 });
/// }
/// assert_eq!(classifier.class(), Class::DC);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Classifier {
    thresholds: Thresholds,
    cpu_ns: f64,
    waited_ns: f64,
    calls: f64,
    seen_ns: u64,
    class: Class,
    proposed: Class,
    proposals: u32,
}

impl Classifier {
    /// A rank of which nothing is known: CS.
    pub const fn new(thresholds: Thresholds) -> Classifier {
        let class = Class::CS;
        Classifier {
            thresholds,
            cpu_ns: 0.0,
            waited_ns: 0.0,
            calls: 0.0,
            seen_ns: 0,
            class,
            proposed: class,
            proposals: 0,
        }
    }

    /// The class now.
    pub fn class(&self) -> Class {
        self.class
    }

    /// CPU time between two blocking calls in ns; infinite if there was no call.
    pub fn granularity_ns(&self) -> f64 {
        self.cpu_ns / self.calls
    }

    /// The share of its time that the rank waits, from 0 to 1.
    pub fn waiting_share(&self) -> f64 {
        let all_ns = self.cpu_ns + self.waited_ns;
        if all_ns > 0.0 { self.waited_ns / all_ns } else { 0.0 }
    }

    /// Takes a sample, and says the class.
    pub fn add(&mut self, sample: Sample) -> Class {
        // By time, not by samples: a quantum may be shorter than what a rank computes between two calls.
        let sample_ns = sample.cpu_ns as f64 + sample.waited_ns as f64;
        let kept = 0.5_f64.powf(sample_ns / self.thresholds.half_life_ns.max(1) as f64);
        self.cpu_ns = self.cpu_ns * kept + sample.cpu_ns as f64;
        self.waited_ns = self.waited_ns * kept + sample.waited_ns as f64;
        self.calls = self.calls * kept + sample.blocking_calls as f64;
        self.seen_ns = self.seen_ns.saturating_add(sample.cpu_ns).saturating_add(sample.waited_ns);
        if self.seen_ns < self.thresholds.warm_up_ns {
            return self.class;
        }
        let proposed = self.propose();
        self.proposals = if proposed == self.proposed { self.proposals.saturating_add(1) } else { 1 };
        self.proposed = proposed;
        if self.proposals >= self.thresholds.samples {
            self.class = proposed;
        }
        self.class
    }

    /// The class that the measured values ask for. The limits lie further away for the class that the rank
    /// has.
    fn propose(&self) -> Class {
        let limits = &self.thresholds;
        let away = |is_inside: bool| if is_inside { 1.0 - limits.margin } else { 1.0 + limits.margin };
        // One call at least: a rank that computes through its quanta is coarse by its CPU time.
        let calls = self.calls.max(1.0);
        let granularity_ns = self.cpu_ns / calls;
        if granularity_ns > limits.coarse_ns as f64 * away(self.class == Class::DC) {
            return Class::DC;
        }
        let pays_ns = limits.wait_share * granularity_ns + limits.wait_floor_ns as f64;
        if self.waited_ns / calls > pays_ns * away(self.class == Class::F) { Class::F } else { Class::CS }
    }
}

/// The classes by which the ranks of a job are scheduled: no rank is frustrated (F) beside coscheduled ones
/// (CS) unless it waits for at least the share of its time that the thresholds name as evidence. Otherwise
/// ranks that want their partners would wait for those that were sent away (a whole application lost 24%
/// so).
///
/// `ranks` has each rank's own class and the share of its time that it waits.
pub fn agree(ranks: &[(Class, f64)], thresholds: &Thresholds) -> Vec<Class> {
    let some_are_coscheduled = ranks.iter().any(|(class, _)| *class == Class::CS);
    let agreed = |(class, waits): &(Class, f64)| match class {
        Class::F if some_are_coscheduled && *waits < thresholds.evidence => Class::CS,
        class => *class,
    };
    ranks.iter().map(agreed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLDS: Thresholds = Thresholds::for_switch_cost_ns(20_000);
    const MS: u64 = 1_000_000;

    /// A rank whose every iteration computes and waits so long, in quanta of 25 ms.
    fn settle(classifier: &mut Classifier, cpu_ns: u64, waited_ns: u64, quanta: u32) -> Class {
        let calls = 25 * MS / (cpu_ns + waited_ns).max(1);
        let sample = Sample { cpu_ns: cpu_ns * calls, waited_ns: waited_ns * calls, blocking_calls: calls };
        (0..quanta).map(|_| classifier.add(sample)).last().unwrap()
    }

    #[test]
    fn the_classes_are_those_of_the_published_scenarios() {
        let class = |cpu_ms: u64, waited_us: u64| {
            settle(&mut Classifier::new(THRESHOLDS), cpu_ms * MS, waited_us * 1000, 100)
        };
        assert_eq!(class(3, 50), Class::CS);
        assert_eq!(class(2, 100), Class::CS);
        assert_eq!(class(6, 50), Class::DC);
        assert_eq!(class(12, 50), Class::DC);
        assert_eq!(class(3, 3_000), Class::F);
        assert_eq!(class(3, 9_000), Class::F);
    }

    #[test]
    fn the_length_of_a_quantum_does_not_matter() {
        for quantum_ns in [MS / 2, 2 * MS, 10 * MS, 100 * MS] {
            for (cpu_ns, waited_ns, expected) in
                [(3 * MS, 50_000, Class::CS), (3 * MS, 3 * MS, Class::F), (12 * MS, 0, Class::DC)]
            {
                let mut classifier = Classifier::new(THRESHOLDS);
                let (mut time_ns, period_ns) = (0, cpu_ns + waited_ns);
                while time_ns < 3000 * MS {
                    let ended = |time_ns: u64| time_ns / period_ns;
                    // The processor time of a rank that computes first in each period.
                    let computed = |time_ns: u64| ended(time_ns) * cpu_ns + (time_ns % period_ns).min(cpu_ns);
                    let cpu_ns = computed(time_ns + quantum_ns) - computed(time_ns);
                    let blocking_calls = ended(time_ns + quantum_ns) - ended(time_ns);
                    classifier.add(Sample { cpu_ns, waited_ns: quantum_ns - cpu_ns, blocking_calls });
                    time_ns += quantum_ns;
                }
                assert_eq!(classifier.class(), expected, "{quantum_ns} {cpu_ns}");
            }
        }
    }

    #[test]
    fn a_rank_that_never_blocks_becomes_dont_care() {
        let mut classifier = Classifier::new(THRESHOLDS);
        for _ in 0..19 {
            assert_eq!(classifier.add(Sample { cpu_ns: 25 * MS, ..Sample::default() }), Class::CS);
        }
        for _ in 0..3 {
            classifier.add(Sample { cpu_ns: 25 * MS, ..Sample::default() });
        }
        assert_eq!(classifier.class(), Class::DC);
        assert_eq!(classifier.granularity_ns(), f64::INFINITY);
    }

    #[test]
    fn a_rank_between_the_margins_keeps_its_class() {
        let mut classifier = Classifier::new(THRESHOLDS);
        // 4.5 ms is the limit: 5.4 ms to become coarse, 3.6 ms to become fine again.
        assert_eq!(settle(&mut classifier, 5 * MS, 0, 100), Class::CS);
        assert_eq!(settle(&mut classifier, 6 * MS, 0, 100), Class::DC);
        assert_eq!(settle(&mut classifier, 4 * MS, 0, 100), Class::DC);
        assert_eq!(settle(&mut classifier, 3 * MS, 0, 100), Class::CS);
    }

    #[test]
    fn one_odd_sample_changes_nothing() {
        let mut classifier = Classifier::new(THRESHOLDS);
        settle(&mut classifier, 3 * MS, 0, 100);
        for _ in 0..10 {
            assert_eq!(settle(&mut classifier, MS, 20 * MS, 1), Class::CS);
            assert_eq!(settle(&mut classifier, 3 * MS, 0, 5), Class::CS);
        }
        assert_eq!(settle(&mut classifier, MS, 20 * MS, 20), Class::F);
    }

    #[test]
    fn frustrated_ranks_beside_coscheduled_ones_need_evidence() {
        let agreed =
            agree(&[(Class::CS, 0.1), (Class::F, 0.3), (Class::F, 0.6), (Class::DC, 0.0)], &THRESHOLDS);
        assert_eq!(agreed, [Class::CS, Class::CS, Class::F, Class::DC]);
        let without = [(Class::F, 0.3), (Class::DC, 0.0)];
        assert_eq!(agree(&without, &THRESHOLDS), [Class::F, Class::DC]);
    }
}
