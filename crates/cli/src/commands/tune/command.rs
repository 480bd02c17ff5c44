//! `evenkeel tune`: finds the barriers that are best on this machine and writes a table of them.
//!
//! What to try, when to drop it and what to make of it is the tune crate's; here processes are started
//! ([`ranks`]), the clock is divided up, the table is written, and all is told ([`text`]). The ranks of
//! a measurement are made of the engine itself, which is the one place where this program is more than
//! its neighbour.

use super::arguments::{Act, Tune};
use super::{engine_ranks as ranks, text};
use crate::commands::model::command as model;
use crate::commands::report::command as record_file;
use crate::errors::Failure;
use crate::machine::limits as quota;
use crate::output::file::write;
use crate::output::progress::progress_bar;
use evenkeel_barrier_table::machine::MachineId;
use evenkeel_barrier_table::{BarrierTable, TableEntry, location};
use evenkeel_schedule::Schedule;
use evenkeel_tune::comparison::VariantResult;
use evenkeel_tune::rank::MeasurementTask;
use evenkeel_tune::ratio::Ratio;
use evenkeel_tune::{candidates, prediction};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// All that was tried.
#[derive(Debug, Serialize)]
pub struct Record {
    pub(crate) schema: u32,
    pub(crate) version: &'static str,
    pub(crate) machine: MachineId,
    pub(crate) cores: usize,
    /// Name of the parameters of the predictions.
    pub(crate) model: String,
    pub(crate) seed: u64,
    pub(crate) time_limit_s: f64,
    pub(crate) elapsed_s: f64,
    pub(crate) cases: Vec<Case>,
}

/// One number of ranks.
#[derive(Debug, Serialize)]
pub struct Case {
    pub(crate) ranks: u32,
    /// Calls of each turn.
    pub(crate) calls: u32,
    pub(crate) elapsed_s: f64,
    /// The built-in way, then the candidates.
    pub(crate) ways: Vec<Way>,
    /// Which of them is to be used.
    pub(crate) chosen: usize,
}

/// One way to hold a barrier.
#[derive(Debug, Serialize)]
pub struct Way {
    /// None: the built-in one.
    pub(crate) schedule: Option<String>,
    /// None: nothing can be said.
    pub(crate) predicted_ns: Option<f64>,
    /// None: left out for what was predicted.
    pub(crate) found: Option<VariantResult>,
}

/// Does what was asked for and returns what is printed.
pub fn tune(tune: &Tune) -> Result<String, Failure> {
    if let Some(Act::Rank(rank)) = &tune.act {
        ranks::serve(rank.starter)?;
        return Ok(String::new());
    }
    let cores = quota::cores_at_once();
    let target = target(tune)?;
    for file in tune.json.iter().chain(target.as_ref().filter(|_| tune.table.is_some())) {
        record_file::check_place(file)?;
    }
    let here = MachineId::here();
    let mut table =
        target.as_ref().map_or_else(|| Ok(BarrierTable::new(here.clone())), |file| existing(file, &here))?;
    let parameters = model::load(&tune.machine)?;
    let program = std::env::current_exe()
        .map_err(|e| Failure::Measuring { why: format!("this program cannot find itself ({e})") })?;
    let counts = counts(&tune.ranks, cores);
    let bar = progress_bar();
    let begun = Instant::now();
    let mut cases = Vec::new();
    for (done, ranks) in counts.iter().enumerate() {
        let share = Duration::from_secs_f64(tune.time_limit / counts.len() as f64);
        let progress =
            |share: f64| bar.set_position(((done as f64 + share) / counts.len() as f64 * 1000.0) as u64);
        let setting =
            Setting { program: &program, cores, parameters: &parameters, seed: tune.seed, all: tune.all };
        cases.push(case(&setting, *ranks, share, progress)?);
    }
    bar.finish_and_clear();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    cases.iter().for_each(|case| table.set(case.entry(cores, now)));
    let record = Record {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        machine: here,
        cores,
        model: parameters.name,
        seed: tune.seed,
        time_limit_s: tune.time_limit,
        elapsed_s: begun.elapsed().as_secs_f64(),
        cases,
    };
    if let Some(file) = &tune.json {
        write(file, &(serde_json::to_string_pretty(&record).expect("plain data has a JSON form") + "\n"))?;
    }
    if let Some(file) = &target {
        if let Some(directory) = file.parent() {
            // What is wrong with it is said when the file is written.
            let _ = std::fs::create_dir_all(directory);
        }
        write(file, &table.text())?;
    }
    Ok(text::text(
        &record,
        target.as_deref().map(|file| (file, tune.table.is_some())),
        record_file::terminal().0,
    ))
}

/// Where the table goes; None: nowhere.
fn target(tune: &Tune) -> Result<Option<PathBuf>, Failure> {
    if tune.dry_run {
        return Ok(None);
    }
    let usual = || location::default_path(|name| std::env::var(name).ok());
    tune.table.clone().or_else(usual).map(Some).ok_or(Failure::NoTablePlace)
}

/// The table that is there already, to be added to. One of another machine or another layout is replaced.
fn existing(file: &Path, here: &MachineId) -> Result<BarrierTable, Failure> {
    if !file.exists() {
        return Ok(BarrierTable::new(here.clone()));
    }
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::NotATable { path: file.into(), why: e.to_string() })?;
    // Whatever it is, it is not to be lost for a slip in --table.
    let table = BarrierTable::parse(&text).map_err(|why| Failure::NotATable { path: file.into(), why })?;
    Ok(if table.machine == *here { table } else { BarrierTable::new(here.clone()) })
}

