//! The matrix of slots and cores. May use: identifiers, packing, request.

use crate::identifiers::{Core, JobId, Rank};
use crate::packing::{Offer, Packing};
use crate::request::{Machine, PlaceError, Request};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A rank that has a core in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The job.
    pub job: JobId,
    /// The rank of the job.
    pub rank: Rank,
}

/// Where a job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// What the job asked for.
    pub request: Request,
    /// The slot of the job. Compaction changes it.
    pub slot: usize,
    /// The core of each rank. They never change.
    pub cores: Vec<Core>,
}

/// A row of the matrix.
#[derive(Clone, Debug)]
struct Row {
    weight: u32,
    cells: Arc<Vec<Option<Cell>>>,
}

impl Row {
    fn is_free(&self, cores: &[Core]) -> bool {
        cores.iter().all(|core| self.cells[core.0].is_none())
    }
}

/// Ousterhout's matrix: a row for each slot, a column for each core. The jobs of a row run at the same time;
/// rows take turns.
///
/// A core has at most one rank in a slot. All ranks of a job are in one slot. On each machine the jobs of all
/// slots together hold no more memory than it has.
///
/// A copy shares the rows that are not changed.
#[derive(Clone, Debug)]
pub struct Matrix {
    machines: Arc<Vec<Machine>>,
    used_bytes: Arc<Vec<u64>>,
    machine_of: Arc<Vec<usize>>,
    maximal_slots: usize,
    packing: Packing,
    rows: Vec<Row>,
    placements: BTreeMap<JobId, Arc<Placement>>,
}

impl Matrix {
    /// An empty matrix on these machines with at most this many slots (at least 1; with 1 it shares space,
    /// not time).
    pub fn new(machines: &[Machine], maximal_slots: usize, packing: Packing) -> Matrix {
        let machine_of =
            machines.iter().enumerate().flat_map(|(m, machine)| vec![m; machine.cores]).collect();
        Matrix {
            machines: Arc::new(machines.to_vec()),
            used_bytes: Arc::new(vec![0; machines.len()]),
            machine_of: Arc::new(machine_of),
            maximal_slots: maximal_slots.max(1),
            packing,
            rows: Vec::new(),
            placements: BTreeMap::new(),
        }
    }

    /// A matrix like this one without jobs.
    pub fn clone_empty(&self) -> Matrix {
        Matrix::new(&self.machines, self.maximal_slots, self.packing)
    }

    /// The cores of all machines.
    pub fn cores(&self) -> usize {
        self.machine_of.len()
    }

    /// The slots in use; none if there is no job.
    pub fn slots(&self) -> usize {
        self.rows.len()
    }

    /// The largest number of slots.
    pub fn maximal_slots(&self) -> usize {
        self.maximal_slots
    }

    /// The machines.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// The index of the machine that has a core.
    pub fn machine_of(&self, core: Core) -> usize {
        self.machine_of[core.0]
    }

    /// The share of time of a slot, relative to other slots.
    pub fn weight(&self, slot: usize) -> u32 {
        self.rows[slot].weight
    }

    /// Whether a place would be found for a job.
    pub fn fits(&self, request: &Request) -> bool {
        self.find(request).is_some()
    }

    /// The ranks that have the cores of a slot.
    pub(crate) fn row(&self, slot: usize) -> &Arc<Vec<Option<Cell>>> {
        &self.rows[slot].cells
    }

    /// The rank that has a core in a slot.
    pub fn cell(&self, slot: usize, core: Core) -> Option<Cell> {
        self.rows[slot].cells[core.0]
    }

    /// Where a job is, or none if it is not in the matrix.
    pub fn placement(&self, job: JobId) -> Option<&Placement> {
        self.placements.get(&job).map(Arc::as_ref)
    }

    /// All placements, by job.
    pub fn placements(&self) -> impl Iterator<Item = &Placement> {
        self.placements.values().map(Arc::as_ref)
    }

    /// Puts a job into a slot: one of its own weight if one has free cores, else a new one, else one of a
    /// greater weight. So a job never gets a smaller share than it asked for. Takes time linear in the
    /// cells.
    ///
    /// # Errors
    /// Says why the job does not fit; the matrix is unchanged then.
    pub fn place(&mut self, request: Request) -> Result<&Placement, PlaceError> {
        if request.ranks == 0 || request.weight == 0 {
            return Err(PlaceError::Empty);
        }
        if self.placements.contains_key(&request.job) {
            return Err(PlaceError::AlreadyPlaced);
        }
        let Some((slot, cores)) = self.find(&request) else { return Err(self.reason(&request)) };
        if slot == self.rows.len() {
            self.rows.push(Row { weight: request.weight, cells: Arc::new(vec![None; self.cores()]) });
        }
        if request.memory_bytes > 0 {
            let used_bytes = Arc::make_mut(&mut self.used_bytes);
            cores.iter().for_each(|core| used_bytes[self.machine_of[core.0]] += request.memory_bytes);
        }
        let placement = Placement { request, slot, cores };
        self.fill(&placement);
        Ok(self.placements.entry(request.job).or_insert(Arc::new(placement)))
    }

