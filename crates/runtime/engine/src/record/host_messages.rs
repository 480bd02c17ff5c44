//! Point-to-point messages that the host library carries, and the time in all point-to-point calls. The front
//! end notes them, from any thread, if a report is to be written.

use super::tally::SHORTEST_WAIT_NS;
use evenkeel_record::{PeerRecord, TrafficRecord};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is noted about one peer.
#[derive(Default)]
struct PeerCounters {
    messages: AtomicU64,
    bytes: AtomicU64,
    waits: AtomicU64,
    wait_ns: AtomicU64,
}

/// A request of the host library's for a send or receive.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRequest {
    /// The front end's entry of the communicator, if it is needed to find out from where the message came.
    pub comm: *const c_void,
    /// World rank of the peer; negative if it is not known.
    pub peer: i32,
    /// Whether it sends.
    pub sends: bool,
    /// The bytes that it sends each time it is started.
    pub bytes: u64,
}

// SAFETY: the address is only handed back to the front end.
unsafe impl Send for HostRequest {}

/// Counters of the messages that the host library carries for this process.
pub struct HostMessages {
    /// By world rank; the last one is for peers that are not known.
    peers: Box<[PeerCounters]>,
    call_ns: AtomicU64,
    /// Requests that the program has, by their handles.
    requests: Mutex<HashMap<usize, HostRequest>>,
}

fn add(sum: &AtomicU64, n: u64) {
    sum.fetch_add(n, Ordering::Relaxed);
}

impl HostMessages {
    /// For a world of so many ranks.
    pub fn new(ranks: usize) -> HostMessages {
        HostMessages {
            peers: (0..=ranks).map(|_| PeerCounters::default()).collect(),
            call_ns: AtomicU64::new(0),
            requests: Mutex::default(),
        }
    }

    fn peer(&self, rank: i32) -> &PeerCounters {
        let unknown = self.peers.len() - 1;
        &self.peers[usize::try_from(rank).unwrap_or(unknown).min(unknown)]
    }

    /// Counts a message to a rank of the world; a negative one is not known.
    pub fn count_sent(&self, rank: i32, bytes: u64) {
        add(&self.peer(rank).messages, 1);
        add(&self.peer(rank).bytes, bytes);
    }

    /// Counts the time in a point-to-point call, also in those that evenkeel carries out.
    pub fn count_call(&self, ns: u64) {
        add(&self.call_ns, ns);
    }

    /// Counts a wait for a rank of the world; a negative one is not known. Returns false if the call was so
    /// short that it did not wait.
    pub fn count_wait(&self, rank: i32, ns: u64) -> bool {
        if ns < SHORTEST_WAIT_NS {
            return false;
        }
        add(&self.peer(rank).waits, 1);
        add(&self.peer(rank).wait_ns, ns);
        true
    }

    /// The requests that the program has, by their handles.
    pub fn requests(&self) -> MutexGuard<'_, HashMap<usize, HostRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time in point-to-point calls.
    pub fn call_ns(&self) -> u64 {
        self.call_ns.load(Ordering::Relaxed)
    }

    /// Time in waits for peers that are not known.
    pub fn wait_for_unknown_ns(&self) -> u64 {
        self.peer(-1).wait_ns.load(Ordering::Relaxed)
    }

    /// Messages that were sent, and their bytes.
    pub fn sent(&self) -> (u64, u64) {
        let sum = |field: fn(&PeerCounters) -> &AtomicU64| {
            self.peers.iter().map(|peer| field(peer).load(Ordering::Relaxed)).sum()
        };
        (sum(|peer| &peer.messages), sum(|peer| &peer.bytes))
    }

    fn known(&self) -> impl Iterator<Item = (u32, &PeerCounters)> {
        (0..).zip(&self.peers[..self.peers.len() - 1])
    }

    /// By peer: how often and how long this rank waited.
    pub fn waited_for(&self) -> Vec<PeerRecord> {
        let record = |(rank, peer): (u32, &PeerCounters)| PeerRecord {
            rank,
            times: peer.waits.load(Ordering::Relaxed),
            ns: peer.wait_ns.load(Ordering::Relaxed),
        };
        self.known().map(record).filter(|peer| peer.times > 0).collect()
    }

    /// By peer: what this rank sent to it.
    pub fn sent_to(&self) -> Vec<TrafficRecord> {
        let record = |(rank, peer): (u32, &PeerCounters)| TrafficRecord {
            rank,
            messages: peer.messages.load(Ordering::Relaxed),
            bytes: peer.bytes.load(Ordering::Relaxed),
        };
        self.known().map(record).filter(|peer| peer.messages > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_and_bytes_are_summed_up_by_peer() {
        let m = HostMessages::new(3);
        m.count_sent(2, 100);
        m.count_sent(2, 50);
        m.count_sent(-1, 7);
        assert!(m.count_wait(1, 5_000) && m.count_wait(-1, 2_000) && m.count_wait(77, 1_000));
        assert!(!m.count_wait(1, SHORTEST_WAIT_NS - 1), "such a call did not wait");
        assert_eq!(m.waited_for(), [PeerRecord { rank: 1, times: 1, ns: 5_000 }]);
        assert_eq!(m.sent_to(), [TrafficRecord { rank: 2, messages: 2, bytes: 150 }]);
        assert_eq!((m.sent(), m.wait_for_unknown_ns()), ((3, 157), 3_000));
    }
}
