//! Jobs that run as wholes. May use: run, events, on_time.

use super::events::Event;
use super::on_time::OnTime;
use super::run::{ClusterRun, GangRun, Progress, RankDoes, RankRun};
use crate::job::SyntheticJob;
use crate::policy::Policy;
use evenkeel_gang::{Class, Classifier, JobId, Sample, agree};

/// Quanta after the warm-up in which no class changes any more, because what is measured does not move.
const SETTLED: u32 = 100;

impl ClusterRun<'_> {
    /// Starts a job at a boundary, under a timetable that has it.
    pub fn begin(&mut self, job: u32) {
        let given = &self.given[job as usize];
        let on_time = self.on_time(job);
        let loosens_after_ns = match self.policy {
            Policy::Fcs => self.loosens_after_ns(given),
            _ => None,
        };
        let classifiers = match self.policy {
            Policy::Fcs => vec![Classifier::new(self.cluster.thresholds); given.ranks()],
            _ => Vec::new(),
        };
        let is_loose = self.policy.is_buffered() || self.policy == Policy::Sb;
        let run = &mut self.jobs[job as usize];
        run.start_ns = self.now_ns;
        run.classes = vec![Class::CS; given.ranks()];
        run.classifiers = classifiers;
        let since_ns = self.now_ns;
        run.progress =
            Progress::Gang(GangRun { done_ns: 0, since_ns, on_time, loosens_after_ns, version: 0 });
        if is_loose {
            self.loosen(job);
        }
    }

    /// When the slots of a job are on.
    fn on_time(&self, job: u32) -> OnTime {
        let job = JobId(u64::from(job));
        OnTime::new(&self.timetable, job, self.cluster.quantum_ns, self.cluster.switch_ns)
    }

    /// Counts what all gangs have done until now. To be called before the timetable changes.
    pub fn count_gangs(&mut self) {
        for run in &mut self.jobs {
            if let Progress::Gang(gang) = &mut run.progress {
                gang.done_ns += gang.on_time.until_ns(self.now_ns) - gang.on_time.until_ns(gang.since_ns);
                gang.since_ns = self.now_ns;
            }
        }
    }

    /// Announces the ends of all gangs under the timetable that holds now.
    pub fn announce_gangs(&mut self) {
        for job in 0..self.jobs.len() as u32 {
            let Progress::Gang(_) = self.jobs[job as usize].progress else { continue };
            let on_time = self.on_time(job);
            let given = &self.given[job as usize];
            let all_ns = given.dedicated_ns(self.cluster.latency_ns);
            let Progress::Gang(gang) = &mut self.jobs[job as usize].progress else { continue };
            gang.on_time = on_time;
            gang.version += 1;
            let version = gang.version;
            let loosens_ns = gang.loosens_after_ns.filter(|after_ns| *after_ns < all_ns);
            let (needed_ns, event) = match loosens_ns {
                Some(after_ns) => (after_ns, Event::GangLoosens { job, version }),
                None => (all_ns, Event::GangDone { job, version }),
            };
            let left_ns = needed_ns.saturating_sub(gang.done_ns);
            if let Some(time_ns) = gang.on_time.after_ns(self.now_ns, left_ns) {
                self.events.push(time_ns, event);
            }
        }
    }

    /// A gang has done its work. Its cores are free for loose ranks until the quantum ends.
    pub fn end_gang(&mut self, job: u32) {
        self.end_job(job);
        let placement = self.matrix.placement(JobId(u64::from(job)));
        for core in placement.map(|placement| placement.cores.clone()).unwrap_or_default() {
            self.update_levels(core.0 as u32);
        }
    }

    /// Whether an event of a gang is still valid.
    pub fn is_gang(&self, job: u32, version: u32) -> bool {
        matches!(&self.jobs[job as usize].progress, Progress::Gang(gang) if gang.version == version)
    }

    /// After how much time on a rank of a job that runs as a gang leaves the class CS: the classifier is
    /// given what a node would measure in each quantum.
    fn loosens_after_ns(&self, given: &SyntheticJob) -> Option<u64> {
        let on_ns = self.cluster.quantum_ns.saturating_sub(self.cluster.switch_ns).max(1);
        let period_ns = given.period_ns(self.cluster.latency_ns);
        let mut classifiers = vec![Classifier::new(self.cluster.thresholds); given.ranks()];
        let mut calls_before = 0;
        let warm_up = self.cluster.thresholds.warm_up_ns.div_ceil(on_ns) as u32;
        for quantum in 1..=warm_up.saturating_add(SETTLED) {
            let calls = if given.communicates() { u64::from(quantum) * on_ns / period_ns } else { 0 };
            let mut classes = Vec::new();
            for (classifier, compute_ns) in classifiers.iter_mut().zip(&given.compute_ns) {
                let share = if given.communicates() { *compute_ns as f64 / period_ns as f64 } else { 1.0 };
                let cpu_ns = (on_ns as f64 * share) as u64;
                let blocking_calls = calls - calls_before;
                let class = classifier.add(Sample { cpu_ns, waited_ns: on_ns - cpu_ns, blocking_calls });
                classes.push((class, classifier.waiting_share()));
            }
            calls_before = calls;
            if agree(&classes, &self.cluster.thresholds).iter().any(|class| *class != Class::CS) {
                return Some(u64::from(quantum) * on_ns);
            }
        }
        None
    }

    /// Makes a gang a loose job. Its ranks are where an undisturbed gang would be after the time that it was
    /// on.
    pub fn loosen(&mut self, job: u32) {
        let Progress::Gang(gang) = &self.jobs[job as usize].progress else { return };
        let given = &self.given[job as usize];
        let period_ns = given.period_ns(self.cluster.latency_ns);
        let done = ((gang.done_ns / period_ns) as u32).min(given.iterations - 1);
        let within_ns = gang.done_ns - u64::from(done) * period_ns;
        let first = self.ranks.len();
        let cores = self.matrix.placement(JobId(u64::from(job))).map(|placement| placement.cores.clone());
        for (index, core) in cores.unwrap_or_default().into_iter().enumerate() {
            let whole_ns = match given.communicates() {
                true => given.compute_ns[index],
                false => given.compute_ns[index] * u64::from(given.iterations - done),
            };
            self.cores[core.0].ranks.push(self.ranks.len() as u32);
            self.ranks.push(RankRun {
                job,
                index: index as u32,
                core: core.0 as u32,
                does: RankDoes::Computes,
                // A rank that does not communicate computes all its iterations in one go.
                done: if given.communicates() { done } else { given.iterations - 1 },
                left_ns: whole_ns.saturating_sub(within_ns).max(1),
                done_at_ns: 0,
                spins_until_ns: 0,
                used_ns: self.cores[core.0].most_used_ns,
                level: 0,
                sample: Sample::default(),
            });
        }
        self.jobs[job as usize].progress = Progress::Loose { first, left: given.ranks() };
        self.loose.push(job);
    }

    /// Lists the cores of loose jobs.
    pub fn list_loose_cores(&mut self) {
        let is_loose = |core: &u32| !self.cores[*core as usize].ranks.is_empty();
        self.loose_cores = (0..self.cores.len() as u32).filter(is_loose).collect();
    }
}
