//! How a rank spends its time, from samples of its line.
//!
//! A sample tells whether the rank is in a call of MPI, and in which. The time since the sample before counts
//! as spent there. So sums of many samples are right, single ones are not.
//!
//! Pure: times come in.

use evenkeel_segment::call_line::Glance;
use std::time::Duration;

/// Sums of one rank.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    last: Option<Duration>,
    /// In the stretch that [`Samples::take`] ends.
    sampled: Duration,
    inside: Duration,
    by_name: Vec<(u64, Duration)>,
    /// Since the beginning.
    inside_in_all: Duration,
    version: Option<u64>,
    /// When a sample first had this version.
    since: Duration,
}

/// How a rank has spent a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    /// The part of it in calls of MPI, from 0 to 1; None if there were no two samples.
    pub inside: Option<f64>,
    /// Address of the name of the call in which most of that time was spent.
    pub mostly_in: Option<u64>,
}

impl Samples {
    /// Adds a sample that was taken at this time.
    pub fn add(&mut self, at: Duration, glance: &Glance) {
        let stretch = self.last.map_or(Duration::ZERO, |last| at.saturating_sub(last));
        self.last = Some(at);
        self.sampled += stretch;
        if let Some(name) = glance.name {
            self.inside += stretch;
            self.inside_in_all += stretch;
            match self.by_name.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += stretch,
                None => self.by_name.push((name, stretch)),
            }
        }
        if self.version != Some(glance.version) {
            (self.version, self.since) = (Some(glance.version), at);
        }
    }

    /// Ends a stretch of time and says how it was spent.
    pub fn take(&mut self) -> Stretch {
        let whole = std::mem::take(&mut self.sampled).as_secs_f64();
        let inside = std::mem::take(&mut self.inside).as_secs_f64();
        let most = std::mem::take(&mut self.by_name).into_iter().max_by_key(|(_, sum)| *sum);
        Stretch {
            inside: (whole > 0.0).then(|| (inside / whole).clamp(0.0, 1.0)),
            mostly_in: most.map(|(name, _)| name),
        }
    }

    /// For how long all samples have found the rank in the same call, or in none.
    pub fn unchanged(&self) -> Duration {
        self.last.map_or(Duration::ZERO, |last| last - self.since)
    }

    /// The time in calls of MPI in all.
    pub fn inside_in_all(&self) -> Duration {
        self.inside_in_all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn glance(version: u64, name: Option<u64>) -> Glance {
        Glance { version, name, ..Glance::default() }
    }

    #[test]
    fn time_counts_where_the_sample_at_its_end_finds_the_rank() {
        let mut samples = Samples::default();
        assert_eq!(samples.take(), Stretch::default());
        samples.add(ms(1000), &glance(2, Some(7)));
        assert_eq!(samples.take().inside, None, "one sample is no stretch of time");
        samples.add(ms(1010), &glance(2, Some(7)));
        samples.add(ms(1020), &glance(4, None));
        samples.add(ms(1050), &glance(6, Some(8)));
        let stretch = samples.take();
        let percent = stretch.inside.map(|part| (part * 100.0).round());
        assert_eq!((percent, stretch.mostly_in), (Some(80.0), Some(8)));
        samples.add(ms(1060), &glance(8, None));
        assert_eq!(samples.take(), Stretch { inside: Some(0.0), mostly_in: None });
        assert_eq!(samples.inside_in_all(), ms(40));
    }

    #[test]
    fn a_version_that_stays_tells_for_how_long() {
        let mut samples = Samples::default();
        for at in [100, 200, 300] {
            samples.add(ms(at), &glance(2, Some(7)));
        }
        assert_eq!(samples.unchanged(), ms(200));
        samples.add(ms(400), &glance(6, Some(7)));
        assert_eq!(samples.unchanged(), ms(0), "the same function, but another call");
    }
}
