//! What `evenkeel simulate` prints and writes.

use super::arguments::Simulate;
use super::command::{Run, bypass};
use super::setup::Setting;
use crate::errors::Failure;
use crate::output::file::write;
use evenkeel_model::Parameters;
use evenkeel_schedule_sim::{Noise, Recording, VirtualTime, space_time_diagram};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};
use evenkeel_text::units::{count, duration, percent, plural, short_count};
use serde::Serialize;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "schedule", dispensable: 0 },
    Column { group: "", head: "ranks", dispensable: 0 },
    Column { group: "loop", head: "each", dispensable: 0 },
    Column { group: "loop", head: "alone", dispensable: 2 },
    Column { group: "completion", head: "mean", dispensable: 0 },
    Column { group: "completion", head: "p99", dispensable: 5 },
    Column { group: "held", head: "mean", dispensable: 0 },
    Column { group: "held", head: "p99", dispensable: 3 },
    Column { group: "held", head: "longest", dispensable: 4 },
    Column { group: "", head: "messages", dispensable: 6 },
    Column { group: "", head: "most late", dispensable: 1 },
];

/// No line longer than `width` characters.
pub fn text(arguments: &Simulate, setting: &Setting, runs: &[Run], width: usize) -> String {
    let width = width.clamp(60, 160);
    let mut lines = wrap(&headline(arguments, setting), width, "  ");
    lines.push(String::new());
    let iterations = f64::from(arguments.iterations);
    let ns = |time: VirtualTime| duration(time.ns().round() as u64);
    let each = |time: VirtualTime| duration((time.ns() / iterations).round() as u64);
    let row = |run: &Run| {
        let outcome = &run.outcome;
        let stuck = outcome.stuck > 0;
        let all_held = outcome.held.mean.ps() as f64
            * outcome.calls.iter().map(|c| f64::from(c.ranks_done)).sum::<f64>();
        let late = outcome.late.first().map_or("-".into(), |l| {
            format!("{} ({})", l.rank, percent(l.held.ps() / 1000, (all_held / 1000.0) as u64))
        });
        vec![
            run.schedule.clone(),
            count(run.ranks.into()),
            if stuck { "-".into() } else { each(outcome.end) },
            each(run.alone),
            ns(outcome.completion.mean),
            ns(outcome.completion.p99),
            ns(outcome.held.mean),
            ns(outcome.held.p99),
            ns(outcome.held.max),
            short_count(outcome.messages),
            late,
        ]
    };
    lines.extend(table(COLUMNS, &runs.iter().map(row).collect::<Vec<_>>(), width).lines());
    for run in runs.iter().filter(|r| r.outcome.stuck > 0) {
        lines.push(String::new());
        let complete = run.outcome.calls.iter().filter(|c| c.ranks_done == run.ranks).count();
        let dead = if run.outcome.dead == 1 {
            "a rank is".to_string()
        } else {
            format!("{} ranks are", run.outcome.dead)
        };
        let entered = run.outcome.calls.len();
        let sentence = format!(
            "{} with {} ranks: {complete} of {} calls were completed, because {dead} dead; the others entered {entered}.",
            run.schedule,
            count(run.ranks.into()),
            arguments.iterations
        );
        lines.extend(wrap(&sentence, width, ""));
    }
    let most = runs.iter().map(|r| r.ranks).max().unwrap_or(0);
    if let Some((node, cores)) = setting
        .parameters
        .node
        .as_ref()
        .filter(|_| setting.cores.is_none())
        .and_then(|n| n.cores.map(|cores| (n, cores)))
        .filter(|(n, c)| n.ranks.unwrap_or(most).min(most) > *c)
    {
        lines.push(String::new());
        let ranks = node.ranks.unwrap_or(most).min(most);
        let sentence = format!(
            "Note: a node of {} has {}, and {ranks} ranks are put on it. Each is simulated with a core of its own: what sharing cores costs is not in these numbers. --cores counts that, and nothing else.",
            setting.parameters.name,
            plural(cores.into(), "core", "cores")
        );
        lines.extend(wrap(&sentence, width, ""));
    }
    lines.push(String::new());
    lines.extend(wrap(
        "loop: one round of compute and call; alone: if calls took no time and nobody waited. completion: from when the last rank entered \
         until the last rank was done. held: how long a rank was in a call. most late: the rank that others waited for longest, and its share.",
        width,
        "",
    ));
    let (messages, seconds) =
        runs.iter().fold((0, 0.0), |sum, r| (sum.0 + r.outcome.messages, sum.1 + r.seconds));
    lines.push(String::new());
    lines.extend(wrap(
        &format!("{} messages in {}.", count(messages), duration((seconds * 1e9) as u64)),
        width,
        "",
    ));
    lines.join("\n") + "\n"
}

