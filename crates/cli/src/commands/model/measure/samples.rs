//! Samples of a measurement: which numbers of peers are measured, and how the times of passes become series.

use super::signal::now_ns;
use evenkeel_model::samples::{Quantity, Series};
use evenkeel_statistics::quantile;

/// Resampling is random, but the same samples give the same intervals.
pub const REDRAW_SEED: u64 = 1;

/// 1 to 8 peers, then steps of about a quarter, up to `most`.
pub fn numbers_of_peers(most: usize) -> Vec<usize> {
    let mut peers: Vec<usize> = (1..=most.min(8)).collect();
    while let Some(&last) = peers.last().filter(|last| **last < most) {
        peers.push((last + last / 4).min(most));
    }
    peers
}

/// Posts are shorter than the clock's steps. The mean of so many posts is a useful sample, because the
/// moments at which they begin are random between two steps.
pub const POSTS_PER_SAMPLE: usize = 20;

/// The time of a reading of the clock, in nanoseconds: the median of pairs of readings, as finely as posts
/// are timed.
pub fn clock_ns() -> f64 {
    let pair = || {
        let before = now_ns();
        now_ns() - before
    };
    let mut means = means(&(0..4000).map(|_| pair()).collect::<Vec<_>>(), POSTS_PER_SAMPLE);
    means.sort_by(f64::total_cmp);
    quantile(&means, 0.5)
}

/// The means of each `count` consecutive times. A rest at the end is left out, unless there is nothing else.
fn means(times: &[u64], count: usize) -> Vec<f64> {
    let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len() as f64;
    if times.len() < count {
        times.chunks(times.len().max(1)).map(mean).collect()
    } else {
        times.chunks_exact(count).map(mean).collect()
    }
}

/// What was timed in a pass.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// What the times are of.
    pub quantity: Quantity,
    /// Peers that took part.
    pub peers: usize,
    /// Bytes of a message; 0 for signals.
    pub bytes: usize,
    /// Whether ranks shared cores.
    pub oversubscribed: bool,
    /// Each time is that of so many.
    pub count: f64,
}

/// Series under construction.
pub struct SampleTable {
    clock_ns: f64,
    posts_per_sample: usize,
    /// One for each quantity, number of peers and size.
    pub series: Vec<Series>,
}

impl SampleTable {
    /// `clock_ns`: the time of a reading of the clock. `posts_per_sample`: of how many posts a sample is the
    /// mean.
    pub fn new(clock_ns: f64, posts_per_sample: usize) -> SampleTable {
        SampleTable { clock_ns, posts_per_sample, series: Vec::new() }
    }

    /// Adds a pass: each time without the clock's part, divided by `timed.count`.
    pub fn add(&mut self, timed: Timed, times: &[u64]) {
        let times = if timed.quantity == Quantity::SendOverhead {
            means(times, self.posts_per_sample)
        } else {
            times.iter().map(|ns| *ns as f64).collect()
        };
        let pass = times.iter().map(|ns| (ns - self.clock_ns).max(0.0) / timed.count).collect();
        let (peers, bytes) = (timed.peers as u32, timed.bytes as u64);
        let key = (timed.quantity, peers, bytes);
        match self.series.iter_mut().find(|series| (series.quantity, series.peers, series.bytes) == key) {
            Some(series) => series.passes.push(pass),
            None => self.series.push(Series {
                quantity: timed.quantity,
                peers,
                bytes,
                oversubscribed: timed.oversubscribed,
                passes: vec![pass],
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_peers_grow_up_to_the_most() {
        assert_eq!(numbers_of_peers(1), [1]);
        assert_eq!(numbers_of_peers(7), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(numbers_of_peers(15), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15]);
        for most in 1..256 {
            let peers = numbers_of_peers(most);
            assert!(peers.last() == Some(&most) && peers.windows(2).all(|w| w[0] < w[1]) && peers.len() < 30);
        }
    }

    #[test]
    fn passes_of_one_kind_become_one_series_without_the_clock() {
        let timed =
            |quantity, peers| Timed { quantity, peers, bytes: 0, oversubscribed: true, count: peers as f64 };
        let mut table = SampleTable::new(20.0, POSTS_PER_SAMPLE);
        table.add(timed(Quantity::RoundTrip, 2), &[220, 10]);
        table.add(timed(Quantity::RoundTrip, 3), &[320]);
        table.add(timed(Quantity::RoundTrip, 2), &[420]);
        assert_eq!(table.series.len(), 2);
        assert_eq!(table.series[0].passes, [vec![100.0, 0.0], vec![200.0]]);
        assert_eq!(table.series[1].passes, [vec![100.0]]);
        // Posts give means: steps of 10 ns tell 2.5 ns.
        table.add(timed(Quantity::SendOverhead, 2), &[20, 30, 20, 30].repeat(12));
        assert_eq!(table.series[2].passes, [vec![2.5; 2]]);
        assert_eq!((means(&[], POSTS_PER_SAMPLE), means(&[4, 6], POSTS_PER_SAMPLE)), (vec![], vec![5.0]));
    }
}
