//! A matrix in force: which slot is on in a quantum, and who has a core then. May use: identifiers, matrix,
//! strobes.

use crate::identifiers::{Core, JobId};
use crate::matrix::{Cell, Matrix};
use crate::strobes::{Quantum, Strobes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What all nodes must know alike: the matrix, and the quantum from which it holds.
///
/// Cells that are empty in the matrix go to jobs of other slots whose cores are all free there (alternative
/// slots). Slots take turns by their weights: in a round each has as many quanta as its weight says, spread
/// evenly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    from: Quantum,
    strobes: Strobes,
    round: Vec<usize>,
    cells: Vec<Arc<Vec<Option<Cell>>>>,
    slots_of: BTreeMap<JobId, Vec<usize>>,
}

impl Timetable {
    /// A copy of the matrix that holds from a quantum on. Takes time linear in slots times cells.
    pub fn new(matrix: &Matrix, strobes: Strobes, from: Quantum) -> Timetable {
        let mut timetable = Timetable {
            from,
            strobes,
            round: round(&(0..matrix.slots()).map(|slot| matrix.weight(slot)).collect::<Vec<u32>>()),
            cells: (0..matrix.slots()).map(|slot| Arc::clone(matrix.row(slot))).collect(),
            slots_of: matrix.placements().map(|p| (p.request.job, vec![p.slot])).collect(),
        };
        timetable.add_alternatives(matrix);
        timetable
    }

    /// The quantum from which it holds.
    pub fn from(&self) -> Quantum {
        self.from
    }

    /// When its quanta begin.
    pub fn strobes(&self) -> Strobes {
        self.strobes
    }

    /// How many slots it has.
    pub fn slots(&self) -> usize {
        self.cells.len()
    }

    /// The slots in their order; the quantum `q` has the element `q` modulo the length.
    pub fn round(&self) -> &[usize] {
        &self.round
    }

    /// The slot that is on in a quantum; none if there is no job.
    pub fn slot(&self, quantum: Quantum) -> Option<usize> {
        let length = self.round.len() as u64;
        (length > 0).then(|| self.round[(quantum.0 % length) as usize])
    }

    /// The rank that has a core while a slot is on.
    pub fn cell(&self, slot: usize, core: Core) -> Option<Cell> {
        self.cells.get(slot)?.get(core.0).copied().flatten()
    }

    /// The slots in which a job runs, its own first.
    pub fn slots_of(&self, job: JobId) -> &[usize] {
        self.slots_of.get(&job).map_or(&[], Vec::as_slice)
    }

    /// The share of time in which a job runs, from 0 to 1.
    pub fn share(&self, job: JobId) -> f64 {
        let slots = self.slots_of(job);
        let on = self.round.iter().filter(|slot| slots.contains(slot)).count();
        on as f64 / self.round.len().max(1) as f64
    }

    /// Each slot offers its free cells first to the jobs of the next slot, so that no job is favoured in all.
    fn add_alternatives(&mut self, matrix: &Matrix) {
        let slots = self.cells.len();
        for slot in 0..slots {
            let mut others: Vec<_> = matrix.placements().filter(|p| p.slot != slot).collect();
            others.sort_by_key(|p| ((p.slot + slots - slot) % slots, p.request.job));
            for placement in others {
                let job = placement.request.job;
                let row = &mut self.cells[slot];
                if placement.cores.iter().all(|core| row[core.0].is_none()) {
                    let row = Arc::make_mut(row);
                    for core in &placement.cores {
                        row[core.0] = matrix.cell(placement.slot, *core);
                    }
                    self.slots_of.entry(job).or_default().push(slot);
                }
            }
        }
    }
}

