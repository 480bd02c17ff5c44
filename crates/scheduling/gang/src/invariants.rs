//! What always holds of a matrix, checked without trust in how it was made. May use: matrix, identifiers.

use crate::identifiers::{Core, JobId, Rank};
use crate::matrix::{Cell, Matrix};

/// A rule that a matrix breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvariantError {
    /// A rank is not in the slot of its job on the core of its placement.
    #[error("rank {rank} of job {job} is not where the job was placed")]
    Misplaced {
        /// The job.
        job: JobId,
        /// The rank.
        rank: usize,
    },
    /// The cells are not exactly the ranks of the placed jobs.
    #[error("slot {slot} has cells of jobs that were not placed there")]
    Stray {
        /// The slot.
        slot: usize,
    },
    /// A slot has no job, or there are too many slots.
    #[error("slot {slot} is empty, or one too many")]
    Superfluous {
        /// The slot.
        slot: usize,
    },
    /// A slot gives a job a smaller share than it asked for.
    #[error("job {job} has a smaller share than it asked for")]
    SmallShare {
        /// The job.
        job: JobId,
    },
    /// The jobs on a machine hold more than its memory.
    #[error("the jobs on machine {machine} hold more than its memory")]
    Memory {
        /// The machine.
        machine: usize,
    },
}

impl Matrix {
    /// Checks the matrix: each core has at most one rank in a slot, all ranks of a job are in one slot on
    /// different cores, no slot is empty, weights and memory are kept. Takes time linear in the cells.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn check(&self) -> Result<(), InvariantError> {
        let mut placed = vec![0; self.slots()];
        let mut used = vec![0_u64; self.machines().len()];
        for placement in self.placements() {
            let (job, slot) = (placement.request.job, placement.slot);
            if slot >= self.slots() {
                return Err(InvariantError::Misplaced { job, rank: 0 });
            }
            for (rank, core) in placement.cores.iter().enumerate() {
                if self.cell(slot, *core) != Some(Cell { job, rank: Rank(rank) }) {
                    return Err(InvariantError::Misplaced { job, rank });
                }
                used[self.machine_of(*core)] += placement.request.memory_bytes;
            }
            if placement.cores.len() != placement.request.ranks {
                return Err(InvariantError::Misplaced { job, rank: placement.cores.len() });
            }
            if self.weight(slot) < placement.request.weight {
                return Err(InvariantError::SmallShare { job });
            }
            placed[slot] += placement.cores.len();
        }
        for (slot, placed) in placed.into_iter().enumerate() {
            if placed == 0 || slot >= self.maximal_slots() {
                return Err(InvariantError::Superfluous { slot });
            }
            let cells = (0..self.cores()).filter(|core| self.cell(slot, Core(*core)).is_some()).count();
            if cells != placed {
                return Err(InvariantError::Stray { slot });
            }
        }
        let limits = self.machines().iter().map(|machine| machine.memory_bytes.unwrap_or(u64::MAX));
        match used.into_iter().zip(limits).position(|(used, limit)| used > limit) {
            Some(machine) => Err(InvariantError::Memory { machine }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Core, JobId, Machine, Matrix, Packing, PlaceError, Request};
    use evenkeel_random::Random;

    fn random_machines(random: &mut Random) -> Vec<Machine> {
        (0..1 + random.below(4))
            .map(|_| Machine {
                cores: 1 + random.below(5),
                memory_bytes: (random.below(2) == 0).then(|| random.less_than(400)),
            })
            .collect()
    }

    #[test]
    fn random_sequences_keep_the_invariants() {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let packing = [Packing::Buddy, Packing::FirstFit][random.below(2)];
            let mut matrix = Matrix::new(&random_machines(&mut random), 1 + random.below(5), packing);
            let mut placed = Vec::new();
            for number in 0..120 {
                if random.below(5) < 3 {
                    let request = Request {
                        job: JobId(number),
                        ranks: 1 + random.below(matrix.cores() + 1),
                        memory_bytes: random.less_than(80),
                        weight: 1 + random.below(3) as u32,
                        within: (random.below(4) == 0)
                            .then(|| (Core(random.below(3)), Core(3 + random.below(9)))),
                    };
                    match matrix.place(request) {
                        Ok(_) => placed.push(JobId(number)),
                        Err(error) => assert_ne!(error, PlaceError::AlreadyPlaced),
                    }
                } else if !placed.is_empty() {
                    let job = placed.swap_remove(random.below(placed.len()));
                    assert!(matrix.remove(job));
                }
                matrix.check().unwrap();
                assert_eq!(matrix.placements().count(), placed.len());
            }
        }
    }

    #[test]
    fn a_job_that_never_fits_is_told_from_one_that_must_wait() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let machines = random_machines(&mut random);
            let mut matrix = Matrix::new(&machines, 2, Packing::Buddy);
            for job in 0..6 {
                let _ = matrix.place(Request::new(JobId(job), 1 + random.below(6)));
            }
            let memory_bytes = random.less_than(300);
            let request = Request { memory_bytes, ..Request::new(JobId(9), 1 + random.below(12)) };
            let Err(error) = matrix.place(request).map(|_| ()) else { continue };
            let mut empty = Matrix::new(&machines, 2, Packing::Buddy);
            assert_eq!(empty.place(request).is_ok(), error.is_temporary(), "seed {seed}");
        }
    }
}
