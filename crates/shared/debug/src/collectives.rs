//! Which calls were one collective.
//!
//! MPI wants the members of a communicator to call its collectives in the same order, so the n-th of one
//! member is the n-th of all.

use crate::place::Place;

/// A collective: its communicator, and the how many-th on it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    /// The communicator.
    pub comm: u32,
    /// Which one on it.
    pub nth: u32,
}

/// The collectives that a rank has called on a communicator.
#[derive(Clone, Debug, Default)]
pub struct Participant {
    /// The rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// In the order of calling.
    pub calls: Vec<Place>,
}

/// All collectives of a run.
#[derive(Clone, Debug, Default)]
pub struct Collectives {
    /// By communicator: its members, as far as they have called any, by rank.
    pub by_comm: Vec<Vec<Participant>>,
}

impl Collectives {
    /// The next collective of a rank. Ranks come one after the other.
    pub fn push(&mut self, comm: u32, rank: u32, place: Place) {
        if self.by_comm.len() <= comm as usize {
            self.by_comm.resize_with(comm as usize + 1, Vec::new);
        }
        let participants = &mut self.by_comm[comm as usize];
        if participants.last().is_none_or(|last| last.rank != rank) {
            participants.push(Participant { rank, calls: Vec::new() });
        }
        if let Some(last) = participants.last_mut() {
            last.calls.push(place);
        }
    }

    /// Calls of a collective, by rank; a member that did not come to it is missing.
    pub fn calls(&self, instance: Instance) -> impl Iterator<Item = (u32, Place)> {
        let members = self.by_comm.get(instance.comm as usize).map_or(&[][..], Vec::as_slice);
        let call = move |member: &Participant| Some((member.rank, *member.calls.get(instance.nth as usize)?));
        members.iter().filter_map(call)
    }

    /// How many collectives a communicator has had.
    pub fn count(&self, comm: u32) -> u32 {
        let members = self.by_comm.get(comm as usize).map_or(&[][..], Vec::as_slice);
        members.iter().map(|member| member.calls.len() as u32).max().unwrap_or(0)
    }

    /// The collective that a call of a rank was part of.
    pub fn instance(&self, comm: u32, rank: u32, place: Place) -> Option<Instance> {
        let members = self.by_comm.get(comm as usize)?;
        let member = &members[members.binary_search_by_key(&rank, |member| member.rank).ok()?];
        let nth = member.calls.binary_search(&place).ok();
        // Threads of a rank may have shared a communicator: then calls are not in the order of lanes.
        let nth = nth.or_else(|| member.calls.iter().position(|&call| call == place))?;
        Some(Instance { comm, nth: nth as u32 })
    }
}