/// The order in which slots have their quanta: each as often as its weight, spread evenly. The slot that is
/// furthest behind its share comes next (smooth weighted round robin).
fn round(weights: &[u32]) -> Vec<usize> {
    let common = weights.iter().fold(0, |divisor, weight| greatest_common_divisor(divisor, *weight)).max(1);
    let weights: Vec<i64> = weights.iter().map(|weight| i64::from(weight / common)).collect();
    let total: i64 = weights.iter().sum();
    let mut behind = vec![0; weights.len()];
    let next = |_| {
        behind.iter_mut().zip(&weights).for_each(|(behind, weight)| *behind += weight);
        let slot = (0..behind.len()).rev().max_by_key(|slot| behind[*slot]).unwrap_or(0);
        behind[slot] -= total;
        slot
    };
    (0..total).map(next).collect()
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, Packing, Request};
    use evenkeel_random::Random;

    #[test]
    fn quanta_are_as_many_as_weights_and_spread_evenly() {
        assert_eq!(round(&[1, 1, 1]), [0, 1, 2]);
        assert_eq!(round(&[2, 1, 1]), [0, 1, 2, 0]);
        assert_eq!(round(&[6, 2]), [0, 0, 1, 0]);
        assert_eq!(round(&[]), []);
        let mut random = Random::new(4);
        for _ in 0..100 {
            let weights: Vec<u32> = (0..1 + random.below(6)).map(|_| 1 + random.below(9) as u32).collect();
            let (round, total) = (round(&weights), weights.iter().sum::<u32>() as usize);
            for (slot, weight) in weights.iter().enumerate() {
                let count = |part: &[usize]| part.iter().filter(|s| **s == slot).count();
                assert_eq!(count(&round) * total, *weight as usize * round.len());
                // After any number of quanta a slot is less than `slots` quanta from its share.
                for end in 0..round.len() {
                    let share = f64::from(*weight) * end as f64 / total as f64;
                    assert!((count(&round[..end]) as f64 - share).abs() < weights.len() as f64);
                }
            }
        }
    }

    fn timetable(matrix: &Matrix) -> Timetable {
        Timetable::new(matrix, Strobes::new(10), Quantum(0))
    }

    #[test]
    fn a_job_runs_in_other_slots_where_all_its_cores_are_free() {
        let mut matrix = Matrix::new(&[Machine::with_cores(4)], 4, Packing::FirstFit);
        for (job, ranks) in [(1, 4), (2, 2), (3, 2), (4, 3)] {
            matrix.place(Request::new(JobId(job), ranks)).unwrap();
        }
        matrix.remove(JobId(3));
        let timetable = timetable(&matrix);
        assert_eq!(timetable.slots(), 3);
        assert_eq!(timetable.slots_of(JobId(2)), [1]);
        let mut wide = Matrix::new(&[Machine::with_cores(4)], 4, Packing::FirstFit);
        for (job, ranks) in [(1, 2), (2, 1), (3, 3)] {
            wide.place(Request::new(JobId(job), ranks)).unwrap();
        }
        // Slot 0: jobs 1 and 2 on cores 0 to 2; slot 1: job 3 on cores 0 to 2.
        assert_eq!(Timetable::new(&wide, Strobes::new(10), Quantum(0)).share(JobId(2)), 0.5);
        wide.remove(JobId(1));
        wide.place(Request::new(JobId(4), 4)).unwrap();
        let shares =
            [2, 3, 4].map(|job| Timetable::new(&wide, Strobes::new(1), Quantum(0)).share(JobId(job)));
        assert_eq!(shares, [1.0 / 3.0; 3]);
    }

    #[test]
    fn alternatives_conflict_with_nothing() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut matrix = Matrix::new(&[Machine::with_cores(8)], 5, Packing::Buddy);
            for job in 0..20 {
                let weight = 1 + random.below(2) as u32;
                let _ = matrix.place(Request { weight, ..Request::new(JobId(job), 1 + random.below(8)) });
                matrix.remove(JobId(random.less_than(20)));
            }
            let timetable = timetable(&matrix);
            let mut filled = 0;
            for placement in matrix.placements() {
                let slots = timetable.slots_of(placement.request.job);
                assert_eq!(slots[0], placement.slot);
                filled += slots.len() * placement.cores.len();
                for slot in slots {
                    for core in &placement.cores {
                        assert_eq!(timetable.cell(*slot, *core), matrix.cell(placement.slot, *core));
                    }
                }
                // Where a job does not run, at least one of its cores has another rank.
                for slot in (0..timetable.slots()).filter(|slot| !slots.contains(slot)) {
                    assert!(placement.cores.iter().any(|core| timetable.cell(slot, *core).is_some()));
                }
            }
            let cells = timetable.cells.iter().flat_map(|row| row.iter()).flatten().count();
            assert_eq!(cells, filled);
        }
    }
}
