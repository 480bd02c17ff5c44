//! Which communicators of the ranks are one.

use super::file::{Comm, Times};
use std::collections::HashMap;

/// Each communicator of the run has a number; those of one number have the same members, and are the n-th
/// with these members that each of the members was told of.
#[derive(Clone, Debug, Default)]
pub struct Communicators {
    /// By rank, then by the number in the rank's file.
    numbers: Vec<Vec<u32>>,
    /// By number: what is shown.
    names: Vec<String>,
}

/// Both groups, in an order that both sides agree on.
fn groups(comm: &Comm) -> (&[i32], &[i32]) {
    let (own, remote) = (comm.members.as_slice(), comm.remote.as_slice());
    // The group that is not empty comes first: an intracommunicator has one.
    if remote.is_empty() || own <= remote { (own, remote) } else { (remote, own) }
}

impl Communicators {
    /// Compares those of all ranks.
    pub fn new(ranks: &[Times]) -> Communicators {
        let mut all = Communicators::default();
        let mut known: HashMap<(&[i32], &[i32], u32), u32> = HashMap::new();
        for (place, times) in ranks.iter().enumerate() {
            let mut made: HashMap<(&[i32], &[i32]), u32> = HashMap::new();
            let mut numbers = Vec::new();
            for (order, comm) in times.comms.iter().enumerate() {
                let (one, other) = groups(comm);
                let nth = made.entry((one, other)).or_default();
                let next = all.names.len() as u32;
                let number = *known.entry((one, other, *nth)).or_insert(next);
                *nth += 1;
                if number == next {
                    all.names.push(shown(order, number, comm, place));
                } else if !comm.name.is_empty() {
                    all.names[number as usize].clone_from(&comm.name);
                }
                numbers.push(number);
            }
            all.numbers.push(numbers);
        }
        all
    }

    /// The number of a rank's communicator.
    pub fn number(&self, place: usize, comm: u32) -> u32 {
        self.numbers[place][comm as usize]
    }

    /// What is shown for a number.
    pub fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }
}

fn shown(order: usize, number: u32, comm: &Comm, place: usize) -> String {
    match order {
        _ if !comm.name.is_empty() => comm.name.clone(),
        0 => "MPI_COMM_WORLD".into(),
        1 => format!("MPI_COMM_SELF of rank {place}"),
        _ => {
            let ranks = comm.members.len() + comm.remote.len();
            format!("communicator {number} of {ranks} ranks")
        }
    }
}
