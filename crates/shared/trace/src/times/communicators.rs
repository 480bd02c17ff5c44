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
    /// By both groups and which one of these it is.
    known: HashMap<(Groups, u32), u32>,
}

/// The members of both groups, in an order that both sides agree on.
type Groups = (Vec<i32>, Vec<i32>);

fn groups(comm: &Comm) -> Groups {
    let (own, remote) = (comm.members.clone(), comm.remote.clone());
    // The group that is not empty comes first: an intracommunicator has one.
    if remote.is_empty() || own <= remote { (own, remote) } else { (remote, own) }
}

impl Communicators {
    /// Compares those of all ranks.
    pub fn new(ranks: &[Times]) -> Communicators {
        let mut all = Communicators::default();
        for times in ranks {
            all.add(times);
        }
        all
    }

    /// Adds those of the next rank. Numbers that were given stay as they are.
    pub fn add(&mut self, times: &Times) {
        let place = self.numbers.len();
        let mut made: HashMap<Groups, u32> = HashMap::new();
        let mut numbers = Vec::new();
        for (order, comm) in times.comms.iter().enumerate() {
            let groups = groups(comm);
            let nth = made.entry(groups.clone()).or_default();
            let next = self.names.len() as u32;
            let number = *self.known.entry((groups, *nth)).or_insert(next);
            *nth += 1;
            if number == next {
                self.names.push(shown(order, number, comm, place));
            } else if !comm.name.is_empty() {
                self.names[number as usize].clone_from(&comm.name);
            }
            numbers.push(number);
        }
        self.numbers.push(numbers);
    }

    /// The number of a rank's communicator.
    pub fn number(&self, place: usize, comm: u32) -> u32 {
        self.numbers[place][comm as usize]
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.names.len()
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