    /// Takes a job out, and unifies slots. False if it is not in the matrix.
    pub fn remove(&mut self, job: JobId) -> bool {
        let Some(placement) = self.placements.remove(&job) else { return false };
        let memory_bytes = placement.request.memory_bytes;
        if memory_bytes > 0 {
            let used_bytes = Arc::make_mut(&mut self.used_bytes);
            placement.cores.iter().for_each(|core| used_bytes[self.machine_of[core.0]] -= memory_bytes);
        }
        self.clear(&placement);
        self.compact();
        true
    }

    /// Moves jobs into earlier slots where their cores are free, and drops slots that are empty, so that the
    /// rest get longer turns. No rank changes its core. Slots get new numbers.
    fn compact(&mut self) {
        for slot in (1..self.rows.len()).rev() {
            let jobs: Vec<JobId> =
                self.placements.values().filter(|p| p.slot == slot).map(|p| p.request.job).collect();
            for job in jobs {
                let mut placement = (*self.placements[&job]).clone();
                let target = (0..slot).find(|target| {
                    let row = &self.rows[*target];
                    row.weight == self.rows[slot].weight && row.is_free(&placement.cores)
                });
                if let Some(target) = target {
                    self.clear(&placement);
                    placement.slot = target;
                    self.fill(&placement);
                    self.placements.insert(job, Arc::new(placement));
                }
            }
        }
        let is_used: Vec<bool> = (0..self.rows.len())
            .map(|slot| self.placements.values().any(|placement| placement.slot == slot))
            .collect();
        let new_number = |slot: usize| is_used[..slot].iter().filter(|used| **used).count();
        for placement in self.placements.values_mut() {
            let slot = new_number(placement.slot);
            if slot != placement.slot {
                Arc::make_mut(placement).slot = slot;
            }
        }
        let mut used = is_used.iter();
        self.rows.retain(|_| *used.next().unwrap_or(&false));
    }

    /// The slot and the cores where a job goes. The slot may be a new one.
    fn find(&self, request: &Request) -> Option<(usize, Vec<Core>)> {
        let limits: Vec<u64> = (0..self.machines.len()).map(|m| self.ranks_in_memory(m, request)).collect();
        let same = (0..self.rows.len()).filter(|slot| self.rows[*slot].weight == request.weight);
        let new = (self.rows.len() < self.maximal_slots).then_some(self.rows.len());
        let greater = (0..self.rows.len()).filter(|slot| self.rows[*slot].weight > request.weight);
        same.chain(new).chain(greater).find_map(|slot| {
            let row = self.rows.get(slot);
            let is_free =
                |core| request.allows(Core(core)) && row.is_none_or(|row| row.cells[core].is_none());
            let is_free: Vec<bool> = (0..self.cores()).map(is_free).collect();
            let offer = Offer { is_free: &is_free, machine_of: &self.machine_of, limits: &limits };
            self.packing.choose(&offer, request.ranks).map(|cores| (slot, cores))
        })
    }

    /// How many ranks of a job the free memory of a machine holds.
    fn ranks_in_memory(&self, machine: usize, request: &Request) -> u64 {
        let limit = self.machines[machine].memory_bytes;
        match limit.filter(|_| request.memory_bytes > 0) {
            Some(limit) => limit.saturating_sub(self.used_bytes[machine]) / request.memory_bytes,
            None => u64::MAX,
        }
    }

    /// Why a job does not fit.
    fn reason(&self, request: &Request) -> PlaceError {
        let empty = self.clone_empty();
        let without_memory = Request { memory_bytes: 0, ..*request };
        if empty.find(request).is_none() {
            PlaceError::NeverFits
        } else if self.find(&without_memory).is_some() {
            PlaceError::NoMemory
        } else {
            PlaceError::NoCores
        }
    }

    fn fill(&mut self, placement: &Placement) {
        let cells = Arc::make_mut(&mut self.rows[placement.slot].cells);
        for (rank, core) in placement.cores.iter().enumerate() {
            cells[core.0] = Some(Cell { job: placement.request.job, rank: Rank(rank) });
        }
    }

