//! A communicator's members, name and id.

use evenkeel_record::{CommRecord, OpRecord, PeerRecord};
use std::sync::{Mutex, PoisonError};

/// A communicator's members, name and id.
pub struct Identity {
    /// Identifies it in the record. For a node communicator this is the id of its block of the segment; 0
    /// means that it has none.
    pub id: u64,
    /// World ranks of the members, in rank order; -1 for a member of another world.
    pub members: Vec<i32>,
    /// This process's rank in it.
    pub me: usize,
    name: Mutex<String>,
}

impl Identity {
    /// The identity of a communicator without a name.
    pub fn new(id: u64, members: &[i32], me: usize) -> Identity {
        Identity { id, members: members.to_vec(), me, name: Mutex::default() }
    }

    /// The number of members.
    pub fn ranks(&self) -> usize {
        self.members.len()
    }

    /// Sets the name that reports use.
    pub fn set_name(&self, name: &str) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name.to_string();
    }

    /// Members of another world have no place in the record.
    fn to_world_ranks(&self, peers: &mut Vec<PeerRecord>) {
        peers.retain_mut(|peer| {
            let world = self.members.get(peer.rank as usize).and_then(|&rank| u32::try_from(rank).ok());
            world.is_some_and(|rank| {
                peer.rank = rank;
                true
            })
        });
    }

    /// Returns the record with these counters, or `None` if there are no counters.
    pub(crate) fn record(&self, mut ops: Vec<OpRecord>) -> Option<CommRecord> {
        if ops.is_empty() {
            return None;
        }
        for op in &mut ops {
            for peers in [&mut op.waited_for, &mut op.completed_for, &mut op.came_last] {
                self.to_world_ranks(peers);
            }
        }
        Some(CommRecord {
            id: format!("{:x}", self.id),
            name: self.name.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            members: self.members.iter().filter_map(|&rank| u32::try_from(rank).ok()).collect(),
            segment_bytes: 0,
            host_reason: String::new(),
            schedule: String::new(),
            ops,
        })
    }
}
