//! `evenkeel model measure --hosts`: the same between hosts, over the fabric that agents use.
//!
//! This process starts one on each host ([`job`]), which speak to each other over UCX ([`node`]): the
//! first takes the times ([`lead`]), the others answer ([`peer`]). What the samples mean is the model
//! crate's business, as within a host.

use super::coordinator::{CREDIT, Scenario, Task};
use super::remote_nodes::{Job, Way};
use crate::commands::model::arguments::{Measure, Which};
use crate::commands::model::measure::samples::{Table, numbers_of_peers};
use crate::errors::Failure;
use crate::output::progress::progress_bar;
use evenkeel_model::measurement::{Conditions, MeasuredParameters, estimate_parameters};
use evenkeel_model::samples::{Quantity, Series};
use std::collections::HashSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// LoP's round trip has five parameters.
const HOSTS_FOR_LOP: usize = 7;
/// Turns of a pass, and turns before them that only warm up.
const TURNS: (u64, u64) = (100, 10);
/// The same where cores are shared.
const SHARED_TURNS: (u64, u64) = (40, 5);
const STREAMS: (u64, u64) = (6, 1);
const LETTERS: (u64, u64) = (30, 1);
/// No further turn is begun after so long.
const ENOUGH: Duration = Duration::from_millis(100);
/// Variables with this beginning are passed on: which devices and transports are used is said by them.
const PASSED_ON: &str = "UCX_";

/// Sizes of messages in bytes: the shortest there is, powers of four to 64 KiB, and long ones closer
/// together, because their slope is G. None is so long that it overflows the queue of a slow network's
/// switch, which would measure how TCP recovers.
fn sizes() -> Vec<usize> {
    (2..=8).map(|i| 1 << (2 * i)).chain([128, 192, 256, 384, 512].map(|kib| kib * 1024)).collect()
}

/// Measures, or says why not.
pub fn measure(arguments: &Measure, seed: u64) -> Result<MeasuredParameters, Failure> {
    let hosts = &arguments.hosts;
    check(hosts, arguments.model)?;
    let started = SystemTime::now();
    let passed_on = passed_on();
    let mut job = Job::start(hosts, &way(arguments, &passed_on)?)?;
    let bar = progress_bar();
    let samples = samples(&mut job, arguments, |share| bar.set_position((share * 1000.0) as u64))?;
    bar.finish_and_clear();
    let first = &job.hellos[0];
    let conditions = Conditions {
        version: env!("CARGO_PKG_VERSION").into(),
        command: command(arguments, &passed_on),
        kernel: first.kernel.clone(),
        processor: first.processor.clone(),
        started_unix_ns: started.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64),
        elapsed_ns: started.elapsed().map_or(0, |d| d.as_nanos() as u64),
        cores: job.cores.iter().map(|c| *c as u32).collect(),
        hosts: hosts.clone(),
        unpinned: job.unpinned.clone(),
        clock_ns: first.clock_ns,
        pause_ns: u64::from(arguments.pause_us) * 1000,
        load: job.hellos.iter().filter_map(|h| h.load).reduce(f64::max),
    };
    drop(job);
    estimate_parameters(&samples, arguments.model.into(), arguments.name(), conditions, seed)
        .map_err(|e| Failure::Measuring { why: e.to_string() })
}

fn check(hosts: &[String], model: Which) -> Result<(), Failure> {
    let wrong = |why: String| Err(Failure::Hosts { given: hosts.join(","), why });
    if let [host] = hosts {
        return wrong(format!("{host} is one host, and a network has two ends"));
    }
    if hosts.iter().any(|host| host.is_empty() || host.starts_with('-')) {
        return wrong("one of them has no name".into());
    }
    let mut seen = HashSet::new();
    if let Some(twice) = hosts.iter().find(|host| !seen.insert(*host)) {
        return wrong(format!("{twice} is named twice"));
    }
    if model == Which::LoP && hosts.len() < HOSTS_FOR_LOP {
        return Err(Failure::FewHosts { hosts: hosts.len(), needed: HOSTS_FOR_LOP });
    }
    Ok(())
}

fn passed_on() -> Vec<String> {
    let pair = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some(format!("{}={}", name.to_str().filter(|n| n.starts_with(PASSED_ON))?, value.to_str()?))
    };
    let mut found: Vec<String> = std::env::vars_os().filter_map(pair).collect();
    found.sort();
    found
}

