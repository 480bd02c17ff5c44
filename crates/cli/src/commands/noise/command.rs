//! Carries out `evenkeel noise`.

use super::arguments::NoiseArguments;
use crate::errors::{CommandError, MeasurementError};
use crate::machine::{control_groups, core_list, cores, system};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_noise::{Conditions, MeasurementPlan, Throttling};
use std::time::{Duration, SystemTime};

/// Windows of each trace. A hundred pairs of counts and more say something about a correlation.
const WINDOWS: usize = 100;

/// Measures, writes the files that were asked for, and returns what is printed.
pub fn noise(arguments: &NoiseArguments) -> Result<String, CommandError> {
    let plan = plan(arguments, &cores::usable())?;
    let outputs = &[
        ("--json", arguments.json.as_deref()),
        ("--html", arguments.html.as_deref()),
        ("--trace", arguments.trace.as_deref()),
    ];
    file::check_outputs(outputs, &[])?;
    let started = SystemTime::now();
    let before = Counters::now();
    let traces = {
        let progress = Progress::new("measuring", 1);
        evenkeel_noise::measure(&plan, |share| progress.set_share(share))
    };
    let conditions = conditions(&plan, started, &before, &Counters::now());
    if let Some(trace) = &arguments.trace {
        let gaps = evenkeel_noise::gap_trace(&plan, &traces, &conditions);
        file::write(trace, &serde_json::to_string(&gaps).expect("records consist of plain data"))?;
    }
    let found = evenkeel_noise::summarize(&plan, &traces, conditions);
    let mut text = evenkeel_noise::text(&found, terminal::width());
    if let Some(record) = &arguments.json {
        file::write_json(record, &found)?;
    }
    if let Some(page) = &arguments.html {
        file::write(page, &evenkeel_noise::html(&found))?;
        text += &format!("\n{}\n", file::written_for_browser(page));
    }
    Ok(text)
}

/// What is to be measured. Refuses cores that this process may not use.
fn plan(arguments: &NoiseArguments, usable: &[usize]) -> Result<MeasurementPlan, MeasurementError> {
    let cores = arguments.cores.as_deref().map_or_else(|| usable.to_vec(), core_list::parse);
    if let Some(core) = cores.iter().find(|core| !usable.contains(core)) {
        return Err(MeasurementError::CoreNotUsable { core: *core, usable: core_list::show(usable) });
    }
    Ok(MeasurementPlan {
        cores,
        length: Duration::from_secs_f64(arguments.seconds),
        quantum: Duration::from_secs_f64(arguments.quantum_us / 1e6),
        min_gap: Duration::from_secs_f64(arguments.gap_us / 1e6),
        windows: WINDOWS,
    })
}

/// The kernel's counters of what it took from programs.
struct Counters {
    /// /proc/stat
    stat: String,
    /// Of each control group on the way up.
    throttling: Vec<Throttling>,
}

impl Counters {
    fn now() -> Counters {
        Counters {
            stat: std::fs::read_to_string("/proc/stat").unwrap_or_default(),
            throttling: control_groups::own_cpu_stat(evenkeel_noise::parse_cpu_stat),
        }
    }
}

fn conditions(
    plan: &MeasurementPlan,
    started: SystemTime,
    before: &Counters,
    after: &Counters,
) -> Conditions {
    let steal = |core: &usize| {
        let of = |counters: &Counters| evenkeel_noise::parse_steal_ns(&counters.stat, *core);
        Some(of(after)?.saturating_sub(of(before)?))
    };
    Conditions {
        version: env!("CARGO_PKG_VERSION").into(),
        kernel: system::kernel(),
        started_unix_ns: system::unix_ns(started),
        throttling: most_throttled(&before.throttling, &after.throttling),
        steal_ns: plan.cores.iter().map(steal).collect(),
    }
}

/// The throttling of the group that was throttled most. A quota further up throttles the groups below it too,
/// but a throttled moment is counted only in the group that has the quota.
fn most_throttled(before: &[Throttling], after: &[Throttling]) -> Option<Throttling> {
    let changes = before.iter().zip(after).map(|(before, after)| after.since(*before));
    changes.max_by_key(|throttling| (throttling.ns, throttling.times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_was_throttled_most_counts() {
        let of = |times, ns| Throttling { times, ns };
        assert_eq!(most_throttled(&[of(0, 0), of(5, 50)], &[of(0, 0), of(7, 90)]), Some(of(2, 40)));
        assert_eq!(most_throttled(&[], &[]), None);
    }
}
