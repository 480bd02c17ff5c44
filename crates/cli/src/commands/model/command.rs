//! `evenkeel model`: measures parameters of this machine, shows sets of parameters and what barriers
//! cost under them.
//!
//! `measure` starts ranks ([`machine`]), gives them tasks ([`task`]) through shared memory ([`wires`])
//! and hands the samples to the model crate, which alone knows what they mean. [`text`] and [`plot`]
//! tell it. [`hosts`] does the same between hosts.

use super::arguments::{Act, Measure, Model, Rank};
use super::measure::local::ranks as machine;
use super::measure::samples as measure;
use super::measure::{hosts, plot, text};
use super::{arguments, show};
use crate::commands::report::command as record_file;
use crate::errors::Failure;
use crate::machine::limits as quota;
use crate::output::file::write;
use crate::output::progress::progress_bar;
use evenkeel_barrier_table::machine::MachineId;
use evenkeel_model::measurement::{Conditions, MeasuredParameters, estimate_parameters};
use evenkeel_model::{Parameters, builtin};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Does what was asked for and returns what is printed.
pub fn model(model: &Model) -> Result<String, Failure> {
    match &model.act {
        Act::Measure(arguments) => {
            // A file that cannot be written is better known before than after.
            for file in [&arguments.json, &arguments.svg].into_iter().flatten() {
                record_file::check_place(file)?;
            }
            let found = if arguments.hosts.is_empty() {
                measure_here(arguments)?
            } else {
                hosts::command::measure(arguments, SEED)?
            };
            tell(&found, arguments)
        }
        Act::Show(arguments) => show::show(arguments, record_file::terminal().0),
        Act::List => Ok(show::list(record_file::terminal().0)),
        Act::Rank(Rank { pid, descriptor, token, rank }) => {
            machine::serve(&machine::Place {
                pid: *pid,
                descriptor: *descriptor,
                token: *token,
                rank: *rank,
            })?;
            Ok(String::new())
        }
        Act::Node => hosts::node::serve().map(|()| String::new()),
    }
}

/// Redraws are random, but the same for the same samples.
const SEED: u64 = 1;

fn measure_here(arguments: &Measure) -> Result<MeasuredParameters, Failure> {
    let usable = quota::usable_cores();
    let cores = arguments.cores.as_deref().map_or_else(|| usable.clone(), quota::parse_list);
    if let Some(core) = cores.iter().find(|c| !usable.contains(c)) {
        return Err(Failure::NotOurCore { core: *core, usable: quota::show_list(&usable) });
    }
    let ranks = arguments.ranks.map_or_else(|| cores.len().clamp(16, 64), usize::from);
    let plan = measure::Plan {
        peers: measure::numbers_of_peers(ranks - 1),
        sizes: measure::sizes(),
        passes: arguments.passes.into(),
        pause: Duration::from_micros(arguments.pause_us.into()),
    };
    if arguments.model == arguments::Which::LoP && !measure::enough_for_lop(&plan.peers, cores.len()) {
        return Err(Failure::FewRanks { ranks, cores: cores.len() });
    }
    let started = SystemTime::now();
    let load = load_average();
    let program = std::env::current_exe()
        .map_err(|e| Failure::Measuring { why: format!("this program cannot find itself ({e})") })?;
    let mut machine = machine::Machine::start(&program, ranks - 1, &cores, |place| {
        let numbers = [
            place.pid.to_string(),
            place.descriptor.to_string(),
            place.token.to_string(),
            place.rank.to_string(),
        ];
        ["model", "rank"].map(String::from).into_iter().chain(numbers).collect()
    })?;
    let clock_ns = measure::clock_ns();
    let bar = progress_bar();
    let samples =
        measure::samples(&mut machine, &plan, clock_ns, |share| bar.set_position((share * 1000.0) as u64))?;
    bar.finish_and_clear();
    let unpinned = machine.unpinned.clone();
    drop(machine);
    let conditions = Conditions {
        version: env!("CARGO_PKG_VERSION").into(),
        command: command(arguments, ranks),
        kernel: kernel(),
        processor: MachineId::here().processor,
        started_unix_ns: started.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64),
        elapsed_ns: started.elapsed().map_or(0, |d| d.as_nanos() as u64),
        cores: cores.iter().map(|c| *c as u32).collect(),
        hosts: Vec::new(),
        unpinned,
        clock_ns,
        pause_ns: plan.pause.as_nanos() as u64,
        load,
    };
    estimate_parameters(&samples, arguments.model.into(), arguments.name(), conditions, SEED)
        .map_err(|e| Failure::Measuring { why: e.to_string() })
}

fn tell(found: &MeasuredParameters, arguments: &Measure) -> Result<String, Failure> {
    let mut text = text::text(found, record_file::terminal().0);
    if let Some(file) = &arguments.json {
        write(file, &serde_json::to_string_pretty(found).expect("plain data has a JSON form"))?;
        text += &format!("\n{} written. What barriers would take: evenkeel model show {0}\n", file.display());
    }
    if let Some(file) = &arguments.svg {
        write(file, &plot::svg(found)?)?;
        text += &format!("\n{} written: open it in a browser.\n", file.display());
    }
    Ok(text)
}

/// The set of that name, or of that file. Files are what has a slash or a dot in its name, or is there.
pub fn load(name: &str) -> Result<Parameters, Failure> {
    if let Some(set) = builtin::find(name) {
        return Ok(set);
    }
    let path = Path::new(name);
    if !name.contains(['/', '.']) && !path.exists() {
        return Err(Failure::NoModel { name: name.into(), known: builtin::names() });
    }
    let failed = |why: String| Failure::ModelUnreadable { path: path.to_path_buf(), why };
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    let set: Parameters = serde_json::from_str(&text).map_err(|e| failed(e.to_string()))?;
    set.check().map_err(|e| failed(e.to_string()))?;
    Ok(set)
}

/// What to type to measure the same again.
fn command(arguments: &Measure, ranks: usize) -> String {
    let cores = arguments.cores.as_ref().map(|c| format!(" --cores {c}")).unwrap_or_default();
    let model = if arguments.model == arguments::Which::LoP { " --model lop" } else { "" };
    format!(
        "evenkeel model measure --ranks {ranks} --passes {} --pause-us {}{cores}{model}",
        arguments.passes, arguments.pause_us
    )
}

/// Processes that were ready to run lately, if the kernel says.
pub(crate) fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

pub(crate) fn kernel() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_found_by_name_and_by_file_and_refused_with_a_reason() {
        assert_eq!(load("mozart-infiniband").unwrap().name, "mozart-infiniband");
        let said = load("mozart").unwrap_err().to_string();
        assert!(said.contains("clic-fast-ethernet") && said.contains("mozart-infiniband"), "{said}");
        let directory = tempfile::tempdir().unwrap();
        let file = |text: &str| {
            let path = directory.path().join("set.json");
            std::fs::write(&path, text).unwrap();
            load(path.to_str().unwrap())
        };
        let good = serde_json::to_string(&builtin::find("clic-fast-ethernet").unwrap()).unwrap();
        assert_eq!(file(&good).unwrap(), builtin::find("clic-fast-ethernet").unwrap());
        for (text, why) in [
            (good.replace("\"schema\":1", "\"schema\":7"), "layout is number 7"),
            (good.replace("\"gap_ns\":6720.0", "\"gap_ns\":-1.0"), "gap_ns is -1"),
            ("{".into(), "EOF"),
        ] {
            let said = file(&text).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
        assert!(load("./not-there.json").unwrap_err().to_string().contains("not-there.json"));
    }
}
