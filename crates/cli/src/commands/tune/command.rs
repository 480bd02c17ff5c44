//! Carries out `evenkeel tune`.

use super::arguments::{TuneArguments, TuneCommand};
use super::engine_ranks;
use super::measurement::Measurement;
use super::result::{RankCountResult, TuneRecord};
use super::table_file::TableFile;
use super::text;
use crate::errors::{CommandError, MeasurementError};
use crate::input::model_parameters;
use crate::machine::cores;
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_barrier_table::machine::MachineId;
use evenkeel_model::Parameters;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Numbers of ranks that are measured if none are asked for, besides the number of cores.
const USUAL_RANKS: [u32; 4] = [2, 4, 8, 16];
/// The most ranks that a measurement can have.
const MOST_RANKS: u32 = 512;

/// Measures, writes the files that were asked for, and returns what is printed.
pub fn tune(arguments: &TuneArguments) -> Result<String, CommandError> {
    if let Some(TuneCommand::Rank { starter }) = arguments.command {
        engine_ranks::serve(starter)?;
        return Ok(String::new());
    }
    let cores = cores::usable_at_once();
    let here = MachineId::here();
    let mut table = TableFile::open(arguments, &here)?;
    file::check_outputs(&[("--json", arguments.json.as_deref())], &[Path::new(&arguments.machine)])?;
    let parameters = model_parameters::load(&arguments.machine)?;
    let program = std::env::current_exe().map_err(|e| MeasurementError::Failed {
        why: format!("this program cannot find its own file ({e})"),
    })?;
    let begun = Instant::now();
    let found = measure(arguments, cores, &parameters, &program)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let record = TuneRecord {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        machine: here,
        cores,
        model: parameters.name,
        seed: arguments.seed,
        time_limit_s: arguments.time_limit,
        elapsed_s: begun.elapsed().as_secs_f64(),
        rank_counts: found,
    };
    if let Some(json) = &arguments.json {
        file::write_json(json, &record)?;
    }
    if let Some(table) = &mut table {
        table.add(record.rank_counts.iter().map(|found| found.entry(cores, now)));
        table.write()?;
    }
    Ok(text::text(&record, table.as_ref(), terminal::width()))
}

/// Measures with each number of ranks.
fn measure(
    arguments: &TuneArguments,
    cores: usize,
    parameters: &Parameters,
    program: &Path,
) -> Result<Vec<RankCountResult>, MeasurementError> {
    let counts = rank_counts(&arguments.ranks, cores);
    let progress = Progress::new("measuring", counts.len());
    let measurement = Measurement {
        program,
        cores,
        parameters,
        seed: arguments.seed,
        keeps_slow_ones: arguments.all,
        time: Duration::from_secs_f64(arguments.time_limit / counts.len() as f64),
        progress: &progress,
    };
    let with = |ranks| {
        let found = measurement.with(ranks)?;
        progress.finish_task();
        Ok(found)
    };
    counts.into_iter().map(with).collect()
}

/// The numbers of ranks that are asked for, or the usual ones, each once.
fn rank_counts(asked: &[u32], cores: usize) -> Vec<u32> {
    let usual = || USUAL_RANKS.into_iter().chain([(cores as u32).clamp(2, MOST_RANKS)]).collect();
    let mut counts = if asked.is_empty() { usual() } else { asked.to_vec() };
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_numbers_of_ranks_are_tried_once_each() {
        assert_eq!(rank_counts(&[], 2), [2, 4, 8, 16]);
        assert_eq!(rank_counts(&[], 12), [2, 4, 8, 12, 16]);
        assert_eq!(rank_counts(&[], 1), [2, 4, 8, 16]);
        assert_eq!(rank_counts(&[9, 3, 9], 2), [3, 9]);
    }
}
