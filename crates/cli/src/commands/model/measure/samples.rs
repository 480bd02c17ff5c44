//! `evenkeel model measure`: takes the times, has them digested, and tells.

use super::local::pass::{BLOCK, Scenario};
use super::local::ranks::Machine;
use super::local::signal_memory::now_ns;
use crate::errors::Failure;
use evenkeel_model::samples::{Quantity, Series};
use std::time::Duration;

/// What to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Numbers of peers.
    pub peers: Vec<usize>,
    /// Sizes of messages in bytes.
    pub sizes: Vec<usize>,
    pub passes: usize,
    /// Before each pass, so that caches and pipelines are as cold as in a program that does something else
    /// meanwhile.
    pub pause: Duration,
}

/// Turns of a pass, and turns before them that only warm up.
const TURNS: (u64, u64) = (200, 20);
/// The same where cores are shared: a turn takes a context switch for each rank.
const SHARED_TURNS: (u64, u64) = (40, 5);

/// 1 to 8 peers, then steps of about a quarter, up to `most`.
pub fn numbers_of_peers(most: usize) -> Vec<usize> {
    let mut peers: Vec<usize> = (1..=most.min(8)).collect();
    while let Some(&last) = peers.last().filter(|last| **last < most) {
        peers.push((last + last / 4).min(most));
    }
    peers
}

/// Whether six numbers of peers leave each rank a core, or six do not.
pub fn enough_for_lop(peers: &[usize], cores: usize) -> bool {
    let own = peers.iter().filter(|p| **p < cores).count();
    own >= 6 || peers.len() - own >= 6
}

/// Sizes of messages: one byte, then powers of four from a line to a MiB.
pub fn sizes() -> Vec<usize> {
    std::iter::once(1).chain((3..=10).map(|i| 1 << (2 * i))).collect()
}

/// Posts are shorter than the clock's steps. The mean of so many is not, since where they begin between
/// two steps is random.
pub const TOGETHER: usize = 20;

/// What reading the clock takes, in nanoseconds: pairs of readings, as finely as posts are timed.
pub fn clock_ns() -> f64 {
    let pair = || {
        let before = now_ns();
        now_ns() - before
    };
    let mut means = means(&(0..4000).map(|_| pair()).collect::<Vec<_>>(), TOGETHER);
    means.sort_by(f64::total_cmp);
    evenkeel_statistics::quantile(&means, 0.5)
}

/// Means of so many consecutive times each; what is left over at the end is not used, unless there is
/// nothing else.
fn means(times: &[u64], together: usize) -> Vec<f64> {
    let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len() as f64;
    if times.len() < together {
        times.chunks(times.len().max(1)).map(mean).collect()
    } else {
        times.chunks_exact(together).map(mean).collect()
    }
}

/// Series under construction.
pub struct Table {
    clock_ns: f64,
    posts_together: usize,
    pub series: Vec<Series>,
}

impl Table {
    /// `clock_ns`: what reading the clock takes. `posts_together`: of so many posts the mean is a sample.
    pub fn new(clock_ns: f64, posts_together: usize) -> Table {
        Table { clock_ns, posts_together, series: Vec::new() }
    }

    /// Adds a pass; each time without the clock's part, divided by `by`.
    pub fn add(
        &mut self,
        quantity: Quantity,
        peers: usize,
        bytes: usize,
        oversubscribed: bool,
        times: &[u64],
        by: f64,
    ) {
        let times = if quantity == Quantity::SendOverhead {
            means(times, self.posts_together)
        } else {
            times.iter().map(|ns| *ns as f64).collect()
        };
        let pass = times.iter().map(|ns| (ns - self.clock_ns).max(0.0) / by).collect();
        let (peers, bytes) = (peers as u32, bytes as u64);
        match self.series.iter_mut().find(|s| (s.quantity, s.peers, s.bytes) == (quantity, peers, bytes)) {
            Some(series) => series.passes.push(pass),
            None => self.series.push(Series { quantity, peers, bytes, oversubscribed, passes: vec![pass] }),
        }
    }
}