    fn clear(&mut self, placement: &Placement) {
        let cells = Arc::make_mut(&mut self.rows[placement.slot].cells);
        placement.cores.iter().for_each(|core| cells[core.0] = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cores(matrix: &Matrix, job: u64) -> Vec<usize> {
        matrix.placement(JobId(job)).unwrap().cores.iter().map(|core| core.0).collect()
    }

    fn slot(matrix: &Matrix, job: u64) -> usize {
        matrix.placement(JobId(job)).unwrap().slot
    }

    #[test]
    fn jobs_share_a_slot_where_they_fit_and_open_a_new_one_where_not() {
        let mut matrix = Matrix::new(&[Machine::with_cores(4)], 2, Packing::Buddy);
        for (job, ranks) in [(1, 2), (2, 4), (3, 2)] {
            matrix.place(Request::new(JobId(job), ranks)).unwrap();
        }
        assert_eq!([1, 2, 3].map(|job| slot(&matrix, job)), [0, 1, 0]);
        assert_eq!(cores(&matrix, 3), [2, 3]);
        assert_eq!(matrix.cell(0, Core(3)), Some(Cell { job: JobId(3), rank: Rank(1) }));
        assert_eq!(matrix.place(Request::new(JobId(4), 1)), Err(PlaceError::NoCores));
        assert_eq!(matrix.place(Request::new(JobId(4), 5)), Err(PlaceError::NeverFits));
        assert_eq!(matrix.place(Request::new(JobId(3), 1)), Err(PlaceError::AlreadyPlaced));
    }

    #[test]
    fn slots_are_unified_and_no_rank_moves() {
        let mut matrix = Matrix::new(&[Machine::with_cores(4)], 4, Packing::FirstFit);
        for (job, ranks) in [(1, 3), (2, 2), (3, 2), (4, 4)] {
            matrix.place(Request::new(JobId(job), ranks)).unwrap();
        }
        assert_eq!([1, 2, 3, 4].map(|job| slot(&matrix, job)), [0, 1, 1, 2]);
        let before = [cores(&matrix, 2), cores(&matrix, 3), cores(&matrix, 4)];
        assert!(matrix.remove(JobId(1)));
        assert_eq!(matrix.slots(), 2);
        assert_eq!([2, 3, 4].map(|job| slot(&matrix, job)), [1, 1, 0]);
        assert_eq!([cores(&matrix, 2), cores(&matrix, 3), cores(&matrix, 4)], before);
        assert!(!matrix.remove(JobId(1)));
    }

    #[test]
    fn memory_counts_over_all_slots_of_a_machine() {
        let machine = Machine { cores: 2, memory_bytes: Some(100) };
        let mut matrix = Matrix::new(&[machine, machine], 4, Packing::FirstFit);
        let request = |job, ranks| Request { memory_bytes: 60, ..Request::new(JobId(job), ranks) };
        // Each machine holds one rank of 60 bytes.
        matrix.place(request(1, 2)).unwrap();
        assert_eq!(cores(&matrix, 1), [0, 2]);
        assert_eq!(matrix.place(request(2, 1)), Err(PlaceError::NoMemory));
        assert_eq!(matrix.place(request(2, 3)), Err(PlaceError::NeverFits));
        matrix.place(Request { memory_bytes: 40, ..Request::new(JobId(3), 1) }).unwrap();
        matrix.remove(JobId(1));
        matrix.place(request(2, 2)).unwrap();
    }

    #[test]
    fn a_job_stays_within_its_cores() {
        let mut matrix = Matrix::new(&[Machine::with_cores(4)], 2, Packing::Buddy);
        let request =
            |job, ranks| Request { within: Some((Core(1), Core(3))), ..Request::new(JobId(job), ranks) };
        matrix.place(request(1, 2)).unwrap();
        matrix.place(request(2, 2)).unwrap();
        assert_eq!((cores(&matrix, 1), cores(&matrix, 2)), (vec![2, 3], vec![2, 3]));
        assert_eq!([1, 2].map(|job| slot(&matrix, job)), [0, 1]);
        assert_eq!(matrix.place(request(3, 4)), Err(PlaceError::NeverFits));
    }

    #[test]
    fn a_job_never_gets_a_smaller_share_than_it_asked_for() {
        let mut matrix = Matrix::new(&[Machine::with_cores(4)], 2, Packing::FirstFit);
        let request = |job, ranks, weight| Request { weight, ..Request::new(JobId(job), ranks) };
        matrix.place(request(1, 1, 1)).unwrap();
        matrix.place(request(2, 1, 3)).unwrap();
        matrix.place(request(3, 4, 2)).unwrap_err();
        matrix.place(request(4, 2, 2)).unwrap();
        assert_eq!([1, 2, 4].map(|job| slot(&matrix, job)), [0, 1, 1]);
        assert_eq!([matrix.weight(0), matrix.weight(1)], [1, 3]);
        assert_eq!(matrix.place(request(5, 1, 4)), Err(PlaceError::NoCores));
    }
}
