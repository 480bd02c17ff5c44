//! Which job runs in which slot: the matrix of slots and cores is made anew from the list of jobs.

use crate::registry::{Record, Row, Status};
use crate::timetable::{MIN_QUANTUM_NS, Timetable};
use evenkeel_gang::{JobId, Machine, Matrix, Packing, PlaceError, Quantum, Request, Strobes};

/// Jobs that hold a core by turns: with more, each runs too seldom.
const MOST_SLOTS: usize = 64;

/// So long before it holds a timetable is published, ns, that every switcher has read it when it does.
const NOTICE_NS: u64 = 1_000_000;

/// What the jobs of one machine share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// Its cores.
    pub(crate) cores: usize,
    /// Its memory; None: it is not known, and not counted.
    pub(crate) memory_bytes: Option<u64>,
}

impl Capacity {
    /// What this process may use.
    pub(crate) fn of_this_machine() -> Capacity {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let read = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let line = read.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        Capacity { cores, memory_bytes: kilobytes.map(|kilobytes| kilobytes << 10) }
    }

    fn matrix(self) -> Matrix {
        let machine = Machine { cores: self.cores, memory_bytes: self.memory_bytes };
        Matrix::new(&[machine], MOST_SLOTS, Packing::Buddy)
    }

    /// A job with more ranks than cores has all cores in its slot.
    fn request(self, row: &Row) -> Request {
        let cores = (row.ranks as usize).clamp(1, self.cores);
        let memory_bytes = row.memory_bytes.div_ceil(cores as u64);
        Request { memory_bytes, weight: row.rate, ..Request::new(JobId(row.job), cores) }
    }

    /// Whether the job fits if no other one is there.
    pub(crate) fn holds(self, row: &Row) -> bool {
        self.matrix().place(self.request(row)).is_ok()
    }
}

/// Gives jobs that wait their places, first come first served, and announces a timetable if another one is
/// needed. Returns whether anything has changed.
pub(crate) fn replan(record: &mut Record, capacity: Capacity, now_ns: u64) -> bool {
    let mut matrix = capacity.matrix();
    let mut has_changed = false;
    let has_place = |row: &Row| matches!(row.status, Status::Placed | Status::Paused);
    // Who has a place keeps it; a job that is stopped or not switched holds its memory.
    for row in record.jobs.iter().filter(|row| has_place(row)) {
        let _ = matrix.place(capacity.request(row));
    }
    for row in record.jobs.iter_mut().filter(|row| row.status == Status::Queued) {
        match matrix.place(capacity.request(row)) {
            Ok(_) => {
                row.status = Status::Placed;
                has_changed = true;
            }
            // What can never fit is refused when it comes.
            Err(PlaceError::NeverFits) => {}
            Err(_) => break,
        }
    }
    for row in record.jobs.iter().filter(|row| row.status != Status::Placed) {
        matrix.remove(JobId(row.job));
    }
    for row in &mut record.jobs {
        let placement = matrix.placement(JobId(row.job));
        let cores = placement.map_or(Vec::new(), |found| found.cores.iter().map(|core| core.0).collect());
        has_changed |= row.cores != cores;
        row.cores = cores;
    }
    let wanted = cycle(&matrix, record);
    has_changed | announce(record, wanted, now_ns)
}

/// The slots of a round, each as often as its weight says, and the quantum. A job also runs in slots of
/// others in which its cores are free.
fn cycle(matrix: &Matrix, record: &Record) -> (Vec<Vec<u64>>, u64) {
    let placed = record.jobs.iter().filter(|row| row.status == Status::Placed);
    let quantum_ns = placed.clone().map(|row| row.quantum_ns.max(row.shortest_quantum_ns)).max();
    let quantum_ns = quantum_ns.unwrap_or(MIN_QUANTUM_NS).max(MIN_QUANTUM_NS);
    let round = evenkeel_gang::Timetable::new(matrix, Strobes::new(quantum_ns), Quantum(0));
    let jobs_of = |slot: &usize| -> Vec<u64> {
        let jobs = placed.clone().map(|row| row.job);
        jobs.filter(|job| round.slots_of(JobId(*job)).contains(slot)).collect()
    };
    let mut slots: Vec<Vec<u64>> = round.round().iter().map(jobs_of).collect();
    if slots.is_empty() {
        slots.push(Vec::new());
    }
    (slots, quantum_ns)
}

/// A job's share is at most so many times another's.
pub(crate) const MOST_WEIGHT: u32 = 100;

