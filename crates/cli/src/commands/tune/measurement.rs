//! Measures the barriers with one number of ranks: all candidates, then the best few, then the best one once
//! more.

use super::engine_ranks::EngineRanks;
use super::result::{BarrierResult, RankCountResult};
use crate::errors::MeasurementError;
use crate::output::progress::Progress;
use evenkeel_model::Parameters;
use evenkeel_schedule::Schedule;
use evenkeel_tune::MeasurementTask;
use evenkeel_tune::comparison::Comparison;
use evenkeel_tune::{candidates, prediction};
use std::path::Path;
use std::time::{Duration, Instant};

/// Shares of the time: for all candidates, and for the best few. The rest is for the best one once more.
const SCREENING: f64 = 0.4;
const FINALS: f64 = 0.3;

/// What is the same for all numbers of ranks.
pub struct Measurement<'a> {
    /// This program.
    pub program: &'a Path,
    /// Ranks that can run at once.
    pub cores: usize,
    /// What predictions are made with.
    pub parameters: &'a Parameters,
    /// Of the orders of turns.
    pub seed: u64,
    /// Whether schedules that are, or are predicted to be, far slower are measured to the end.
    pub keeps_slow_ones: bool,
    /// The time for one number of ranks.
    pub time: Duration,
    /// Is told the share of the time.
    pub progress: &'a Progress,
}

/// A schedule that may be measured.
struct Candidate {
    schedule: Schedule,
    predicted_ns: Option<f64>,
    is_measured: bool,
}

impl Measurement<'_> {
    /// Measures with one number of ranks.
    pub fn with(&self, ranks: u32) -> Result<RankCountResult, MeasurementError> {
        let begun = Instant::now();
        let candidates = self.candidates(ranks);
        let measured = candidates.iter().filter(|candidate| candidate.is_measured);
        let task = MeasurementTask {
            rank: 0,
            ranks,
            schedules: measured.map(|candidate| candidate.schedule.name()).collect(),
            screening_ms: self.part_ms(SCREENING),
            finals_ms: self.part_ms(FINALS),
            drop_slow: !self.keeps_slow_ones,
            seed: self.seed,
        };
        let comparison = self.compare(&task)?;
        let (calls, chosen) = (comparison.calls, comparison.chosen);
        let barriers = self.results(ranks, candidates, comparison);
        // `chosen` counts the measured ones.
        let measured = (0..barriers.len()).filter(|at| barriers[*at].measured.is_some()).nth(chosen);
        let elapsed_s = begun.elapsed().as_secs_f64();
        Ok(RankCountResult { ranks, calls, elapsed_s, barriers, chosen: measured.unwrap_or(0) })
    }

    /// All candidates, with their predictions.
    fn candidates(&self, ranks: u32) -> Vec<Candidate> {
        let schedules = candidates::candidates(ranks);
        let predicted: Vec<Option<f64>> = schedules.iter().map(|schedule| self.predict(schedule)).collect();
        let worth = prediction::worth_measuring(&predicted);
        let all = schedules.into_iter().zip(predicted).zip(worth);
        all.map(|((schedule, predicted_ns), worth)| Candidate {
            schedule,
            predicted_ns,
            is_measured: worth || self.keeps_slow_ones,
        })
        .collect()
    }

    fn predict(&self, schedule: &Schedule) -> Option<f64> {
        prediction::predict(schedule, self.cores, self.parameters)
    }

    /// Compares the task's schedules with the built-in barrier. One that is faster is measured again among
    /// processes that are started anew: they lie elsewhere in memory and on the cores, which may make more of
    /// a difference than the schedule.
    fn compare(&self, task: &MeasurementTask) -> Result<Comparison, MeasurementError> {
        let first = SCREENING + FINALS;
        let mut comparison = EngineRanks::start(self.program, task.ranks)?
            .measure(task, |share| self.progress.set_share(share * first))?;
        if comparison.chosen > 0 {
            let task = MeasurementTask {
                schedules: vec![task.schedules[comparison.chosen - 1].clone()],
                screening_ms: 0,
                finals_ms: self.part_ms(1.0 - first),
                ..task.clone()
            };
            let confirmation = EngineRanks::start(self.program, task.ranks)?
                .measure(&task, |share| self.progress.set_share(first + share * (1.0 - first)))?;
            comparison.confirm(&confirmation);
        }
        Ok(comparison)
    }

    /// The results of the built-in barrier and of all candidates.
    fn results(&self, ranks: u32, candidates: Vec<Candidate>, comparison: Comparison) -> Vec<BarrierResult> {
        let mut measured = comparison.variants.into_iter();
        let builtin = BarrierResult {
            schedule: None,
            predicted_ns: self.predict(&prediction::builtin(ranks)),
            measured: measured.next(),
        };
        let results = candidates.into_iter().map(|candidate| BarrierResult {
            schedule: Some(candidate.schedule.name()),
            predicted_ns: candidate.predicted_ns,
            measured: if candidate.is_measured { measured.next() } else { None },
        });
        std::iter::once(builtin).chain(results).collect()
    }

    fn part_ms(&self, share: f64) -> u64 {
        (self.time.as_millis() as f64 * share) as u64
    }
}