fn headline(arguments: &Simulate, setting: &Setting) -> String {
    let workload = &setting.workload;
    let lost = workload.noise.share();
    let noise = match workload.noise {
        Noise::None => "no noise".to_string(),
        _ => format!(
            "noise that takes {} of the time ({})",
            percent((lost * 1e6) as u64, 1_000_000),
            arguments.noise
        ),
    };
    let node = match (&setting.cores, arguments.ranks_per_node) {
        (Some(shared), _) => {
            let cores = plural(shared.cores.into(), "core", "cores");
            let orders = plural(arguments.orders.into(), "order of ranks", "orders of ranks");
            format!(
                ", with {cores} for all ranks, handed over in {}, in {orders}",
                duration(shared.switch.ns().round() as u64)
            )
        }
        (None, Some(n)) => format!(", {n} ranks on each node"),
        (None, None) => String::new(),
    };
    let leave = if bypass(workload) {
        format!(" Ranks that are owed nothing leave at once, up to {} calls ahead.", arguments.window)
    } else {
        String::new()
    };
    format!(
        "evenkeel: {} calls, each after work of {}, simulated on {}{node}, with {noise}, seed {}.{leave}",
        workload.iterations, workload.compute, setting.parameters.name, workload.seed
    )
}

/// The layout of `--json`. Times are nanoseconds.
#[derive(Serialize)]
struct Record<'a> {
    /// Always `simulation`.
    kind: &'static str,
    schema: u32,
    version: &'static str,
    machine: &'a Parameters,
    iterations: u32,
    compute: String,
    skew: String,
    noise: &'a str,
    /// Of the time, on average.
    noise_share: f64,
    /// None: ranks stay until their own steps are done.
    window: Option<u32>,
    /// Cores that ranks share, what handing one over takes, and in how many orders it was simulated;
    /// `calls` are those of all orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<u32>,
    #[serde(rename = "switch_ns", skip_serializing_if = "Option::is_none")]
    switch: Option<VirtualTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<u32>,
    seed: u64,
    runs: &'a [Run],
}

pub fn json(arguments: &Simulate, setting: &Setting, runs: &[Run]) -> String {
    let workload = &setting.workload;
    let record = Record {
        kind: "simulation",
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        machine: &setting.parameters,
        iterations: workload.iterations,
        compute: workload.compute.to_string(),
        skew: workload.skew.to_string(),
        noise: &arguments.noise,
        noise_share: workload.noise.share(),
        window: bypass(workload).then_some(arguments.window),
        cores: setting.cores.map(|shared| shared.cores),
        switch: setting.cores.map(|shared| shared.switch),
        orders: setting.cores.map(|_| arguments.orders),
        seed: workload.seed,
        runs,
    };
    serde_json::to_string_pretty(&record).expect("plain data has a JSON form") + "\n"
}

/// The most ranks that a picture can show.
const DRAWN: u32 = 64;

/// Writes picture and transcript; returns what is printed about them.
pub fn pictures(arguments: &Simulate, recording: &Recording, ranks: u32) -> Result<String, Failure> {
    if ranks > DRAWN {
        return Err(Failure::Simulate {
            why: format!(
                "a picture or a transcript of {ranks} ranks would show nothing; {DRAWN} is the most"
            ),
        });
    }
    let mut said = String::new();
    if let Some(file) = &arguments.svg {
        let title = format!("{}, {ranks} ranks", arguments.schedules[0]);
        write(file, &space_time_diagram(recording, ranks, &title))?;
        said += &format!("\n{} written: open it in a browser.\n", file.display());
    }
    if let Some(file) = &arguments.transcript {
        write(file, &recording.transcript())?;
    }
    Ok(said)
}
