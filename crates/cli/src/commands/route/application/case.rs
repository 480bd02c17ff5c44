//! One core on one fabric, with its figures.

use evenkeel_switch_sim::application::{ApplicationCore, Fabric, Outcome, Statistics};
use serde::Serialize;

/// One core on one fabric. Times are in microseconds, and means over the seeds.
#[derive(Debug, Serialize)]
pub struct ApplicationCase {
    /// The fabric.
    pub fabric: Fabric,
    /// The application core.
    pub core: ApplicationCore,
    /// Bytes of a message.
    pub bytes: u32,
    /// How many runs there were.
    pub seeds: u32,
    /// From sending a message until all of it has arrived.
    pub messages: Statistics,
    /// The same for single frames.
    pub frames: Statistics,
    /// Until everything is done.
    pub total: f64,
    /// The most iterations that two hosts were apart.
    pub farthest_apart: u32,
    /// For the first seed: the times that 1% to 100% of the messages took at most.
    pub percentiles: Vec<f64>,
    /// For the first seed: when the first and the last host were done with each iteration.
    pub iterations: Vec<(f64, f64)>,
}

impl ApplicationCase {
    /// The figures of these runs.
    pub fn new(fabric: Fabric, core: ApplicationCore, bytes: u32, runs: &[Outcome]) -> ApplicationCase {
        let us = fabric.tick_ns() / 1000.0;
        let mean = |value: &dyn Fn(&Outcome) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
        let statistics = |times: fn(&Outcome) -> &[u64]| {
            let of = |part: fn(&Statistics) -> f64| mean(&|o| part(&Statistics::of(times(o), us)));
            Statistics {
                least: of(|s| s.least),
                mean: of(|s| s.mean),
                most: of(|s| s.most),
                deviation: of(|s| s.deviation),
            }
        };
        ApplicationCase {
            fabric,
            core,
            bytes,
            seeds: runs.len() as u32,
            messages: statistics(|outcome| &outcome.messages),
            frames: statistics(|outcome| &outcome.pieces),
            total: mean(&|outcome| outcome.end as f64 * us),
            farthest_apart: runs.iter().map(Outcome::farthest_apart).max().unwrap_or(0),
            percentiles: percentiles(&runs[0], us),
            iterations: iterations(&runs[0], us),
        }
    }
}

fn percentiles(run: &Outcome, us: f64) -> Vec<f64> {
    let mut sorted = run.messages.clone();
    sorted.sort_unstable();
    let last_of = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100) - 1] as f64 * us;
    (1..=100).map(last_of).collect()
}

fn iterations(run: &Outcome, us: f64) -> Vec<(f64, f64)> {
    let first_and_last = |ends: &Vec<(u64, u32)>| {
        let times = ends.iter().map(|end| end.0 as f64 * us);
        (times.clone().fold(f64::INFINITY, f64::min), times.fold(0.0, f64::max))
    };
    run.iterations.iter().map(first_and_last).collect()
}
