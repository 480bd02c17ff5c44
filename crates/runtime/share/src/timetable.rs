//! Whose turn it is. Pure but for [`now_ns`].

use serde::{Deserialize, Serialize};

/// The monotonic clock of this machine, ns: the same for all its processes.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Which jobs run in which slot: the slots are numbered from a time on, and repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timetable {
    /// From when it holds, and when its slot 0 begins, ns of the monotonic clock.
    pub from_ns: u64,
    /// How long a slot is, ns, at least 1.
    pub quantum_ns: u64,
    /// The jobs of each slot, by their numbers.
    pub slots: Vec<Vec<u64>>,
}

impl Timetable {
    /// Whether the job has its turn at this time. A job that is in no slot is not switched: it always has.
    pub fn has_turn(&self, job: u64, at_ns: u64) -> bool {
        !self.is_switched(job) || self.slots[self.slot(at_ns)].contains(&job)
    }

    /// Whether there are slots in which the job runs, and others.
    pub fn is_switched(&self, job: u64) -> bool {
        let with = self.slots.iter().filter(|slot| slot.contains(&job)).count();
        with > 0 && with < self.slots.len()
    }

    /// When the job's turn begins or ends next after this time.
    pub fn next_change(&self, job: u64, after_ns: u64) -> Option<u64> {
        if !self.is_switched(job) {
            return None;
        }
        let has_turn = self.has_turn(job, after_ns);
        let boundaries = (1..=self.slots.len() as u64 + 1).map(|n| self.boundary(after_ns, n));
        boundaries.into_iter().find(|at| self.has_turn(job, *at) != has_turn)
    }

    /// The beginning of the nth slot after the one of this time.
    pub fn boundary(&self, after_ns: u64, n: u64) -> u64 {
        let slots = after_ns.saturating_sub(self.from_ns) / self.quantum_ns;
        self.from_ns + (slots + n) * self.quantum_ns
    }

    fn slot(&self, at_ns: u64) -> usize {
        let slots = at_ns.saturating_sub(self.from_ns) / self.quantum_ns;
        (slots % self.slots.len() as u64) as usize
    }

    /// Whether it can be used: what stands in a file may be anything.
    pub(crate) fn is_valid(&self) -> bool {
        self.quantum_ns >= MIN_QUANTUM_NS && !self.slots.is_empty() && self.slots.len() <= MOST_SLOTS
    }
}

/// No slot is shorter than this, ns: switching would take longer than what runs between.
pub(crate) const MIN_QUANTUM_NS: u64 = 500_000;
const MOST_SLOTS: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn timetable(slots: &[&[u64]]) -> Timetable {
        let slots = slots.iter().map(|slot| slot.to_vec()).collect();
        Timetable { from_ns: 1000, quantum_ns: 10, slots }
    }

    #[test]
    fn turns_follow_the_clock() {
        let table = timetable(&[&[1], &[2]]);
        assert!(table.has_turn(1, 1000) && table.has_turn(1, 1009) && !table.has_turn(1, 1010));
        assert!(table.has_turn(2, 1019) && table.has_turn(1, 1020));
        assert_eq!(table.next_change(1, 1003), Some(1010));
        assert_eq!(table.next_change(1, 1010), Some(1020));
    }

    #[test]
    fn slots_of_one_job_in_a_row_are_one_turn() {
        let table = timetable(&[&[1], &[1], &[1], &[2]]);
        assert_eq!(table.next_change(1, 1000), Some(1030));
        assert_eq!(table.next_change(1, 1035), Some(1040));
        assert_eq!(table.next_change(2, 1005), Some(1030));
    }

    #[test]
    fn who_need_not_be_switched_is_not() {
        let alone = timetable(&[&[1]]);
        assert!(!alone.is_switched(1) && alone.has_turn(1, 5000) && alone.next_change(1, 5000).is_none());
        let beside = timetable(&[&[1, 2], &[1, 3]]);
        assert!(!beside.is_switched(1) && beside.is_switched(2));
        assert!(beside.has_turn(7, 1000), "a job that is in no slot always runs");
    }
}
