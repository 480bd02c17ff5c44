//! The loop over events. May use: all of the simulation.

use super::events::{Event, EventQueue};
use super::run::{ClusterRun, CoreRun, JobRun, Progress};
use crate::cluster::Cluster;
use crate::job::SyntheticJob;
use crate::outcome::{JobOutcome, Outcome};
use crate::policy::Policy;
use evenkeel_gang::{
    JobId, Machine, Matrix, PlaceError, Quantum, Queue, QueuedJob, Request, Strobes, Timetable,
};

/// Events between two reports of progress.
const EVENTS_PER_REPORT: u64 = 1 << 16;

/// Why something cannot be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// A job without ranks, without iterations, or whose ranks compute nothing.
    #[error("job {0} has no ranks, no iterations, or a rank that computes nothing")]
    EmptyJob(usize),
    /// The cluster refuses a job.
    #[error("job {job} cannot be queued: {why}")]
    Refused {
        /// Its place in the list.
        job: usize,
        /// The reason.
        why: PlaceError,
    },
    /// A quantum, a time slice, or the operating system's quantum of 0.
    #[error("quanta and time slices must be longer than 0")]
    ZeroQuantum,
    /// The simulation has no event left, but jobs have not ended.
    #[error("{0} jobs never end")]
    Stuck(usize),
}

/// Runs jobs on a cluster under a policy until all have ended. `progress` is told the share of jobs that
/// have.
///
/// # Errors
/// A job or a cluster that cannot be simulated.
///
/// ```
/// use evenkeel_cluster_sim::{Cluster, Communication, Policy, SyntheticJob, simulate};
/// let job = SyntheticJob {
///     arrival_ns: 0,
///     compute_ns: vec![1_000_000; 2],
///     iterations: 1000,
///     communication: Communication::Ring,
///     estimate_ns: 2_000_000_000,
///     has_priority: false,
///     within: None,
/// };
/// // Two jobs of a second each take turns on two cores.
/// let outcome = simulate(&Cluster::with_cores(2), Policy::Gs, &[job.clone(), job], &mut |_| {}).unwrap();
/// assert!((2.0..2.1).contains(&(outcome.turnaround_ns() as f64 / 1e9)));
/// ```
pub fn simulate(
    cluster: &Cluster,
    policy: Policy,
    jobs: &[SyntheticJob],
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, SimulationError> {
    if [cluster.quantum_ns, cluster.slice_ns, cluster.local_quantum_ns].contains(&0) {
        return Err(SimulationError::ZeroQuantum);
    }
    let is_empty =
        |job: &SyntheticJob| job.compute_ns.is_empty() || job.iterations == 0 || job.compute_ns.contains(&0);
    if let Some(job) = jobs.iter().position(is_empty) {
        return Err(SimulationError::EmptyJob(job));
    }
    let mut run = new_run(cluster, policy, jobs);
    let mut events = 0;
    while let Some((time_ns, event)) = run.events.pop() {
        run.now_ns = time_ns;
        if happen(&mut run, event)? {
            events += 1;
            if events % EVENTS_PER_REPORT == 0 {
                progress(run.ended as f64 / jobs.len() as f64);
            }
        }
    }
    if run.ended < jobs.len() {
        return Err(SimulationError::Stuck(jobs.len() - run.ended));
    }
    let outcome = |(given, run): (&SyntheticJob, JobRun)| JobOutcome {
        arrival_ns: given.arrival_ns,
        start_ns: run.start_ns,
        end_ns: run.end_ns,
        dedicated_ns: given.dedicated_ns(cluster.latency_ns),
        ranks: given.ranks(),
        classes: run.classes,
    };
    Ok(Outcome { jobs: jobs.iter().zip(run.jobs).map(outcome).collect(), cores: cluster.cores, events })
}

fn new_run<'a>(cluster: &'a Cluster, policy: Policy, jobs: &'a [SyntheticJob]) -> ClusterRun<'a> {
    let slots = if policy.is_batch() { 1 } else { cluster.slots };
    let matrix = Matrix::new(&[Machine::with_cores(cluster.cores)], slots, cluster.packing);
    let strobes = Strobes::new(cluster.quantum_ns);
    let mut events = EventQueue::default();
    for (job, given) in jobs.iter().enumerate() {
        events.push(given.arrival_ns, Event::Arrival(job as u32));
    }
    let waits = |_: &SyntheticJob| JobRun {
        progress: Progress::Waits,
        start_ns: 0,
        end_ns: 0,
        classes: Vec::new(),
        classifiers: Vec::new(),
        is_on: false,
        on_since_ns: 0,
    };
    ClusterRun {
        cluster,
        policy,
        given: jobs,
        events,
        now_ns: 0,
        timetable: Timetable::new(&matrix, strobes, Quantum(0)),
        matrix,
        queue: Queue::new(policy.queue(cluster.queue)),
        strobes,
        slot: None,
        jobs: jobs.iter().map(waits).collect(),
        ranks: Vec::new(),
        cores: (0..cluster.cores).map(|_| CoreRun::default()).collect(),
        loose: Vec::new(),
        loose_cores: Vec::new(),
        leaving: Vec::new(),
        loosening: Vec::new(),
        is_changing: false,
        boundary_ns: None,
        last_boundary_ns: None,
        ended: 0,
    }
}

/// Lets an event happen. False if it is void.
fn happen(run: &mut ClusterRun, event: Event) -> Result<bool, SimulationError> {
    match event {
        Event::Arrival(job) => arrive(run, job)?,
        Event::Boundary if run.boundary_ns == Some(run.now_ns) => run.boundary(),
        Event::GangDone { job, version } if run.is_gang(job, version) => run.end_gang(job),
        Event::GangLoosens { job, version } if run.is_gang(job, version) => {
            run.loosening.push(job);
            run.is_changing = true;
            run.request_boundary();
        }
        Event::Core { core, version } if run.cores[core as usize].version == version => run.core_event(core),
        Event::Message(rank) => run.message(rank),
        _ => return Ok(false),
    }
    Ok(true)
}

fn arrive(run: &mut ClusterRun, job: u32) -> Result<(), SimulationError> {
    let given = &run.given[job as usize];
    // Where jobs share time, a job may take as many times as long as there are slots.
    let factor = if run.policy.is_batch() { 1 } else { run.cluster.slots as u64 };
    let within = given.within;
    let request = Request { within, ..Request::new(JobId(u64::from(job)), given.ranks()) };
    let queued = QueuedJob { request, estimate_ns: Some(given.estimate_ns.saturating_mul(factor)) };
    run.queue
        .submit(queued, &run.matrix)
        .map_err(|why| SimulationError::Refused { job: job as usize, why })?;
    run.is_changing = true;
    run.request_boundary();
    Ok(())
}
