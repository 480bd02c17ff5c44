//! What a core has seen of a fabric.

use serde::Serialize;

/// Times in ticks of the fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// From sending a message until all of it was there, in the order of arrival.
    pub messages: Vec<u64>,
    /// From sending a message until one of its frames was there.
    pub pieces: Vec<u64>,
    /// By iteration: when each host had all messages of it, and which.
    pub iterations: Vec<Vec<(u64, u32)>>,
    /// When the last message was there.
    pub end: u64,
}

impl Outcome {
    /// The most iterations that two hosts were apart at any time.
    pub fn farthest_apart(&self) -> u32 {
        let mut all: Vec<(u64, u32)> = self.iterations.iter().flatten().copied().collect();
        all.sort_unstable();
        let hosts = self.iterations.first().map_or(0, Vec::len);
        let mut done = vec![0_u32; hosts];
        let mut most = 0;
        let mut place = 0;
        while place < all.len() {
            // What happens in the same tick is not apart.
            let now = all[place].0;
            while let Some((_, host)) = all.get(place).filter(|a| a.0 == now) {
                done[*host as usize] += 1;
                place += 1;
            }
            let ends = (done.iter().max(), done.iter().min());
            if let (Some(ahead), Some(behind)) = ends {
                most = most.max(ahead - behind);
            }
        }
        most
    }
}

/// Of times, in what they were given in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Statistics {
    pub least: f64,
    pub mean: f64,
    pub most: f64,
    /// Standard deviation, of all of them.
    pub deviation: f64,
}

impl Statistics {
    /// Each value times `scale`. Panics without values.
    pub fn of(values: &[u64], scale: f64) -> Statistics {
        assert!(!values.is_empty(), "nothing was measured");
        let n = values.len() as f64;
        let mean = values.iter().map(|v| *v as f64).sum::<f64>() / n;
        let variance = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>() / n;
        let end = |f: fn(u64, u64) -> u64| values.iter().copied().reduce(f).unwrap_or(0) as f64 * scale;
        Statistics {
            least: end(u64::min),
            mean: mean * scale,
            most: end(u64::max),
            deviation: variance.sqrt() * scale,
        }
    }
}
