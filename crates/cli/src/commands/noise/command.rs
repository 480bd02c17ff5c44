//! `evenkeel noise`: measures how this machine disturbs a program, and tells it.

use crate::commands::Noise;
use crate::commands::report::command as record_file;
use crate::errors::Failure;
use crate::machine::limits as quota;
use crate::output::file::write;
use crate::output::progress::progress_bar;
use evenkeel_noise::{Conditions, MeasurementPlan, Throttling};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Of each trace. A hundred pairs of counts and more say something about a correlation.
const WINDOWS: usize = 100;

/// Measures, writes the files that were asked for, and returns what is printed.
pub fn noise(noise: &Noise) -> Result<String, Failure> {
    let plan = plan(noise, &quota::usable_cores())?;
    // A file that cannot be written is better known before ten seconds than after them.
    for file in [&noise.json, &noise.html, &noise.trace].into_iter().flatten() {
        record_file::check_place(file)?;
    }
    let stat = || std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let (stat_before, throttled_before) = (stat(), quota::own_cpu_stat(evenkeel_noise::parse_cpu_stat));
    let started_unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let bar = progress_bar();
    let traces = evenkeel_noise::measure(&plan, |share| bar.set_position((share * 1000.0) as u64));
    bar.finish_and_clear();
    let stat_after = stat();
    let steal = |core: usize| {
        let of = |stat: &str| evenkeel_noise::parse_steal_ns(stat, core);
        of(&stat_before).zip(of(&stat_after)).map(|(before, after)| after.saturating_sub(before))
    };
    let throttled_after = quota::own_cpu_stat(evenkeel_noise::parse_cpu_stat);
    let conditions = Conditions {
        version: env!("CARGO_PKG_VERSION").into(),
        kernel: kernel(),
        started_unix_ns,
        throttling: throttling(&throttled_before, &throttled_after),
        steal_ns: plan.cores.iter().map(|core| steal(*core)).collect(),
    };
    if let Some(file) = &noise.trace {
        write(
            file,
            &serde_json::to_string(&evenkeel_noise::gap_trace(&plan, &traces, &conditions))
                .expect("plain data has a JSON form"),
        )?;
    }
    let found = evenkeel_noise::summarize(&plan, &traces, conditions);
    let mut text = evenkeel_noise::text(&found, record_file::terminal().0);
    if let Some(file) = &noise.json {
        write(file, &serde_json::to_string_pretty(&found).expect("plain data has a JSON form"))?;
    }
    if let Some(file) = &noise.html {
        write(file, &evenkeel_noise::html(&found))?;
        text += &format!("\n{} written: open it in a browser.\n", file.display());
    }
    Ok(text)
}

/// What is to be measured; refuses cores that this process may not use.
pub fn plan(noise: &Noise, usable: &[usize]) -> Result<MeasurementPlan, Failure> {
    let cores = noise.cores.as_deref().map_or_else(|| usable.to_vec(), quota::parse_list);
    if let Some(core) = cores.iter().find(|c| !usable.contains(c)) {
        return Err(Failure::NotOurCore { core: *core, usable: quota::show_list(usable) });
    }
    Ok(MeasurementPlan {
        cores,
        length: Duration::from_secs_f64(noise.seconds),
        quantum: Duration::from_secs_f64(noise.quantum_us / 1e6),
        min_gap: Duration::from_secs_f64(noise.gap_us / 1e6),
        windows: WINDOWS,
    })
}

/// The largest of what each group on the way up says: a quota further up throttles those below as well,
/// but each throttled moment is counted where the quota is.
fn throttling(before: &[Throttling], after: &[Throttling]) -> Option<Throttling> {
    before.iter().zip(after).map(|(before, after)| after.since(*before)).max_by_key(|t| (t.ns, t.times))
}

fn kernel() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_was_throttled_most_counts() {
        let of = |times, ns| Throttling { times, ns };
        assert_eq!(throttling(&[of(0, 0), of(5, 50)], &[of(0, 0), of(7, 90)]), Some(of(2, 40)));
        assert_eq!(throttling(&[], &[]), None);
    }
}
