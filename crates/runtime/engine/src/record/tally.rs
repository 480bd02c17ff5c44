//! Counting what happens, cheaply: the raw material of the record.
//!
//! Every wait is timed. Durations of calls, arrival stamps and what follows from them are taken from
//! one instance in sixty-four (the same ones on all ranks, drawn by a hash of the instance's number)
//! and of the first few, then scaled.

use crate::collective::call::Kind;
use evenkeel_record::{Histogram, OpRecord};
use std::sync::Mutex;

/// Whether instance `seq` is timed in full.
#[inline(always)]
pub fn is_sampled(seq: u64) -> bool {
    seq < 16 || seq.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58 == 0
}

/// Counters of one operation on one communicator.
#[derive(Clone)]
pub struct Tally {
    pub calls: u64,
    pub host_calls: u64,
    pub bytes: u64,
    pub wait_ns: u64,
    pub last: u64,
    /// Of sampled calls: time in the call that was not spent waiting.
    pub busy_ns: u64,
    pub samples: u64,
    /// From sampled instances that this rank combined or collected as root.
    pub saved_ns: u64,
    pub rooted: u64,
    pub rooted_sampled: u64,
    /// From sampled instances at which this rank came last.
    pub late_ns: u64,
    pub last_sampled: u64,
    /// Barriers that were not waited for, how many were pending at most, and for how long the program went
    /// on meanwhile where it would have waited.
    pub deferred: u64,
    pub ahead: u64,
    pub overlapped_ns: u64,
    pub latency: [u32; Histogram::BUCKETS],
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            calls: 0,
            host_calls: 0,
            bytes: 0,
            wait_ns: 0,
            last: 0,
            busy_ns: 0,
            samples: 0,
            saved_ns: 0,
            rooted: 0,
            rooted_sampled: 0,
            late_ns: 0,
            last_sampled: 0,
            deferred: 0,
            ahead: 0,
            overlapped_ns: 0,
            latency: [0; Histogram::BUCKETS],
        }
    }
}

impl Tally {
    /// Counts a call that was timed: its duration, and how much of it was spent waiting.
    pub fn sample(&mut self, ns: u64, waited_ns: u64) {
        self.samples += 1;
        self.busy_ns += ns.saturating_sub(waited_ns);
        self.latency[Histogram::bucket(ns)] += 1;
    }

    pub fn record(&self, kind: Kind, nonblocking: bool) -> OpRecord {
        let scaled = |sum: u64, of: u64, total: u64| (sum as u128 * total as u128 / of.max(1) as u128) as u64;
        let used = self.latency.iter().rposition(|&n| n > 0).map_or(0, |i| i + 1);
        OpRecord {
            op: format!("{}{}", if nonblocking { "i" } else { "" }, kind.name()),
            calls: self.calls,
            host_calls: self.host_calls,
            bytes: self.bytes,
            // Waits are all measured; what a call takes besides is scaled up from the sampled ones.
            time_ns: self.wait_ns + scaled(self.busy_ns, self.samples, self.calls),
            wait_ns: self.wait_ns,
            saved_ns: scaled(self.saved_ns, self.rooted_sampled, self.rooted),
            last: self.last,
            late_ns: scaled(self.late_ns, self.last_sampled, self.last),
            samples: self.samples,
            deferred: self.deferred,
            ahead: self.ahead,
            overlapped_ns: self.overlapped_ns,
            latency: Histogram { counts: self.latency[..used].iter().map(|&n| n as u64).collect() },
        }
    }
}

/// All operations of one communicator.
pub struct Tallies {
    slots: [Option<Box<Tally>>; 2 * Kind::COUNT],
}

impl Default for Tallies {
    fn default() -> Self {
        Tallies { slots: std::array::from_fn(|_| None) }
    }
}

impl Tallies {
    #[inline]
    pub fn of(&mut self, kind: Kind, nonblocking: bool) -> &mut Tally {
        self.slots[kind as usize + if nonblocking { Kind::COUNT } else { 0 }].get_or_insert_default()
    }

    pub fn records(&self) -> Vec<OpRecord> {
        let used = self.slots.iter().enumerate().filter_map(|(i, t)| Some((i, t.as_ref()?)));
        used.map(|(i, t)| t.record(Kind::ALL[i % Kind::COUNT], i >= Kind::COUNT)).collect()
    }
}

/// Waiting time over the run, in slices that double when the run outgrows them.
pub struct Timeline {
    inner: Mutex<(u64, Vec<u64>)>,
}

const SLICES: usize = 256;
const FIRST_SLICE_NS: u64 = 1_000_000;

impl Default for Timeline {
    fn default() -> Self {
        Timeline { inner: Mutex::new((FIRST_SLICE_NS, Vec::with_capacity(SLICES))) }
    }
}

impl Timeline {
    /// Adds a wait of `wait_ns` that ended `at_ns` after the start.
    pub fn add(&self, at_ns: u64, wait_ns: u64) {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        let (slice_ns, slices) = &mut *inner;
        while at_ns / *slice_ns >= SLICES as u64 {
            // In place: a wait may be one in the handler of a caught system call, where nothing may be
            // allocated.
            for i in 0..slices.len().div_ceil(2) {
                slices[i] = slices[2 * i] + slices.get(2 * i + 1).copied().unwrap_or(0);
            }
            slices.truncate(slices.len().div_ceil(2));
            *slice_ns *= 2;
        }
        // A wait that spans several slices is spread over them.
        let (mut end, mut rest) = (at_ns, wait_ns);
        loop {
            let slice = (end / *slice_ns) as usize;
            if slices.len() <= slice {
                slices.resize(slice + 1, 0);
            }
            let part = rest.min(end - slice as u64 * *slice_ns);
            slices[slice] += part;
            rest -= part;
            if rest == 0 || slice == 0 {
                break;
            }
            end = slice as u64 * *slice_ns - 1;
            rest = rest.saturating_sub(1);
        }
    }

    pub fn record(&self) -> evenkeel_record::Timeline {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        evenkeel_record::Timeline { slice_ns: inner.0, wait_ns: inner.1.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_sixty_four_is_sampled() {
        let n = (16..640_016).filter(|&s| is_sampled(s)).count();
        assert!((9_000..11_000).contains(&n), "{n}");
    }

    #[test]
    fn the_timeline_keeps_the_sum() {
        let t = Timeline::default();
        t.add(500_000, 400_000);
        t.add(10_000_000, 5_000_000);
        t.add(3_000_000_000, 1_000_000); // outgrows 256 ms several times
        let r = t.record();
        assert!(r.wait_ns.len() <= SLICES && r.slice_ns == 16_000_000);
        let sum: u64 = r.wait_ns.iter().sum();
        assert!((6_399_000..=6_400_000).contains(&sum), "{sum}");
    }
}
