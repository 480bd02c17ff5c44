//! Jobs that wait for a place in the matrix. May use: identifiers, matrix, request.

use crate::identifiers::JobId;
use crate::matrix::{Matrix, Placement};
use crate::request::{PlaceError, Request};
use std::collections::{BTreeMap, VecDeque};

/// Which waiting job is placed next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueuePolicy {
    /// First come, first served: a job that does not fit holds up all behind it.
    #[default]
    Fcfs,
    /// Backfilling: a later job may start first if, by the estimates, the job at the head starts no later
    /// (Lifka 1995).
    Easy,
}

/// A job that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedJob {
    /// What it asks for.
    pub request: Request,
    /// An upper bound of the time from its start to its end in nanoseconds, turns of other jobs included.
    /// None if not known: the job is started in its order only, or where it is in the head's way at no time.
    pub estimate_ns: Option<u64>,
}

/// A job that has left the queue for the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Where it is.
    pub placement: Placement,
    /// Whether it has passed a job that came earlier.
    pub is_backfilled: bool,
}

/// The waiting jobs, and what the queue must know of those that it has started.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    policy: QueuePolicy,
    waiting: VecDeque<QueuedJob>,
    /// When each job in the matrix ends at the latest; `u64::MAX` if that is not known.
    ends_ns: BTreeMap<JobId, u64>,
}

impl Queue {
    /// An empty queue.
    pub fn new(policy: QueuePolicy) -> Queue {
        Queue { policy, ..Queue::default() }
    }

