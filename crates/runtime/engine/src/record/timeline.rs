//! Waiting time over the course of a run.

use std::sync::Mutex;

/// Waiting time over the run, in slices whose length doubles when the run outgrows them.
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
            // In place, because nothing may be allocated in the handler of a caught system call, which may
            // wait.
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

    /// The timeline in the form that the report needs.
    pub fn record(&self) -> evenkeel_record::Timeline {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        evenkeel_record::Timeline { slice_ns: inner.0, wait_ns: inner.1.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
