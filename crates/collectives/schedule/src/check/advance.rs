//! What a rank does next: enter an epoch, take a step, or leave with a result that must be right.

use super::clock::VectorClock;
use super::error::CheckError;
use super::execution::{Execution, Tally, read_error};
use super::terms::Term;
use crate::collective::{Collective, CombiningOrder};
use crate::step::{Place, Rank};

impl Execution<'_> {
    /// Lets a rank do the next thing: enter, take a step, or leave. False if it has to wait or is done.
    pub fn advance(&mut self, rank: Rank) -> Result<bool, CheckError> {
        if self.is_done(rank) {
            return Ok(false);
        }
        if !self.ranks[rank.0 as usize].inside {
            self.enter(rank)?;
            return Ok(true);
        }
        match self.next(rank) {
            None => self.leave(rank).map(|()| true),
            Some(step) => {
                self.check_bounds(rank, step)?;
                self.take_step(rank, step)
            }
        }
    }

    fn enter(&mut self, rank: Rank) -> Result<(), CheckError> {
        let now = self.tick(rank);
        let state = &mut self.ranks[rank.0 as usize];
        state.epoch += 1;
        state.inside = true;
        state.at = 0;
        state.depth = 0;
        self.tally[rank.0 as usize] = Tally::default();
        self.entered[rank.0 as usize].push(now);
        let epoch = state.epoch;
        let terms = &mut self.terms;
        let values: Vec<Term> =
            (0..state.memory.input.len() as u32).map(|i| terms.item(rank.0, i, epoch)).collect();
        state.memory.enter(now, |i| values[i as usize]).map_err(|error| read_error(rank, epoch, error))
    }

    /// Gives the output to the program, which reads it.
    fn leave(&mut self, rank: Rank) -> Result<(), CheckError> {
        let now = self.tick(rank);
        let me = rank.0 as usize;
        let (epoch, collective) = (self.ranks[me].epoch, self.schedule.algorithm.collective);
        let entered = |other: usize, clock: &VectorClock| {
            self.entered[other].get(epoch as usize - 1).is_some_and(|time| clock[other] >= *time)
        };
        let heard: Vec<bool> =
            (0..self.ranks.len()).map(|other| entered(other, &self.ranks[me].clock)).collect();
        if collective == Collective::Barrier {
            if let Some(missing) = heard.iter().position(|h| !h) {
                return Err(CheckError::LeftEarly { rank, epoch, missing: Rank(missing as u32) });
            }
        }
        let state = &mut self.ranks[me];
        self.tally[me].responders = heard.iter().filter(|h| **h).count() as u32 - 1;
        self.tally[me].depth = state.depth;
        state.inside = false;
        let length = state.memory.output.len() as u32;
        let bank = self.schedule.bank(epoch).0;
        let output = state
            .memory
            .read(now, bank, Place::output(0), length)
            .map_err(|error| read_error(rank, epoch, error))?;
        output.iter().enumerate().try_for_each(|(i, term)| self.verify(rank, epoch, i as u32, *term))?;
        if collective == Collective::Allreduce { self.verify_equal(rank, epoch, output) } else { Ok(()) }
    }

    /// Compares an element of an output with what the collective is defined to give.
    fn verify(&self, rank: Rank, epoch: u64, i: u32, term: Term) -> Result<(), CheckError> {
        let problem = &self.schedule.problem;
        let all: Vec<u32> = (0..problem.ranks).collect();
        let part = |i: u32| (i / problem.elements, i % problem.elements);
        let (ranks, element) = match self.schedule.algorithm.collective {
            Collective::Barrier => return Ok(()),
            Collective::Bcast => (vec![problem.root.0], i),
            Collective::Reduce | Collective::Allreduce => (all, i),
            Collective::Allgather | Collective::Gather => (vec![part(i).0], part(i).1),
            Collective::Scatter => (vec![problem.root.0], rank.0 * problem.elements + i),
            Collective::ReduceScatter => (all, rank.0 * problem.elements + i),
            Collective::Alltoall => (vec![part(i).0], rank.0 * problem.elements + part(i).1),
            Collective::Scan => (all[..=rank.0 as usize].to_vec(), i),
            Collective::Exscan => (all[..rank.0 as usize].to_vec(), i),
        };
        let found = self.terms.ranks(term);
        let in_order = match self.schedule.algorithm.order {
            CombiningOrder::Any => {
                let mut sorted = found.to_vec();
                sorted.sort_unstable();
                sorted == ranks
            }
            CombiningOrder::Fold => found == ranks && self.terms.is_fold(term),
            CombiningOrder::Ranks | CombiningOrder::Nothing => found == ranks,
        };
        if in_order && self.terms.element(term) == Some((element, epoch)) {
            return Ok(());
        }
        let wanted = format!(
            "element {element} of epoch {epoch} of ranks {ranks:?}, combined in the order of {:?}",
            self.schedule.algorithm.order
        );
        Err(CheckError::WrongData { rank, element: i, epoch, found: self.terms.show(term), wanted })
    }

    /// Compares an output with the first output of the same epoch: every rank must get the same grouping.
    fn verify_equal(&mut self, rank: Rank, epoch: u64, output: Vec<Term>) -> Result<(), CheckError> {
        let first = self.outputs[epoch as usize].get_or_insert_with(|| output.clone());
        match first.iter().zip(&output).position(|(a, b)| a != b) {
            None => Ok(()),
            Some(i) => {
                let (one, other) = (self.terms.show(first[i]), self.terms.show(output[i]));
                Err(CheckError::UnequalGrouping { rank, element: i as u32, epoch, one, other })
            }
        }
    }
}
