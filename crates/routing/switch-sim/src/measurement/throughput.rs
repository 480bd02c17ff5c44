//! Many simulations: a curve of latency against traffic, and the most that a network accepts.

use crate::measurement::{Point, Rules, measure};
use crate::parameters::Parameters;
use crate::routing::Routes;
use crate::simulator::{Halt, Simulator};
use crate::traffic::{OpenLoop, Traffic};
use crate::wiring::Wiring;
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One simulation.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    pub wiring: &'a Wiring,
    pub routes: &'a Routes,
    pub parameters: Parameters,
    pub traffic: Traffic,
    pub rules: Rules,
}

impl Job<'_> {
    /// Runs it. The parameters must have been checked.
    pub fn run(&self) -> Result<Point, Halt> {
        let mut simulator =
            Simulator::new(self.wiring, self.parameters, self.routes.clone()).expect("checked parameters");
        let mut traffic = OpenLoop::new(self.traffic, self.wiring);
        measure(&mut simulator, &mut traffic, self.traffic.load, &self.rules)
    }
}

/// Runs every job, `threads` at a time, and gives what each returned, in the order of the jobs: who ran
/// it does not show. `done` is told after each.
pub fn run_jobs<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    run: impl Fn(&J) -> T + Sync,
    done: impl Fn() + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<T>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                // Relaxed: the number alone is shared; results go through the mutex.
                while let Some((place, job)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
                {
                    let result = run(job);
                    results.lock().expect("no panic while it is held")[place] = Some(result);
                    done();
                }
            });
        }
    });
    results
        .into_inner()
        .expect("no panic while it was held")
        .into_iter()
        .map(|r| r.expect("every job was run"))
        .collect()
}

/// The most that a network accepts of some traffic.
#[derive(Clone, Debug, Serialize)]
pub struct Throughput {
    /// Phits per cycle and sending host.
    pub accepted: f64,
    /// The points that were measured, from the least load.
    pub points: Vec<Point>,
}

/// Raises the load, from `first` by `step` each time, until the network has fallen behind twice in a
/// row or hosts send all the time, and takes the most that was accepted. The load of `job` is not
/// looked at.
pub fn throughput(job: &Job, first: f64, step: f64) -> Result<Throughput, Halt> {
    let mut points: Vec<Point> = Vec::new();
    let mut load = first;
    loop {
        let mut job = job.clone();
        job.traffic.load = load.min(1.0);
        points.push(job.run()?);
        let behind = points.iter().rev().take_while(|p| p.saturated).count();
        if behind >= 2 || load >= 1.0 {
            let accepted = points.iter().map(|p| p.accepted.mean).fold(0.0, f64::max);
            return Ok(Throughput { accepted, points });
        }
        load *= step;
    }
}