    /// Appends a job. It starts with the next call of [`start`](Queue::start) that finds a place for it.
    ///
    /// # Errors
    /// A job that never fits, or that asks for nothing, is not queued.
    pub fn submit(&mut self, job: QueuedJob, matrix: &Matrix) -> Result<(), PlaceError> {
        match matrix.clone_empty().place(job.request) {
            Ok(_) => self.waiting.push_back(job),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// How many jobs come before a waiting one; none if it does not wait.
    pub fn position(&self, job: JobId) -> Option<usize> {
        self.waiting.iter().position(|queued| queued.request.job == job)
    }

    /// The waiting jobs in their order.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &QueuedJob> {
        self.waiting.iter()
    }

    /// Takes a waiting job out. False if it does not wait.
    pub fn cancel(&mut self, job: JobId) -> bool {
        self.position(job).is_some_and(|at| self.waiting.remove(at).is_some())
    }

    /// A job has left the matrix. The queue forgets its estimate.
    pub fn ended(&mut self, job: JobId) {
        self.ends_ns.remove(&job);
    }

    /// Moves all jobs that may start now into the matrix, and says which.
    pub fn start(&mut self, matrix: &mut Matrix, now_ns: u64) -> Vec<Started> {
        let mut started = Vec::new();
        while let Some(head) = self.waiting.front().copied() {
            let Ok(placement) = matrix.place(head.request).cloned() else { break };
            self.waiting.pop_front();
            self.note_end(head, now_ns);
            started.push(Started { placement, is_backfilled: false });
        }
        if self.policy == QueuePolicy::Easy && self.waiting.len() > 1 {
            self.backfill(matrix, now_ns, &mut started);
        }
        started
    }

    /// When the head can start by the estimates: the end of the running job after which it fits. None if the
    /// end of a job that must end first is not known, or if nothing waits.
    pub fn reservation_ns(&self, matrix: &Matrix, now_ns: u64) -> Option<u64> {
        let head = self.waiting.front()?;
        let mut later = matrix.clone();
        if later.place(head.request).is_ok() {
            return Some(now_ns);
        }
        let mut ends: Vec<(u64, JobId)> = self.ends_ns.iter().map(|(job, end)| (*end, *job)).collect();
        ends.sort_unstable();
        for (end_ns, job) in ends.into_iter().filter(|(end_ns, _)| *end_ns < u64::MAX) {
            later.remove(job);
            if later.place(head.request).is_ok() {
                return Some(end_ns.max(now_ns));
            }
        }
        None
    }

    fn backfill(&mut self, matrix: &mut Matrix, now_ns: u64, started: &mut Vec<Started>) {
        let Some(head) = self.waiting.front().copied() else { return };
        // Without a time at which the head starts nothing can be shown not to delay it.
        let Some(reserved_ns) = self.reservation_ns(matrix, now_ns) else { return };
        let mut at = 1;
        while let Some(candidate) = self.waiting.get(at).copied() {
            if !matrix.fits(&candidate.request) {
                at += 1;
                continue;
            }
            let mut tried = matrix.clone();
            let Ok(placement) = tried.place(candidate.request).cloned() else { break };
            let end_ns = end_of(candidate, now_ns);
            self.ends_ns.insert(candidate.request.job, end_ns);
            // Also a candidate that ends in time is tried: slots that it opens may change how slots are
            // unified.
            if self.head_fits_at(&tried, head, reserved_ns) {
                *matrix = tried;
                self.waiting.remove(at);
                started.push(Started { placement, is_backfilled: true });
            } else {
                self.ends_ns.remove(&candidate.request.job);
                at += 1;
            }
        }
    }

    /// Whether the head finds a place when all jobs have ended that end by then.
    fn head_fits_at(&self, matrix: &Matrix, head: QueuedJob, reserved_ns: u64) -> bool {
        let mut later = matrix.clone();
        let mut ends: Vec<(u64, JobId)> = self.ends_ns.iter().map(|(job, end)| (*end, *job)).collect();
        ends.sort_unstable();
        for (_, job) in ends.into_iter().take_while(|(end_ns, _)| *end_ns <= reserved_ns) {
            later.remove(job);
        }
        later.place(head.request).is_ok()
    }

    fn note_end(&mut self, job: QueuedJob, now_ns: u64) {
        self.ends_ns.insert(job.request.job, end_of(job, now_ns));
    }
}

fn end_of(job: QueuedJob, now_ns: u64) -> u64 {
    job.estimate_ns.map_or(u64::MAX, |estimate_ns| now_ns.saturating_add(estimate_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packing::Packing;
    use crate::request::Machine;
    use evenkeel_random::Random;

    fn queued(job: u64, ranks: usize, estimate_ns: u64) -> QueuedJob {
        QueuedJob { request: Request::new(JobId(job), ranks), estimate_ns: Some(estimate_ns) }
    }

    fn jobs(started: &[Started]) -> Vec<u64> {
        started.iter().map(|s| s.placement.request.job.0).collect()
    }

    #[test]
    fn a_short_job_fills_the_gap_before_the_head_and_a_long_one_does_not() {
        let mut matrix = Matrix::new(&[Machine::with_cores(4)], 1, Packing::FirstFit);
        let mut queue = Queue::new(QueuePolicy::Easy);
        for job in [queued(1, 3, 100), queued(2, 4, 50), queued(3, 1, 101), queued(4, 1, 100)] {
            queue.submit(job, &matrix).unwrap();
        }
        assert_eq!(jobs(&queue.start(&mut matrix, 0)), [1, 4]);
        assert_eq!((queue.position(JobId(2)), queue.position(JobId(3))), (Some(0), Some(1)));
        assert_eq!(queue.reservation_ns(&matrix, 10), Some(100));
        assert_eq!(queue.submit(queued(5, 5, 1), &matrix), Err(PlaceError::NeverFits));
    }

    #[test]
    fn a_long_job_that_leaves_the_head_its_cores_may_start() {
        let mut matrix = Matrix::new(&[Machine::with_cores(4)], 1, Packing::FirstFit);
        let mut queue = Queue::new(QueuePolicy::Easy);
        for job in [queued(1, 3, 100), queued(2, 3, 50), queued(3, 1, 10_000)] {
            queue.submit(job, &matrix).unwrap();
        }
        assert_eq!(jobs(&queue.start(&mut matrix, 0)), [1, 3]);
    }

    #[test]
    fn without_estimates_nothing_passes_the_head() {
        let mut matrix = Matrix::new(&[Machine::with_cores(2)], 1, Packing::FirstFit);
        let mut queue = Queue::new(QueuePolicy::Easy);
        let unknown = QueuedJob { estimate_ns: None, ..queued(1, 1, 0) };
        for job in [unknown, queued(2, 2, 50), queued(3, 1, 1)] {
            queue.submit(job, &matrix).unwrap();
        }
        assert_eq!(jobs(&queue.start(&mut matrix, 0)), [1]);
        assert!(queue.cancel(JobId(2)) && !queue.cancel(JobId(2)));
        assert_eq!(jobs(&queue.start(&mut matrix, 5)), [3]);
    }

    /// Runs jobs that arrive at time 0 to their ends, and checks at each step that the reservation of a head
    /// never becomes later.
    fn run_to_the_end(seed: u64, slots: usize, policy: QueuePolicy, early: bool) -> usize {
        let mut random = Random::new(seed);
        let mut matrix = Matrix::new(&[Machine::with_cores(8)], slots, Packing::Buddy);
        let mut queue = Queue::new(policy);
        for job in 0..40 {
            queue.submit(queued(job, 1 + random.below(8), 1 + random.less_than(100)), &matrix).unwrap();
        }
        let (mut now_ns, mut running, mut backfilled) = (0, BTreeMap::new(), 0);
        let mut promised: Option<(JobId, u64)> = None;
        loop {
            let head = queue.waiting().next().map(|queued| queued.request.job);
            for started in queue.start(&mut matrix, now_ns) {
                let job = started.placement.request.job;
                backfilled += usize::from(started.is_backfilled);
                let takes_ns = queue.ends_ns[&job] - now_ns;
                let takes_ns = if early { 1 + random.less_than(takes_ns) } else { takes_ns };
                running.insert((now_ns + takes_ns, job), ());
                if let Some((_, by_ns)) = promised.filter(|(promised, _)| *promised == job) {
                    assert!(now_ns <= by_ns, "seed {seed}: the head starts at {now_ns}, not by {by_ns}");
                    assert_eq!(head, Some(job));
                }
            }
            matrix.check().unwrap();
            let head = queue.waiting().next().map(|queued| queued.request.job);
            if promised.map(|(job, _)| job) != head {
                promised = head.zip(queue.reservation_ns(&matrix, now_ns));
            }
            let Some(((end_ns, job), ())) = running.pop_first() else { break };
            now_ns = end_ns;
            matrix.remove(job);
            queue.ended(job);
        }
        assert_eq!(queue.waiting().len(), 0);
        backfilled
    }

    #[test]
    fn backfilling_never_delays_the_head() {
        for seed in 0..60 {
            assert_eq!(run_to_the_end(seed, 1, QueuePolicy::Fcfs, false), 0);
            for early in [false, true] {
                assert!(run_to_the_end(seed, 1, QueuePolicy::Easy, early) > 0);
            }
            run_to_the_end(seed, 3, QueuePolicy::Easy, false);
        }
    }
}