/// Takes all passes, one of each scenario after the other, so that what disturbs for a while disturbs
/// all a little. `progress` is told the share done.
pub fn samples(
    machine: &mut Machine,
    plan: &Plan,
    clock_ns: f64,
    mut progress: impl FnMut(f64),
) -> Result<Vec<Series>, Failure> {
    let mut table = Table::new(clock_ns, TOGETHER);
    let steps = plan.passes * (3 * plan.peers.len() + plan.sizes.len() + 2);
    let mut done = 0;
    let mut step = |progress: &mut dyn FnMut(f64)| {
        done += 1;
        progress(done as f64 / steps as f64);
        std::thread::sleep(plan.pause);
    };
    for _ in 0..plan.passes {
        for &peers in &plan.peers {
            let over = machine.shares(peers);
            let (turns, warm_up) = if over { SHARED_TURNS } else { TURNS };
            let each = peers as f64;
            step(&mut progress);
            let times = machine.run(Scenario::Exchange, peers, turns, warm_up, false)?;
            table.add(Quantity::RoundTrip, peers, 0, over, &times.whole, each);
            table.add(Quantity::SendOverhead, peers, 0, over, &times.posting, each);
            step(&mut progress);
            let times = machine.run(Scenario::Stamped, peers, turns, warm_up, false)?;
            table.add(Quantity::OneToMany, peers, 0, over, &times.to_last, 1.0);
            table.add(Quantity::ManyToOne, peers, 0, over, &times.from_last, 1.0);
            step(&mut progress);
            let times = machine.run(Scenario::Collect, peers, turns, warm_up, false)?;
            table.add(Quantity::ReceiveOverhead, peers, 0, over, &times.whole, each);
        }
        let over = machine.shares(1);
        step(&mut progress);
        let times = machine.run(Scenario::Stream, 1, 10, 1, false)?;
        table.add(Quantity::Gap, 1, 0, over, &times.whole, BLOCK as f64);
        for &bytes in &plan.sizes {
            step(&mut progress);
            let times = machine.run(
                Scenario::Letters { bytes },
                1,
                if bytes > 1 << 16 { 20 } else { 60 },
                5,
                false,
            )?;
            table.add(Quantity::Message, 1, bytes, over, &times.whole, 2.0);
        }
        step(&mut progress);
        let times = machine.run(Scenario::Exchange, 1, 100, 10, true)?;
        table.add(Quantity::Switch, 1, 0, true, &times.whole, 2.0);
    }
    Ok(table.series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_peers_grow_and_end_where_they_should() {
        assert_eq!(numbers_of_peers(1), [1]);
        assert_eq!(numbers_of_peers(7), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(numbers_of_peers(15), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15]);
        for most in 1..256 {
            let peers = numbers_of_peers(most);
            assert!(peers.last() == Some(&most) && peers.windows(2).all(|w| w[0] < w[1]) && peers.len() < 30);
        }
        assert!(enough_for_lop(&numbers_of_peers(6), 7) && enough_for_lop(&numbers_of_peers(7), 2));
        assert!(!enough_for_lop(&numbers_of_peers(5), 7) && !enough_for_lop(&numbers_of_peers(8), 4));
        assert_eq!(sizes(), [1, 64, 256, 1024, 4096, 16384, 65536, 262_144, 1_048_576]);
    }

    #[test]
    fn passes_of_one_kind_come_together_without_the_clock() {
        let mut table = Table::new(20.0, TOGETHER);
        table.add(Quantity::RoundTrip, 2, 0, true, &[220, 10], 2.0);
        table.add(Quantity::RoundTrip, 3, 0, true, &[320], 3.0);
        table.add(Quantity::RoundTrip, 2, 0, true, &[420], 2.0);
        assert_eq!(table.series.len(), 2);
        assert_eq!(table.series[0].passes, [vec![100.0, 0.0], vec![200.0]]);
        assert_eq!(table.series[1].passes, [vec![100.0]]);
        // Of posts means: 10 ns steps tell 2.5 ns.
        table.add(Quantity::SendOverhead, 2, 0, true, &[20, 30, 20, 30].repeat(12), 2.0);
        assert_eq!(table.series[2].passes, [vec![2.5; 2]]);
        assert_eq!((means(&[], TOGETHER), means(&[4, 6], TOGETHER)), (vec![], vec![5.0]));
    }
}
