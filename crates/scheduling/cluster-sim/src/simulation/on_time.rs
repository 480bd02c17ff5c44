//! How long the slots of a job are on. May use: std.

use evenkeel_gang::{JobId, Timetable};

/// The time that a job has in the quanta of a timetable. A quantum is shorter by a switch if another slot
/// was on before it.
#[derive(Clone, Debug)]
pub struct OnTime {
    quantum_ns: u64,
    /// The time on before each quantum of a round, and that in the whole round.
    before_ns: Vec<u64>,
    /// What each quantum loses at its beginning; all of it if the job is off.
    lost_ns: Vec<u64>,
}

impl OnTime {
    /// The time of a job.
    pub fn new(timetable: &Timetable, job: JobId, quantum_ns: u64, switch_ns: u64) -> OnTime {
        let (round, slots) = (timetable.round(), timetable.slots_of(job));
        let is_on = |at: usize| slots.contains(&round[at]);
        let lost = |at: usize| match (is_on(at), is_on((at + round.len() - 1) % round.len())) {
            (false, _) => quantum_ns,
            (true, true) => 0,
            (true, false) => switch_ns.min(quantum_ns),
        };
        let lost_ns: Vec<u64> = (0..round.len()).map(lost).collect();
        let mut before_ns = vec![0];
        for lost_ns in &lost_ns {
            before_ns.push(before_ns[before_ns.len() - 1] + quantum_ns - lost_ns);
        }
        OnTime { quantum_ns, before_ns, lost_ns }
    }

    /// The time on from time 0 to a time, as if the timetable always held.
    pub fn until_ns(&self, time_ns: u64) -> u64 {
        let (length, all_ns) = (self.lost_ns.len() as u64, self.all_ns());
        if length == 0 {
            return 0;
        }
        let quantum = time_ns / self.quantum_ns;
        let at = (quantum % length) as usize;
        let within_ns = (time_ns % self.quantum_ns).saturating_sub(self.lost_ns[at]);
        quantum / length * all_ns + self.before_ns[at] + within_ns
    }

    /// When the job has been on for so long since a time; none if it is never on.
    pub fn after_ns(&self, time_ns: u64, on_ns: u64) -> Option<u64> {
        let all_ns = self.all_ns();
        if all_ns == 0 {
            return None;
        }
        let target_ns = self.until_ns(time_ns) + on_ns.max(1);
        // At least 1 ns of the target lies in the last round.
        let rounds = (target_ns - 1) / all_ns;
        let rest_ns = target_ns - rounds * all_ns;
        let at = self.before_ns.partition_point(|before_ns| *before_ns < rest_ns) - 1;
        let quantum = rounds * self.lost_ns.len() as u64 + at as u64;
        Some(quantum * self.quantum_ns + self.lost_ns[at] + rest_ns - self.before_ns[at])
    }

    /// The time on in a round.
    fn all_ns(&self) -> u64 {
        self.before_ns[self.before_ns.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_gang::{Machine, Matrix, Packing, Quantum, Request, Strobes};

    #[test]
    fn times_agree_with_a_count_of_every_nanosecond() {
        let mut matrix = Matrix::new(&[Machine::with_cores(1)], 3, Packing::FirstFit);
        for (job, weight) in [(1, 1), (2, 3), (3, 2)] {
            matrix.place(Request { weight, ..Request::new(JobId(job), 1) }).unwrap();
        }
        let timetable = Timetable::new(&matrix, Strobes::new(10), Quantum(0));
        for job in [1, 2, 3].map(JobId) {
            let on_time = OnTime::new(&timetable, job, 10, 3);
            let slot = |quantum| timetable.slot(Quantum(quantum)).unwrap();
            let is_on = |time_ns: u64| {
                let quantum = time_ns / 10;
                let own = matrix.placement(job).unwrap().slot;
                let before =
                    slot((quantum + timetable.round().len() as u64 - 1) % timetable.round().len() as u64);
                slot(quantum) == own && (before == own || time_ns % 10 >= 3)
            };
            let mut count = 0;
            for time_ns in 0..300 {
                assert_eq!(on_time.until_ns(time_ns), count, "{time_ns}");
                count += u64::from(is_on(time_ns));
            }
            for start_ns in 0..100 {
                for on_ns in 1..60 {
                    let end_ns = on_time.after_ns(start_ns, on_ns).unwrap();
                    assert_eq!(on_time.until_ns(end_ns), on_time.until_ns(start_ns) + on_ns);
                    assert!(is_on(end_ns - 1));
                }
            }
        }
        let absent = OnTime::new(&timetable, JobId(9), 10, 3);
        assert_eq!((absent.until_ns(500), absent.after_ns(0, 1)), (0, None));
    }
}
