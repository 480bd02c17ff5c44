//! What happened to a program on a fabric.

use serde::Serialize;

/// What happened to a program. Times are in ticks of the fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// By message, in the order of arrival: time from sending until all of it had arrived.
    pub messages: Vec<u64>,
    /// By frame, in the order of arrival: time from sending its message until the frame had arrived.
    pub pieces: Vec<u64>,
    /// By iteration: when a host had all messages of the iteration, and which host.
    pub iterations: Vec<Vec<(u64, u32)>>,
    /// When the last message had arrived.
    pub end: u64,
}

impl Outcome {
    /// The greatest difference of iterations between two hosts at any time.
    pub fn farthest_apart(&self) -> u32 {
        let mut all: Vec<(u64, u32)> = self.iterations.iter().flatten().copied().collect();
        all.sort_unstable();
        let hosts = self.iterations.first().map_or(0, Vec::len);
        let mut done = vec![0_u32; hosts];
        let mut most = 0;
        let mut index = 0;
        while index < all.len() {
            // Events in the same tick count as simultaneous.
            let now = all[index].0;
            while let Some((_, host)) = all.get(index).filter(|a| a.0 == now) {
                done[*host as usize] += 1;
                index += 1;
            }
            let ends = (done.iter().max(), done.iter().min());
            if let (Some(ahead), Some(behind)) = ends {
                most = most.max(ahead - behind);
            }
        }
        most
    }
}
