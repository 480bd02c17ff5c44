//! Measures this machine: starts the ranks, takes all passes, and has the model's parameters estimated.

use super::super::super::arguments::{FittedModel, MeasureArguments};
use super::super::samples::{POSTS_PER_SAMPLE, REDRAW_SEED, SampleTable, Timed, clock_ns, numbers_of_peers};
use super::rank_pass::{BLOCK, Scenario};
use super::ranks::MeasuringRanks;
use crate::errors::MeasurementError;
use crate::machine::{core_list, cores, system};
use crate::output::progress::Progress;
use evenkeel_barrier_table::machine::MachineId;
use evenkeel_model::measurement::{Conditions, MeasuredParameters, estimate_parameters};
use evenkeel_model::samples::{Quantity, Series};
use std::time::{Duration, SystemTime};

/// Turns of a pass that are timed, and turns before them that are not.
const TURNS: (u64, u64) = (200, 20);
/// The same where cores are shared: a turn takes a context switch for each rank.
const SHARED_TURNS: (u64, u64) = (40, 5);
/// The same for a stream, for short and for long messages, and for two ranks on one core.
const STREAM_TURNS: (u64, u64) = (10, 1);
const SHORT_MESSAGE_TURNS: (u64, u64) = (60, 5);
const LONG_MESSAGE_TURNS: (u64, u64) = (20, 5);
const SWITCH_TURNS: (u64, u64) = (100, 10);
/// Messages above this size are long.
const LONG_BYTES: usize = 1 << 16;

/// What to measure.
#[derive(Clone, Debug, PartialEq)]
struct MeasurementPlan {
    peers: Vec<usize>,
    /// Sizes of messages in bytes.
    sizes: Vec<usize>,
    passes: usize,
    /// Before each pass, so that caches and pipelines are as cold as in a program that computes meanwhile.
    pause: Duration,
}

/// Measures this machine's shared memory.
pub fn measure(arguments: &MeasureArguments) -> Result<MeasuredParameters, MeasurementError> {
    let cores = usable_cores(arguments.cores.as_deref())?;
    let ranks = arguments.ranks.map_or_else(|| cores.len().clamp(16, 64), usize::from);
    let plan = MeasurementPlan {
        peers: numbers_of_peers(ranks - 1),
        sizes: sizes(),
        passes: arguments.passes.into(),
        pause: Duration::from_micros(arguments.pause_us.into()),
    };
    if arguments.model == FittedModel::LoP && !is_enough_for_lop(&plan.peers, cores.len()) {
        return Err(MeasurementError::TooFewRanks { ranks, cores: cores.len() });
    }
    let started = SystemTime::now();
    let load = system::load_average();
    let program = std::env::current_exe()
        .map_err(|e| failed(format!("this program cannot find its own file ({e})")))?;
    let mut measuring = MeasuringRanks::start(&program, ranks - 1, &cores)?;
    let clock_ns = clock_ns();
    let samples = samples(&mut measuring, &plan, clock_ns)?;
    let conditions = Conditions {
        version: env!("CARGO_PKG_VERSION").into(),
        command: command(arguments, ranks),
        kernel: system::kernel(),
        processor: MachineId::here().processor,
        started_unix_ns: system::unix_ns(started),
        elapsed_ns: started.elapsed().map_or(0, |elapsed| elapsed.as_nanos() as u64),
        cores: cores.iter().map(|core| *core as u32).collect(),
        hosts: Vec::new(),
        unpinned: measuring.unpinned.clone(),
        clock_ns,
        pause_ns: plan.pause.as_nanos() as u64,
        load,
    };
    drop(measuring);
    estimate_parameters(&samples, arguments.model.into(), arguments.name(), conditions, REDRAW_SEED)
        .map_err(|e| failed(e.to_string()))
}

/// The cores that are measured: those that were asked for, or all.
fn usable_cores(asked: Option<&str>) -> Result<Vec<usize>, MeasurementError> {
    let usable = cores::usable();
    let cores = asked.map_or_else(|| usable.clone(), core_list::parse);
    match cores.iter().find(|core| !usable.contains(core)) {
        Some(core) => Err(MeasurementError::CoreNotUsable { core: *core, usable: core_list::show(&usable) }),
        None => Ok(cores),
    }
}

/// Whether six numbers of peers leave each rank a core, or six do not.
fn is_enough_for_lop(peers: &[usize], cores: usize) -> bool {
    let with_own_core = peers.iter().filter(|peers| **peers < cores).count();
    with_own_core >= 6 || peers.len() - with_own_core >= 6
}

/// Sizes of messages: one byte, then powers of four from a cache line to a MiB.
fn sizes() -> Vec<usize> {
    std::iter::once(1).chain((3..=10).map(|i| 1 << (2 * i))).collect()
}

