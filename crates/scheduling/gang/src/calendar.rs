//! The timetables in force, one after the other. May use: identifiers, strobes, timetable.

use crate::identifiers::{Core, JobId};
use crate::matrix::Cell;
use crate::strobes::Quantum;
use crate::timetable::Timetable;
use std::collections::VecDeque;

/// A timetable that cannot be announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnouncementError {
    /// It would hold from a quantum before the start of one that was announced earlier.
    #[error("a later timetable was announced: the new one must not hold from an earlier quantum")]
    Earlier,
    /// Its first quantum does not begin when the previous timetable says.
    #[error("the first quantum of the timetable begins at another time than the previous timetable says")]
    Displaced,
}

/// Timetables in the order in which they hold. It answers who runs at a time.
///
/// Times are nanoseconds of the clock that the nodes share.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    timetables: VecDeque<Timetable>,
}

impl Calendar {
    /// A calendar in which no rank runs.
    pub fn new() -> Calendar {
        Calendar::default()
    }

    /// Adds a timetable that holds from its quantum on. One for the same quantum replaces the earlier one.
    ///
    /// # Errors
    /// The calendar is unchanged if the timetable does not come after those that are announced.
    pub fn announce(&mut self, timetable: Timetable) -> Result<(), AnnouncementError> {
        let from = timetable.from();
        if let Some(last) = self.timetables.back() {
            if from < last.from() {
                return Err(AnnouncementError::Earlier);
            }
            if timetable.strobes().start_ns(from) != last.strobes().start_ns(from) {
                return Err(AnnouncementError::Displaced);
            }
            if from == last.from() {
                self.timetables.pop_back();
            }
        }
        self.timetables.push_back(timetable);
        Ok(())
    }

    /// Drops the timetables that no longer hold at a time.
    pub fn forget_before(&mut self, time_ns: u64) {
        while self.timetables.get(1).is_some_and(|next| begin_ns(next) <= time_ns) {
            self.timetables.pop_front();
        }
    }

    /// The timetable that holds at a time; none before the first.
    pub fn timetable(&self, time_ns: u64) -> Option<&Timetable> {
        self.timetables.iter().rev().find(|timetable| begin_ns(timetable) <= time_ns)
    }

    /// The quantum at a time.
    pub fn quantum(&self, time_ns: u64) -> Option<Quantum> {
        Some(self.timetable(time_ns)?.strobes().quantum_at(time_ns))
    }

    /// The slot that is on at a time.
    pub fn slot(&self, time_ns: u64) -> Option<usize> {
        let timetable = self.timetable(time_ns)?;
        timetable.slot(timetable.strobes().quantum_at(time_ns))
    }

    /// Whether the gang of a job runs at a time.
    pub fn runs(&self, job: JobId, time_ns: u64) -> bool {
        let slot = self.slot(time_ns);
        slot.is_some_and(|slot| self.timetable(time_ns).is_some_and(|t| t.slots_of(job).contains(&slot)))
    }

    /// The rank that has a core at a time.
    pub fn cell(&self, core: Core, time_ns: u64) -> Option<Cell> {
        self.timetable(time_ns)?.cell(self.slot(time_ns)?, core)
    }

    /// The next time after this one at which another slot is on, or another timetable holds. None if there
    /// is no such time. Takes time linear in the length of a round.
    pub fn next_switch_ns(&self, time_ns: u64) -> Option<u64> {
        let next = self.timetables.iter().map(begin_ns).find(|begin_ns| *begin_ns > time_ns);
        let within = self.timetable(time_ns).and_then(|timetable| {
            let now = timetable.strobes().quantum_at(time_ns);
            (1..=timetable.round().len() as u64)
                .map(|later| Quantum(now.0 + later))
                .find(|later| timetable.slot(*later) != timetable.slot(now))
                .map(|later| timetable.strobes().start_ns(later))
        });
        within.into_iter().chain(next).min()
    }
}

fn begin_ns(timetable: &Timetable) -> u64 {
    timetable.strobes().start_ns(timetable.from())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, Matrix, Packing, Request, Strobes};

    fn matrix(jobs: &[(u64, usize, u32)]) -> Matrix {
        let mut matrix = Matrix::new(&[Machine::with_cores(4)], 4, Packing::Buddy);
        for (job, ranks, weight) in jobs {
            matrix.place(Request { weight: *weight, ..Request::new(JobId(*job), *ranks) }).unwrap();
        }
        matrix
    }

    #[test]
    fn a_new_matrix_holds_from_its_quantum() {
        let strobes = Strobes::new(10);
        let mut calendar = Calendar::new();
        assert_eq!((calendar.slot(0), calendar.next_switch_ns(0)), (None, None));
        calendar.announce(Timetable::new(&matrix(&[(1, 4, 1)]), strobes, Quantum(2))).unwrap();
        let longer = strobes.with_quantum_ns(Quantum(5), 40);
        calendar.announce(Timetable::new(&matrix(&[(1, 4, 1), (2, 4, 1)]), longer, Quantum(5))).unwrap();
        assert_eq!((calendar.slot(19), calendar.next_switch_ns(5)), (None, Some(20)));
        assert!(calendar.runs(JobId(1), 20) && calendar.runs(JobId(1), 49));
        assert_eq!(calendar.next_switch_ns(20), Some(50));
        // Quantum 5 is odd: the second of two slots.
        assert_eq!(
            (50..171).step_by(40).map(|t| calendar.slot(t).unwrap()).collect::<Vec<_>>(),
            [1, 0, 1, 0]
        );
        assert_eq!((calendar.quantum(89), calendar.quantum(90)), (Some(Quantum(5)), Some(Quantum(6))));
        assert_eq!(calendar.next_switch_ns(50), Some(90));
        assert_eq!(calendar.cell(Core(3), 60).map(|cell| cell.job), Some(JobId(2)));
        calendar.forget_before(60);
        assert_eq!((calendar.slot(49), calendar.slot(60)), (None, Some(1)));
    }

    #[test]
    fn timetables_that_do_not_follow_are_refused() {
        let mut calendar = Calendar::new();
        let empty = matrix(&[]);
        let at = |strobes, quantum| Timetable::new(&empty, strobes, Quantum(quantum));
        calendar.announce(at(Strobes::new(10), 4)).unwrap();
        assert_eq!(calendar.announce(at(Strobes::new(10), 3)), Err(AnnouncementError::Earlier));
        assert_eq!(calendar.announce(at(Strobes::new(11), 5)), Err(AnnouncementError::Displaced));
        calendar.announce(at(Strobes::new(10), 4)).unwrap();
        assert_eq!(calendar.timetables.len(), 1);
    }

    #[test]
    fn the_next_switch_is_the_first_time_at_which_the_slot_differs() {
        let strobes = Strobes::new(3);
        let mut calendar = Calendar::new();
        let jobs = [(1, 4, 3), (2, 4, 1), (3, 4, 2)];
        calendar.announce(Timetable::new(&matrix(&jobs), strobes, Quantum(1))).unwrap();
        for time_ns in 3..200 {
            let slot = calendar.slot(time_ns);
            let next = (time_ns + 1..).find(|later| calendar.slot(*later) != slot);
            assert_eq!(calendar.next_switch_ns(time_ns), next);
        }
    }
}
