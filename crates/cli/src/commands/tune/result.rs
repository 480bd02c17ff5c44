//! What `evenkeel tune` has found; also the layout of `--json`.

use evenkeel_barrier_table::TableEntry;
use evenkeel_barrier_table::machine::MachineId;
use evenkeel_tune::comparison::VariantResult;
use evenkeel_tune::ratio::Ratio;
use serde::Serialize;

/// Everything that was tried.
#[derive(Debug, Serialize)]
pub struct TuneRecord {
    /// Number of the layout.
    pub schema: u32,
    /// Of evenkeel.
    pub version: &'static str,
    /// This machine.
    pub machine: MachineId,
    /// Ranks that can run at once.
    pub cores: usize,
    /// Name of the parameters of the predictions.
    pub model: String,
    /// Of the orders of turns.
    pub seed: u64,
    /// As asked for.
    pub time_limit_s: f64,
    /// As it was.
    pub elapsed_s: f64,
    /// What was found, for each number of ranks.
    #[serde(rename = "cases")]
    pub rank_counts: Vec<RankCountResult>,
}

/// What was found with one number of ranks.
#[derive(Debug, Serialize)]
pub struct RankCountResult {
    /// Number of ranks.
    pub ranks: u32,
    /// Calls of each turn.
    pub calls: u32,
    /// Seconds that the measurement took.
    pub elapsed_s: f64,
    /// The built-in barrier, then the candidates.
    #[serde(rename = "ways")]
    pub barriers: Vec<BarrierResult>,
    /// Which of them is to be used.
    pub chosen: usize,
}

/// What was found of one barrier.
#[derive(Debug, Serialize)]
pub struct BarrierResult {
    /// None: the built-in one.
    pub schedule: Option<String>,
    /// None: the simulator cannot tell.
    pub predicted_ns: Option<f64>,
    /// None: not measured, because of what was predicted.
    #[serde(rename = "found")]
    pub measured: Option<VariantResult>,
}

impl BarrierResult {
    /// How it compares with the built-in barrier, from the last time that this was measured.
    pub fn ratio(&self) -> Option<Ratio> {
        self.measured.as_ref().and_then(|measured| measured.confirmation.or(measured.finals))
    }

    fn median_ns(&self) -> f64 {
        self.measured.as_ref().map_or(0.0, |measured| measured.median_ns)
    }
}

impl RankCountResult {
    /// The barrier that did best in the finals, if any schedule reached them.
    fn best_finalist(&self) -> Option<&BarrierResult> {
        let median = |barrier: &BarrierResult| barrier.ratio().map_or(1.0, |ratio| ratio.median);
        let finalists = self.barriers.iter().filter(|barrier| barrier.ratio().is_some());
        finalists.min_by(|a, b| median(a).total_cmp(&median(b)))
    }

    /// The entry of the table. Without a chosen schedule it keeps how the best one compared.
    pub fn entry(&self, cores: usize, measured_unix_s: u64) -> TableEntry {
        let chosen = &self.barriers[self.chosen];
        let best = if self.chosen > 0 { Some(chosen) } else { self.best_finalist() };
        let ratio = best.and_then(BarrierResult::ratio);
        let builtin = &self.barriers[0];
        TableEntry {
            operation: "barrier".into(),
            ranks: self.ranks,
            cores: cores as u32,
            schedule: chosen.schedule.clone(),
            measured_unix_s,
            builtin_ns: builtin.median_ns(),
            best_ns: best.unwrap_or(builtin).median_ns(),
            ratio: ratio.map_or(1.0, |ratio| ratio.median),
            ratio_low: ratio.map_or(1.0, |ratio| ratio.low),
            ratio_high: ratio.map_or(1.0, |ratio| ratio.high),
            turns: ratio.map_or(0, |ratio| ratio.turns),
        }
    }
}
