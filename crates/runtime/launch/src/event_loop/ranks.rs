//! All ranks of a job.

use super::rank::Rank;
use crate::pmi1::Client;
use rustix::process::Pid;
use std::ops::{Index, IndexMut};
use std::time::Instant;

/// By client number.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    all: Vec<Rank>,
    running: usize,
}

impl Ranks {
    /// Adds one that has been started.
    pub(super) fn add(&mut self, rank: Rank) {
        self.all.push(rank);
        self.running += 1;
    }

    /// How many there are, of which some may have ended.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn are_running(&self) -> bool {
        self.running > 0
    }

    /// The rank that runs as this process.
    pub(super) fn running_as(&self, pid: Pid) -> Option<Client> {
        self.all.iter().position(|rank| rank.runs_as(pid))
    }

    /// This one has ended, and has been waited for.
    pub(super) fn end(&mut self, client: Client) {
        self.all[client].has_ended();
        self.running -= 1;
    }

    /// All have.
    pub(super) fn end_all(&mut self) {
        self.all.iter_mut().for_each(Rank::has_ended);
        self.running = 0;
    }

    /// Sends a signal to those that run.
    pub(super) fn send(&self, number: i32) {
        self.all.iter().for_each(|rank| rank.send(number));
    }

    /// The number of the next group of spawned ranks.
    pub(super) fn next_group(&self) -> usize {
        self.all.last().map_or(1, |rank| rank.group + 1)
    }

    /// When the beginning of a line is to be shown next.
    pub(super) fn prompt_at(&self) -> Option<Instant> {
        self.all.iter().filter_map(Rank::prompt_at).min()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Rank> {
        self.all.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Rank> {
        self.all.iter_mut()
    }
}

impl Index<Client> for Ranks {
    type Output = Rank;

    fn index(&self, client: Client) -> &Rank {
        &self.all[client]
    }
}

impl IndexMut<Client> for Ranks {
    fn index_mut(&mut self, client: Client) -> &mut Rank {
        &mut self.all[client]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_that_has_ended_is_not_found_by_its_number_any_more() {
        let (mut ranks, pid) = (Ranks::default(), |number| Pid::from_raw(number).unwrap());
        for number in [71, 72, 73] {
            ranks.add(Rank::example(number).0);
        }
        assert_eq!((ranks.running_as(pid(72)), ranks.running_as(pid(74))), (Some(1), None));
        ranks.end(1);
        assert_eq!(ranks.running_as(pid(72)), None);
        assert!(ranks.are_running() && ranks.count() == 3);
        ranks.end_all();
        assert!(!ranks.are_running() && ranks.running_as(pid(71)).is_none());
    }
}
