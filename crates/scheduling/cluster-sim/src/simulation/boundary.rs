//! Between two quanta. May use: run, gangs, core, levels.

use super::run::{ClusterRun, Progress, RankDoes};
use crate::policy::Policy;
use evenkeel_gang::{JobId, Sample, Timetable, agree};

impl ClusterRun<'_> {
    /// Samples are taken, jobs leave and start, and the next slot is on.
    pub fn boundary(&mut self) {
        (self.boundary_ns, self.last_boundary_ns) = (None, Some(self.now_ns));
        if self.policy == Policy::Fcs {
            self.take_samples();
        }
        if self.is_changing {
            self.change_matrix();
        }
        let slot = self.timetable.slot(self.strobes.quantum_at(self.now_ns));
        self.slot = slot;
        for job in &self.loose {
            let slots = self.timetable.slots_of(JobId(u64::from(*job)));
            let run = &mut self.jobs[*job as usize];
            run.is_on = slot.is_some_and(|slot| slots.contains(&slot));
            run.on_since_ns = self.now_ns;
        }
        for at in 0..self.loose_cores.len() {
            self.update_levels(self.loose_cores[at]);
        }
        if !self.loose.is_empty() || self.is_changing {
            self.request_boundary();
        }
    }

    /// Computes the levels of the ranks of a core anew.
    pub fn update_levels(&mut self, core: u32) {
        let mut has_changed = false;
        for at in 0..self.cores[core as usize].ranks.len() {
            let rank = self.cores[core as usize].ranks[at];
            let level = self.level(rank);
            has_changed |= self.ranks[rank as usize].level != level;
            self.ranks[rank as usize].level = level;
        }
        if has_changed {
            self.dispatch(core);
        }
    }

    /// Gives the classifiers what was measured in the quantum that ends.
    fn take_samples(&mut self) {
        for at in 0..self.loose.len() {
            let job = self.loose[at] as usize;
            let Progress::Loose { first, .. } = self.jobs[job].progress else { continue };
            if !self.jobs[job].is_on {
                continue;
            }
            let mut classes = Vec::with_capacity(self.given[job].ranks());
            for rank in first..first + self.given[job].ranks() {
                self.settle(self.ranks[rank].core);
                let run = &mut self.ranks[rank];
                if run.does == RankDoes::Waits {
                    run.sample.waited_ns += self.now_ns - run.done_at_ns.max(self.jobs[job].on_since_ns);
                }
                let classifier = &mut self.jobs[job].classifiers[rank - first];
                let class = match run.does {
                    RankDoes::Ended => classifier.class(),
                    _ => classifier.add(run.sample),
                };
                run.sample = Sample::default();
                classes.push((class, classifier.waiting_share()));
            }
            self.jobs[job].classes = agree(&classes, &self.cluster.thresholds);
        }
    }

    /// Jobs leave and start, gangs become loose, and a new timetable holds.
    fn change_matrix(&mut self) {
        self.is_changing = false;
        self.count_gangs();
        for job in std::mem::take(&mut self.leaving) {
            self.matrix.remove(JobId(u64::from(job)));
            self.queue.ended(JobId(u64::from(job)));
        }
        for job in std::mem::take(&mut self.loosening) {
            self.loosen(job);
        }
        let started = self.queue.start(&mut self.matrix, self.now_ns);
        let quantum = self.strobes.quantum_at(self.now_ns);
        self.timetable = Timetable::new(&self.matrix, self.strobes, quantum);
        for started in started {
            self.begin(started.placement.request.job.0 as u32);
        }
        self.announce_gangs();
        self.list_loose_cores();
    }
}