/// Takes all passes, one of each scenario after the other, so that a disturbance that lasts a while affects
/// all scenarios a little.
fn samples(
    ranks: &mut MeasuringRanks,
    plan: &MeasurementPlan,
    clock_ns: f64,
) -> Result<Vec<Series>, MeasurementError> {
    let steps = plan.passes * (3 * plan.peers.len() + plan.sizes.len() + 2);
    let mut passes = Passes {
        ranks,
        table: SampleTable::new(clock_ns, POSTS_PER_SAMPLE),
        progress: Progress::new("measuring", steps),
        pause: plan.pause,
    };
    for _ in 0..plan.passes {
        for &peers in &plan.peers {
            passes.signals(peers)?;
        }
        passes.stream()?;
        for &bytes in &plan.sizes {
            passes.messages(bytes)?;
        }
        passes.switches()?;
    }
    Ok(passes.table.series)
}

/// The passes that are being taken.
struct Passes<'a> {
    ranks: &'a mut MeasuringRanks,
    table: SampleTable,
    progress: Progress,
    pause: Duration,
}

impl Passes<'_> {
    fn pause(&self) {
        self.progress.finish_task();
        std::thread::sleep(self.pause);
    }

    /// Round trips, overheads, and the times to and from the last peer.
    fn signals(&mut self, peers: usize) -> Result<(), MeasurementError> {
        let oversubscribed = self.ranks.share_cores(peers);
        let turns = if oversubscribed { SHARED_TURNS } else { TURNS };
        let all = |quantity| Timed { quantity, peers, bytes: 0, oversubscribed, count: 1.0 };
        let each = |quantity| Timed { count: peers as f64, ..all(quantity) };
        self.pause();
        let times = self.ranks.run(Scenario::Exchange, peers, turns)?;
        self.table.add(each(Quantity::RoundTrip), &times.whole);
        self.table.add(each(Quantity::SendOverhead), &times.posting);
        self.pause();
        let times = self.ranks.run(Scenario::Stamped, peers, turns)?;
        self.table.add(all(Quantity::OneToMany), &times.to_last);
        self.table.add(all(Quantity::ManyToOne), &times.from_last);
        self.pause();
        let times = self.ranks.run(Scenario::Collect, peers, turns)?;
        self.table.add(each(Quantity::ReceiveOverhead), &times.whole);
        Ok(())
    }

    fn stream(&mut self) -> Result<(), MeasurementError> {
        self.pause();
        let times = self.ranks.run(Scenario::Stream, 1, STREAM_TURNS)?;
        let timed = self.between_two(Quantity::Gap, 0, BLOCK as f64);
        self.table.add(timed, &times.whole);
        Ok(())
    }

    fn messages(&mut self, bytes: usize) -> Result<(), MeasurementError> {
        self.pause();
        let turns = if bytes > LONG_BYTES { LONG_MESSAGE_TURNS } else { SHORT_MESSAGE_TURNS };
        let times = self.ranks.run(Scenario::Messages { bytes }, 1, turns)?;
        let timed = self.between_two(Quantity::Message, bytes, 2.0);
        self.table.add(timed, &times.whole);
        Ok(())
    }

    /// The time of a context switch between two ranks.
    fn switches(&mut self) -> Result<(), MeasurementError> {
        self.pause();
        let times = self.ranks.run_on_one_core(Scenario::Exchange, SWITCH_TURNS)?;
        let timed = Timed { oversubscribed: true, ..self.between_two(Quantity::Switch, 0, 2.0) };
        self.table.add(timed, &times.whole);
        Ok(())
    }

    fn between_two(&self, quantity: Quantity, bytes: usize, count: f64) -> Timed {
        Timed { quantity, peers: 1, bytes, oversubscribed: self.ranks.share_cores(1), count }
    }
}

/// What to type to measure the same again.
fn command(arguments: &MeasureArguments, ranks: usize) -> String {
    let cores = arguments.cores.as_ref().map(|cores| format!(" --cores {cores}")).unwrap_or_default();
    let model = if arguments.model == FittedModel::LoP { " --model lop" } else { "" };
    format!(
        "evenkeel model measure --ranks {ranks} --passes {} --pause-us {}{cores}{model}",
        arguments.passes, arguments.pause_us
    )
}

fn failed(why: String) -> MeasurementError {
    MeasurementError::Failed { why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lop_takes_six_numbers_of_peers_of_one_kind() {
        assert!(is_enough_for_lop(&numbers_of_peers(6), 7) && is_enough_for_lop(&numbers_of_peers(7), 2));
        assert!(!is_enough_for_lop(&numbers_of_peers(5), 7) && !is_enough_for_lop(&numbers_of_peers(8), 4));
    }

    #[test]
    fn sizes_grow_from_a_byte_to_a_mebibyte() {
        assert_eq!(sizes(), [1, 64, 256, 1024, 4096, 16384, 65536, 262_144, 1_048_576]);
    }
}
