//! Takes all passes between hosts, and has the model's parameters estimated.

use super::super::pass_times::PassTimes;
use super::super::samples::{REDRAW_SEED, SampleTable, Timed, numbers_of_peers};
use super::node_pass::{NodePass, NodeScenario, SIGNALS_PER_CREDIT};
use super::remote_nodes::RemoteNodes;
use super::start::{Start, variables_passed_on};
use crate::commands::model::arguments::{FittedModel, MeasureArguments};
use crate::errors::MeasurementError;
use crate::machine::system;
use crate::output::progress::Progress;
use evenkeel_model::measurement::{Conditions, MeasuredParameters, estimate_parameters};
use evenkeel_model::samples::{Quantity, Series};
use std::collections::HashSet;
use std::time::{Duration, SystemTime};

/// LoP's round trip has five parameters.
const HOSTS_FOR_LOP: usize = 7;
/// Turns of a pass that are timed, and turns before them that are not.
const TURNS: (u64, u64) = (100, 10);
/// The same where cores are shared, for a stream, and for messages.
const SHARED_TURNS: (u64, u64) = (40, 5);
const STREAM_TURNS: (u64, u64) = (6, 1);
const MESSAGE_TURNS: (u64, u64) = (30, 1);
/// After this time no further turn of a pass is begun.
const ENOUGH: Duration = Duration::from_millis(100);

/// Sizes of messages in bytes: the shortest one, powers of four to 64 KiB, and long ones closer together,
/// because their slope is G. All are short enough for the queue of a slow network's switch, whose overflow
/// would measure how TCP recovers.
fn sizes() -> Vec<usize> {
    (2..=8).map(|i| 1 << (2 * i)).chain([128, 192, 256, 384, 512].map(|kib| kib * 1024)).collect()
}

/// Measures the network between the hosts.
pub fn measure(arguments: &MeasureArguments) -> Result<MeasuredParameters, MeasurementError> {
    let hosts = &arguments.hosts;
    check(hosts, arguments.model)?;
    let started = SystemTime::now();
    let passed_on = variables_passed_on();
    let mut nodes = RemoteNodes::start(hosts, &Start::new(arguments, &passed_on)?)?;
    let samples = samples(&mut nodes, arguments)?;
    let first = &nodes.introductions[0];
    let conditions = Conditions {
        version: env!("CARGO_PKG_VERSION").into(),
        command: command(arguments, &passed_on),
        kernel: first.kernel.clone(),
        processor: first.processor.clone(),
        started_unix_ns: system::unix_ns(started),
        elapsed_ns: started.elapsed().map_or(0, |elapsed| elapsed.as_nanos() as u64),
        cores: nodes.cores.iter().map(|core| *core as u32).collect(),
        hosts: hosts.clone(),
        unpinned: nodes.unpinned.clone(),
        clock_ns: first.clock_ns,
        pause_ns: u64::from(arguments.pause_us) * 1000,
        load: nodes.introductions.iter().filter_map(|host| host.load).reduce(f64::max),
    };
    drop(nodes);
    estimate_parameters(&samples, arguments.model.into(), arguments.name(), conditions, REDRAW_SEED)
        .map_err(|e| MeasurementError::Failed { why: e.to_string() })
}

/// Refuses hosts that make no network, before anything is started.
fn check(hosts: &[String], model: FittedModel) -> Result<(), MeasurementError> {
    let refused = |why: String| Err(MeasurementError::Hosts { given: hosts.join(","), why });
    if let [host] = hosts {
        return refused(format!("{host} is one host, and a network has two ends"));
    }
    if hosts.iter().any(|host| host.is_empty() || host.starts_with('-')) {
        return refused("one of them has no name".into());
    }
    let mut seen = HashSet::new();
    if let Some(twice) = hosts.iter().find(|host| !seen.insert(*host)) {
        return refused(format!("{twice} is named twice"));
    }
    if model == FittedModel::LoP && hosts.len() < HOSTS_FOR_LOP {
        return Err(MeasurementError::TooFewHosts { hosts: hosts.len(), needed: HOSTS_FOR_LOP });
    }
    Ok(())
}