fn way(arguments: &Measure, passed_on: &[String]) -> Result<Way, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::Measuring { why: format!("this program cannot find itself ({e})") })?;
    let shell = shell_words::split(&arguments.remote_shell).ok().filter(|words| !words.is_empty());
    let shell = shell.ok_or_else(|| Failure::RemoteShell { given: arguments.remote_shell.clone() })?;
    let mut words = Vec::new();
    if !passed_on.is_empty() {
        words.push("env".to_string());
        words.extend_from_slice(passed_on);
    }
    words.extend([program.to_string_lossy().into_owned(), "model".into(), "node".into()]);
    Ok(Way { shell, words })
}

/// Takes all passes, one of each scenario after the other, so that what disturbs for a while disturbs
/// all a little. `progress` is told the share done.
fn samples(
    job: &mut Job,
    arguments: &Measure,
    mut progress: impl FnMut(f64),
) -> Result<Vec<Series>, Failure> {
    let peers = numbers_of_peers(arguments.hosts.len() - 1);
    let sizes = sizes();
    let passes = usize::from(arguments.passes);
    let pause = Duration::from_micros(arguments.pause_us.into());
    let mut table = Table::new(job.hellos[0].clock_ns, 1);
    let steps = passes * (2 * peers.len() + sizes.len() + 1);
    let mut done = 0;
    let mut run = |job: &mut Job, scenario, peers, (times, warm_up)| {
        done += 1;
        progress(done as f64 / steps as f64);
        std::thread::sleep(pause);
        let share = job.shares(peers);
        job.run(&Task { scenario, peers, times, warm_up, enough_us: ENOUGH.as_micros() as u64, share })
    };
    for _ in 0..passes {
        for &peers in &peers {
            let (over, each) = (job.shares(peers), peers as f64);
            let turns = if over { SHARED_TURNS } else { TURNS };
            let times = run(job, Scenario::Exchange, peers, turns)?;
            table.add(Quantity::RoundTrip, peers, 0, over, &times.whole, each);
            table.add(Quantity::SendOverhead, peers, 0, over, &times.posting, each);
            let times = run(job, Scenario::Collect, peers, turns)?;
            table.add(Quantity::ReceiveOverhead, peers, 0, over, &times.whole, each);
        }
        let over = job.shares(1);
        let times = run(job, Scenario::Stream, 1, STREAMS)?;
        table.add(Quantity::Gap, 1, 0, over, &times.whole, CREDIT as f64);
        for &bytes in &sizes {
            let times = run(job, Scenario::Letters { bytes }, 1, LETTERS)?;
            table.add(Quantity::Message, 1, bytes, over, &times.whole, 2.0);
        }
    }
    Ok(table.series)
}

/// What to type to measure the same again.
fn command(arguments: &Measure, passed_on: &[String]) -> String {
    let variables: String = passed_on.iter().map(|pair| format!("{} ", shell_words::quote(pair))).collect();
    let shell = if arguments.has_default_shell() {
        String::new()
    } else {
        format!(" --remote-shell {}", shell_words::quote(&arguments.remote_shell))
    };
    let model = if arguments.model == Which::LoP { " --model lop" } else { "" };
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
    fn sizes_grow_and_five_are_long() {
        assert_eq!(
            sizes(),
            [16, 64, 256, 1024, 4096, 16384, 65536, 131_072, 196_608, 262_144, 393_216, 524_288]
        );
        assert_eq!(
            sizes().iter().filter(|bytes| **bytes as u64 >= evenkeel_model::measurement::LONG_BYTES).count(),
            5
        );
        assert_eq!(sizes()[0], super::super::message::HEAD);
    }

    #[test]
    fn what_cannot_be_a_network_is_said_before() {
        let said = |hosts: &[&str], model| {
            check(&hosts.iter().map(|h| (*h).to_string()).collect::<Vec<_>>(), model)
                .map_err(|e| e.to_string())
        };
        assert_eq!(said(&["a", "b"], Which::LogGp), Ok(()));
        assert!(said(&["a"], Which::LogGp).unwrap_err().contains("a is one host"));
        assert!(said(&["a", "b", "a"], Which::LogGp).unwrap_err().contains("a is named twice"));
        assert!(said(&["a", ""], Which::LogGp).unwrap_err().contains("has no name"));
        assert!(said(&["a", "b"], Which::LoP).unwrap_err().contains("2 hosts"));
    }
}
