//! Which communicators of the ranks are one.

use crate::history::{Communicator, History};
use std::collections::HashMap;

/// Each communicator of the run has a number: those of one number have the same members, and are the n-th
/// with these members that each of the members has made. MPI wants them to be made in the same order.
#[derive(Clone, Debug, Default)]
pub struct Communicators {
    /// By rank, then by the number among the rank's.
    numbers: Vec<Vec<u32>>,
    /// By number: rank, and number among the rank's, of each member.
    members: Vec<Vec<(u32, u32)>>,
}

/// Both groups, in an order that both sides agree on.
fn groups(of: &Communicator) -> (&[i32], &[i32]) {
    let (own, remote) = (of.comm.members.as_slice(), of.comm.remote.as_slice());
    // The group that is not empty comes first: an intracommunicator has one.
    if remote.is_empty() || own <= remote { (own, remote) } else { (remote, own) }
}

impl Communicators {
    /// Compares those of all ranks.
    pub fn new(ranks: &[History]) -> Communicators {
        let mut all = Communicators::default();
        let mut known: HashMap<(&[i32], &[i32], u32), u32> = HashMap::new();
        for (rank, history) in ranks.iter().enumerate() {
            let mut made: HashMap<(&[i32], &[i32]), u32> = HashMap::new();
            let mut numbers = Vec::with_capacity(history.comms.len());
            for (own, of) in history.comms.iter().enumerate() {
                let (one, other) = groups(of);
                let nth = made.entry((one, other)).or_default();
                let number = *known.entry((one, other, *nth)).or_insert(all.members.len() as u32);
                *nth += 1;
                if number as usize == all.members.len() {
                    all.members.push(Vec::new());
                }
                all.members[number as usize].push((rank as u32, own as u32));
                numbers.push(number);
            }
            all.numbers.push(numbers);
        }
        all
    }

    /// The number of a rank's communicator.
    pub fn number(&self, rank: u32, comm: u32) -> u32 {
        self.numbers[rank as usize][comm as usize]
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// Ranks that have made it, and which of theirs it is.
    pub fn members(&self, number: u32) -> &[(u32, u32)] {
        &self.members[number as usize]
    }
}