/// Takes all passes, one of each scenario after the other, so that a disturbance that lasts a while affects
/// all scenarios a little.
fn samples(nodes: &mut RemoteNodes, arguments: &MeasureArguments) -> Result<Vec<Series>, MeasurementError> {
    let (peers, sizes) = (numbers_of_peers(arguments.hosts.len() - 1), sizes());
    let steps = usize::from(arguments.passes) * (2 * peers.len() + sizes.len() + 1);
    let mut passes = Passes {
        table: SampleTable::new(nodes.introductions[0].clock_ns, 1),
        nodes,
        progress: Progress::new("measuring", steps),
        pause: Duration::from_micros(arguments.pause_us.into()),
    };
    for _ in 0..arguments.passes {
        for &peers in &peers {
            passes.signals(peers)?;
        }
        passes.between_two(NodeScenario::Stream, STREAM_TURNS, Quantity::Gap, SIGNALS_PER_CREDIT as f64)?;
        for &bytes in &sizes {
            passes.between_two(NodeScenario::Messages { bytes }, MESSAGE_TURNS, Quantity::Message, 2.0)?;
        }
    }
    Ok(passes.table.series)
}

/// The passes that are being taken.
struct Passes<'a> {
    nodes: &'a mut RemoteNodes,
    table: SampleTable,
    progress: Progress,
    pause: Duration,
}

impl Passes<'_> {
    fn run(
        &mut self,
        scenario: NodeScenario,
        peers: usize,
        (turns, warm_up): (u64, u64),
    ) -> Result<PassTimes, MeasurementError> {
        self.progress.finish_task();
        std::thread::sleep(self.pause);
        let (enough_us, shares_cores) = (ENOUGH.as_micros() as u64, self.nodes.share_cores(peers));
        self.nodes.run(&NodePass { scenario, peers, turns, warm_up, enough_us, shares_cores })
    }

    /// Round trips and overheads.
    fn signals(&mut self, peers: usize) -> Result<(), MeasurementError> {
        let oversubscribed = self.nodes.share_cores(peers);
        let turns = if oversubscribed { SHARED_TURNS } else { TURNS };
        let each = |quantity| Timed { quantity, peers, bytes: 0, oversubscribed, count: peers as f64 };
        let times = self.run(NodeScenario::Exchange, peers, turns)?;
        self.table.add(each(Quantity::RoundTrip), &times.whole);
        self.table.add(each(Quantity::SendOverhead), &times.posting);
        let times = self.run(NodeScenario::Collect, peers, turns)?;
        self.table.add(each(Quantity::ReceiveOverhead), &times.whole);
        Ok(())
    }

    /// A scenario of node 0 and node 1. Each time is that of `count` signals or messages.
    fn between_two(
        &mut self,
        scenario: NodeScenario,
        turns: (u64, u64),
        quantity: Quantity,
        count: f64,
    ) -> Result<(), MeasurementError> {
        let times = self.run(scenario, 1, turns)?;
        let bytes = if let NodeScenario::Messages { bytes } = scenario { bytes } else { 0 };
        let oversubscribed = self.nodes.share_cores(1);
        self.table.add(Timed { quantity, peers: 1, bytes, oversubscribed, count }, &times.whole);
        Ok(())
    }
}

/// What to type to measure the same again.
fn command(arguments: &MeasureArguments, passed_on: &[String]) -> String {
    let variables: String = passed_on.iter().map(|pair| format!("{} ", shell_words::quote(pair))).collect();
    let shell = match arguments.has_default_shell() {
        true => String::new(),
        false => format!(" --remote-shell {}", shell_words::quote(&arguments.remote_shell)),
    };
    let model = if arguments.model == FittedModel::LoP { " --model lop" } else { "" };
    format!(
        "{variables}evenkeel model measure --hosts {}{shell} --passes {} --pause-us {}{model}",
        arguments.hosts.join(","),
        arguments.passes,
        arguments.pause_us
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_of_the_growing_sizes_are_long() {
        assert_eq!(
            sizes(),
            [16, 64, 256, 1024, 4096, 16384, 65536, 131_072, 196_608, 262_144, 393_216, 524_288]
        );
        assert_eq!(
            sizes().iter().filter(|bytes| **bytes as u64 >= evenkeel_model::measurement::LONG_BYTES).count(),
            5
        );
        assert_eq!(sizes()[0], super::super::message::HEADER_BYTES);
    }

    #[test]
    fn hosts_that_make_no_network_are_refused() {
        let said = |hosts: &[&str], model| {
            check(&hosts.iter().map(|h| (*h).to_string()).collect::<Vec<_>>(), model)
                .map_err(|e| e.to_string())
        };
        assert_eq!(said(&["a", "b"], FittedModel::LogGp), Ok(()));
        assert!(said(&["a"], FittedModel::LogGp).unwrap_err().contains("a is one host"));
        assert!(said(&["a", "b", "a"], FittedModel::LogGp).unwrap_err().contains("a is named twice"));
        assert!(said(&["a", ""], FittedModel::LogGp).unwrap_err().contains("has no name"));
        assert!(said(&["a", "b"], FittedModel::LoP).unwrap_err().contains("2 hosts"));
    }
}
