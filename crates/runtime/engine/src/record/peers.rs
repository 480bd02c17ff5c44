//! Sums by peer: which ranks a rank waited for, and which came last.

use evenkeel_record::PeerRecord;

/// One peer's sums.
#[derive(Clone, Copy, Default)]
struct PeerSum {
    times: u64,
    ns: u64,
}

/// Sums by member of a communicator. All memory is allocated at the beginning, because a rank may also wait
/// in the handler of a caught system call.
#[derive(Clone)]
pub struct Peers(Box<[PeerSum]>);

impl Peers {
    /// Sums for so many members.
    pub fn new(members: usize) -> Peers {
        Peers(vec![PeerSum::default(); members].into())
    }

    /// Adds a time to a member's sum. Ignores ranks beyond the members.
    pub fn add(&mut self, member: usize, ns: u64) {
        if let Some(sum) = self.0.get_mut(member) {
            sum.times += 1;
            sum.ns += ns;
        }
    }

    /// The sums in the form that the report needs. The ranks are those of the communicator.
    pub fn record(&self) -> Vec<PeerRecord> {
        let used = self.0.iter().enumerate().filter(|(_, sum)| sum.times > 0);
        used.map(|(rank, sum)| PeerRecord { rank: rank as u32, times: sum.times, ns: sum.ns }).collect()
    }
}