/// Adds a timetable, which holds from a boundary of the one before.
fn announce(record: &mut Record, (slots, quantum_ns): (Vec<Vec<u64>>, u64), now_ns: u64) -> bool {
    let last = record.timetables.last();
    if last.is_some_and(|last| last.slots == slots && last.quantum_ns == quantum_ns) {
        return false;
    }
    let earliest = now_ns + NOTICE_NS;
    let from_ns = match last {
        Some(last) if last.slots.len() > 1 => last.boundary(earliest.max(last.from_ns), 1),
        Some(last) => earliest.max(last.from_ns),
        None => earliest,
    };
    let in_force = record.timetable(now_ns).cloned();
    // One that was announced and has not begun is replaced.
    record.timetables.retain(|table| Some(table) == in_force.as_ref());
    record.timetables.push(Timetable { from_ns, quantum_ns, slots });
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_id::ProcessId;

    const MACHINE: Capacity = Capacity { cores: 2, memory_bytes: Some(100) };

    fn join(record: &mut Record, ranks: u32, memory_bytes: u64, rate: u32) -> u64 {
        let job = record.next_job;
        record.next_job += 1;
        record.jobs.push(Row {
            job,
            process: ProcessId { pid: 1, started: 1 },
            switcher: None,
            ranks,
            memory_bytes,
            rate,
            quantum_ns: 10_000_000,
            shortest_quantum_ns: 0,
            mechanism: String::new(),
            group: None,
            status: Status::Queued,
            cores: Vec::new(),
        });
        job
    }

    #[test]
    fn a_job_alone_is_not_switched_and_two_take_turns() {
        let mut record = Record::default();
        let first = join(&mut record, 2, 0, 1);
        assert!(replan(&mut record, MACHINE, 0));
        assert!(!record.timetables[0].is_switched(first));
        let second = join(&mut record, 5, 0, 1);
        assert!(replan(&mut record, MACHINE, 5_000_000));
        assert!(!replan(&mut record, MACHINE, 5_000_000), "nothing has changed");
        let table = record.timetables.last().unwrap();
        assert_eq!(table.slots, [[first], [second]]);
        assert!(table.from_ns >= 6_000_000);
        record.jobs.remove(0);
        assert!(replan(&mut record, MACHINE, 100_000_000));
        let (old, new) = (&record.timetables[0], &record.timetables[1]);
        assert_eq!((new.from_ns - old.from_ns) % old.quantum_ns, 0, "it holds from a boundary");
        assert!(!new.is_switched(second));
    }

    #[test]
    fn jobs_beside_each_other_are_not_switched() {
        let mut record = Record::default();
        let jobs = [join(&mut record, 1, 0, 1), join(&mut record, 1, 0, 1)];
        replan(&mut record, MACHINE, 0);
        assert_eq!(record.timetables[0].slots, [jobs]);
    }

    #[test]
    fn what_does_not_fit_in_memory_waits_and_a_smaller_job_does_not_overtake_it() {
        let mut record = Record::default();
        join(&mut record, 2, 80, 1);
        let large = join(&mut record, 2, 40, 1);
        let small = join(&mut record, 2, 10, 1);
        replan(&mut record, MACHINE, 0);
        assert_eq!([record.position(large), record.position(small)], [Some(1), Some(2)]);
        record.jobs.remove(0);
        replan(&mut record, MACHINE, 0);
        assert_eq!([record.position(large), record.position(small)], [None, None]);
        let mut too_large = record.jobs[0].clone();
        too_large.memory_bytes = 101;
        assert!(!MACHINE.holds(&too_large));
    }

    #[test]
    fn a_greater_rate_gets_more_slots() {
        let mut record = Record::default();
        let (one, three) = (join(&mut record, 2, 0, 1), join(&mut record, 2, 0, 3));
        replan(&mut record, MACHINE, 0);
        let slots = &record.timetables[0].slots;
        let of = |job| slots.iter().filter(|slot| **slot == [job]).count();
        assert_eq!((of(one), of(three)), (1, 3), "{slots:?}");
    }

    #[test]
    fn stopped_jobs_have_no_turns_and_keep_their_memory() {
        let mut record = Record::default();
        let (one, two) = (join(&mut record, 2, 60, 1), join(&mut record, 2, 20, 1));
        replan(&mut record, MACHINE, 0);
        record.row_mut(one).unwrap().status = Status::Paused;
        let third = join(&mut record, 2, 60, 1);
        replan(&mut record, MACHINE, 0);
        assert_eq!(record.timetables.last().unwrap().slots, [[two]]);
        assert_eq!(record.position(third), Some(1));
    }
}