/// The numbers of ranks that are asked for, or those that are usual.
fn counts(asked: &[u32], cores: usize) -> Vec<u32> {
    let mut counts =
        if asked.is_empty() { vec![2, 4, 8, 16, (cores as u32).clamp(2, 512)] } else { asked.to_vec() };
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// What is the same for all numbers of ranks.
struct Setting<'a> {
    program: &'a Path,
    cores: usize,
    parameters: &'a evenkeel_model::Parameters,
    seed: u64,
    all: bool,
}

/// Shares of the time: for all ways, for the best few, and for the best one once more.
const SCREENING: f64 = 0.4;
const FINALS: f64 = 0.3;

/// Measures with one number of ranks.
fn case(
    setting: &Setting,
    ranks: u32,
    time: Duration,
    mut progress: impl FnMut(f64),
) -> Result<Case, Failure> {
    let begun = Instant::now();
    let all = candidates::candidates(ranks);
    let predict = |schedule: &Schedule| prediction::predict(schedule, setting.cores, setting.parameters);
    let predicted: Vec<Option<f64>> = all.iter().map(predict).collect();
    let worth: Vec<bool> =
        prediction::worth_measuring(&predicted).into_iter().map(|worth| worth || setting.all).collect();
    let names: Vec<String> =
        all.iter().zip(&worth).filter(|(_, worth)| **worth).map(|(schedule, _)| schedule.name()).collect();
    let part = |share: f64| (time.as_millis() as f64 * share) as u64;
    let task = MeasurementTask {
        rank: 0,
        ranks,
        schedules: names,
        screening_ms: part(SCREENING),
        finals_ms: part(FINALS),
        drop_slow: !setting.all,
        seed: setting.seed,
    };
    let first = SCREENING + FINALS;
    let mut findings =
        ranks::Ranks::start(setting.program, ranks)?.measure(&task, |share| progress(share * first))?;
    if findings.chosen > 0 {
        // Processes that are started anew lie elsewhere in memory and on the cores, which may make more of a
        // difference than the way.
        let schedules = vec![task.schedules[findings.chosen - 1].clone()];
        let task = MeasurementTask { schedules, screening_ms: 0, finals_ms: part(1.0 - first), ..task };
        let again = ranks::Ranks::start(setting.program, ranks)?
            .measure(&task, |share| progress(first + share * (1.0 - first)))?;
        findings.confirm(&again);
    }
    let mut found = findings.variants.into_iter();
    let builtin =
        Way { schedule: None, predicted_ns: predict(&prediction::builtin(ranks)), found: found.next() };
    let way = |((schedule, predicted_ns), worth): ((&Schedule, Option<f64>), bool)| Way {
        schedule: Some(schedule.name()),
        predicted_ns,
        found: if worth { found.next() } else { None },
    };
    let ways: Vec<Way> =
        std::iter::once(builtin).chain(all.iter().zip(predicted).zip(worth).map(way)).collect();
    let measured: Vec<usize> = (0..ways.len()).filter(|i| ways[*i].found.is_some()).collect();
    let chosen = measured.get(findings.chosen).copied().unwrap_or(0);
    Ok(Case { ranks, calls: findings.calls, elapsed_s: begun.elapsed().as_secs_f64(), ways, chosen })
}

impl Way {
    /// How it compares with the built-in one, from the last time that this was measured.
    pub fn ratio(&self) -> Option<Ratio> {
        self.found.as_ref().and_then(|f| f.confirmation.or(f.finals))
    }
}

impl Case {
    /// The way that did best in the finals: the chosen one, if there is one.
    fn best(&self) -> Option<&Way> {
        let finals = |way: &&Way| way.ratio().map(|r| r.median);
        let contestants = self.ways.iter().filter(|way| finals(way).is_some());
        contestants.min_by(|a, b| finals(a).unwrap_or(1.0).total_cmp(&finals(b).unwrap_or(1.0)))
    }

    fn entry(&self, cores: usize, now: u64) -> TableEntry {
        let ns = |way: &Way| way.found.as_ref().map_or(0.0, |f| f.median_ns);
        let best = if self.chosen > 0 { Some(&self.ways[self.chosen]) } else { self.best() };
        let ratio = best.and_then(Way::ratio);
        TableEntry {
            operation: "barrier".into(),
            ranks: self.ranks,
            cores: cores as u32,
            schedule: self.ways[self.chosen].schedule.clone(),
            measured_unix_s: now,
            builtin_ns: ns(&self.ways[0]),
            best_ns: best.map_or_else(|| ns(&self.ways[0]), ns),
            ratio: ratio.map_or(1.0, |r| r.median),
            ratio_low: ratio.map_or(1.0, |r| r.low),
            ratio_high: ratio.map_or(1.0, |r| r.high),
            turns: ratio.map_or(0, |r| r.turns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_numbers_of_ranks_are_tried_once_each() {
        assert_eq!(counts(&[], 2), [2, 4, 8, 16]);
        assert_eq!(counts(&[], 12), [2, 4, 8, 12, 16]);
        assert_eq!(counts(&[], 1), [2, 4, 8, 16]);
        assert_eq!(counts(&[9, 3, 9], 2), [3, 9]);
    }

    #[test]
    fn a_file_that_is_no_table_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let (file, here) = (directory.path().join("table.json"), MachineId { processor: "p".into() });
        assert_eq!(existing(&file, &here).unwrap(), BarrierTable::new(here.clone()));
        std::fs::write(&file, "my thesis").unwrap();
        assert!(existing(&file, &here).unwrap_err().to_string().contains("not JSON"));
        std::fs::write(&file, BarrierTable::new(MachineId { processor: "q".into() }).text()).unwrap();
        assert_eq!(existing(&file, &here).unwrap().machine, here, "of another machine: begun anew");
    }
}
