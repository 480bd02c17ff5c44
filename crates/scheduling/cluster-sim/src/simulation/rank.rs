//! Computations and messages of ranks. May use: run, events.

use super::events::Event;
use super::run::{ClusterRun, Progress, RankDoes};
use crate::job::Communication;

impl ClusterRun<'_> {
    /// A rank has computed what an iteration asks for: it sends to the right, and goes on or waits.
    pub fn finish_iteration(&mut self, rank: u32) {
        let now_ns = self.now_ns;
        let run = &mut self.ranks[rank as usize];
        let (job, posted_ns) = (run.job, run.done_at_ns);
        run.done += 1;
        run.done_at_ns = now_ns;
        if self.jobs[job as usize].is_on {
            run.sample.blocking_calls += 1;
        }
        let given = &self.given[job as usize];
        let has_ended = run.done == given.iterations;
        let done = run.done;
        if given.communicates() {
            self.send_right(rank, done);
        }
        if has_ended {
            self.end_rank(rank);
        } else {
            self.receive_left(rank, posted_ns);
        }
    }

    /// Wakes the right neighbour if it waits for this message.
    fn send_right(&mut self, rank: u32, done: u32) {
        let Some(right) = self.neighbour(rank, 1) else { return };
        let run = &self.ranks[right as usize];
        if run.does == RankDoes::Waits && self.needs(right) == done {
            let time_ns = self.delivery_ns(self.now_ns, run.done_at_ns);
            self.events.push(time_ns, Event::Message(right));
        }
    }

    /// Goes on with the next iteration if the message is there, else waits.
    fn receive_left(&mut self, rank: u32, posted_ns: u64) {
        let (now_ns, needs) = (self.now_ns, self.needs(rank));
        let given = &self.given[self.ranks[rank as usize].job as usize];
        let left = self.neighbour(rank, -1);
        let arrival_ns = left.and_then(|left| {
            let left = &self.ranks[left as usize];
            // Receives of the next iteration are posted before its computation.
            let posted_ns = if given.communication == Communication::Ring { now_ns } else { posted_ns };
            let sent_ns = if left.done == needs { left.done_at_ns } else { 0 };
            (left.done >= needs).then(|| self.delivery_ns(sent_ns, posted_ns))
        });
        let spins_ns = self.spins_ns(rank);
        let run = &mut self.ranks[rank as usize];
        if arrival_ns.is_some_and(|arrival_ns| arrival_ns <= now_ns) {
            run.left_ns = given.compute_ns[run.index as usize];
            return;
        }
        run.does = RankDoes::Waits;
        run.spins_until_ns = now_ns.saturating_add(spins_ns);
        if let Some(arrival_ns) = arrival_ns {
            self.events.push(arrival_ns, Event::Message(rank));
        }
    }

    /// A rank has the message that it waited for.
    pub fn message(&mut self, rank: u32) {
        let now_ns = self.now_ns;
        self.settle(self.ranks[rank as usize].core);
        let run = &mut self.ranks[rank as usize];
        run.does = RankDoes::Computes;
        run.left_ns = self.given[run.job as usize].compute_ns[run.index as usize];
        let job = &self.jobs[run.job as usize];
        if job.is_on {
            run.sample.waited_ns += now_ns - run.done_at_ns.max(job.on_since_ns);
        }
        let core = run.core;
        // A rank that comes back has no claim to all the time in which it had nothing to do.
        let least_ns = self.cores[core as usize].most_used_ns.saturating_sub(self.cluster.local_quantum_ns);
        run.used_ns = run.used_ns.max(least_ns);
        self.dispatch(core);
    }

    fn end_rank(&mut self, rank: u32) {
        let run = &mut self.ranks[rank as usize];
        run.does = RankDoes::Ended;
        let (job, core) = (run.job, run.core);
        let on_core = &mut self.cores[core as usize];
        on_core.ranks.retain(|other| *other != rank);
        on_core.current = None;
        if let Progress::Loose { left, .. } = &mut self.jobs[job as usize].progress {
            *left -= 1;
            if *left == 0 {
                self.end_job(job);
            }
        }
        self.update_levels(core);
    }

    /// The iterations that the left neighbour must have done before a rank can go on.
    fn needs(&self, rank: u32) -> u32 {
        let run = &self.ranks[rank as usize];
        match self.given[run.job as usize].communication {
            Communication::None => 0,
            Communication::Ring => run.done,
            Communication::OverlappedRing => run.done - 1,
        }
    }

    /// When a message can be used that was sent, and whose receive was posted, at these times.
    fn delivery_ns(&self, sent_ns: u64, posted_ns: u64) -> u64 {
        let slice_ns = self.cluster.slice_ns;
        match self.policy.is_buffered() {
            // Posted in one slice, moved in the next, usable after it.
            true => (sent_ns.max(posted_ns) / slice_ns + 2) * slice_ns,
            false => sent_ns + self.cluster.latency_ns,
        }
    }

    /// The neighbour in the ring of a rank's job.
    fn neighbour(&self, rank: u32, step: i64) -> Option<u32> {
        let run = &self.ranks[rank as usize];
        let Progress::Loose { first, .. } = self.jobs[run.job as usize].progress else { return None };
        let ranks = self.given[run.job as usize].ranks() as i64;
        Some(first as u32 + (i64::from(run.index) + step).rem_euclid(ranks) as u32)
    }
}
