//! `evenkeel schedule`: lists, shows and checks the collective algorithms.

use super::arguments::{Check, Gallery, List, ScheduleTask, Show, Which};
use crate::commands::report::command as record_file;
use crate::errors::Failure;
use crate::output::file::write;
use evenkeel_schedule::check::{CheckError, Costs, Interleaving, costs, explore, fits_in_memory, run};
use evenkeel_schedule::picture::{Picture, gallery, svg, text};
use evenkeel_schedule::{
    Algorithm, Collective, CombiningOrder, Nodes, Problem, Rank, Schedule, Step, algorithms,
};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};

/// A run keeps what each rank knew with each message.
const MOST_BYTES: u64 = 2 << 30;

/// Carries a subcommand out and returns what is printed.
pub fn schedule(task: &ScheduleTask) -> Result<String, Failure> {
    match task {
        ScheduleTask::List(arguments) => list(arguments, record_file::terminal().0),
        ScheduleTask::Show(arguments) => show(arguments, record_file::terminal().0),
        ScheduleTask::Check(arguments) => check(arguments),
        ScheduleTask::Gallery(arguments) => write_gallery(arguments),
    }
}

const COLUMNS: &[Column] = &[
    Column { group: "", head: "algorithm", dispensable: 0 },
    Column { group: "", head: "parameters", dispensable: 3 },
    Column { group: "", head: "rounds", dispensable: 0 },
    Column { group: "messages", head: "all", dispensable: 0 },
    Column { group: "messages", head: "sent", dispensable: 4 },
    Column { group: "elements", head: "all", dispensable: 2 },
    Column { group: "elements", head: "sent", dispensable: 5 },
    Column { group: "memory", head: "flags", dispensable: 6 },
    Column { group: "memory", head: "scratch", dispensable: 7 },
    Column { group: "must", head: "respond", dispensable: 1 },
];

fn list(arguments: &List, width: usize) -> Result<String, Failure> {
    let mut out = String::new();
    for operation in Collective::ALL {
        if arguments.operation.is_some_and(|wanted| wanted.operation() != operation) {
            continue;
        }
        let mut rows = Vec::new();
        for algorithm in algorithms::for_collective(operation) {
            let elements = if operation == Collective::Barrier { 0 } else { arguments.elements };
            let schedule =
                Schedule::new(algorithm, Problem::new(arguments.ranks).with_elements(elements), &[])?;
            rows.push(row(&schedule, &counted(&schedule)?));
        }
        let size = if operation == Collective::Barrier {
            String::new()
        } else {
            format!(", {} elements", arguments.elements)
        };
        out += &format!("{}, {} ranks{size}\n", operation.name(), arguments.ranks);
        for line in table(COLUMNS, &rows, width).lines() {
            out += &format!("{line}\n");
        }
        out.push('\n');
    }
    for paragraph in LEGEND {
        wrap(paragraph, width, "").into_iter().for_each(|line| out += &format!("{line}\n"));
    }
    Ok(out)
}

const LEGEND: &[&str] = &[
    "rounds: messages that must follow one another. sent: of the rank that sends most. scratch: elements of memory of a rank \
     that others write to. must respond: other ranks that must do something between a rank's entering and its leaving, of the rank with fewest \
     and of that with most.",
    "`evenkeel schedule show NAME` draws one and tells its source; parameters are set with --param NAME=VALUE.",
];

fn row(schedule: &Schedule, f: &Costs) -> Vec<String> {
    let values = schedule.algorithm.parameters.iter().zip(schedule.problem.values);
    let parameters: Vec<String> = values.map(|(p, v)| format!("{}={}", p.name, p.show(v))).collect();
    vec![
        schedule.algorithm.name.into(),
        parameters.join(" "),
        f.rounds.to_string(),
        f.messages.to_string(),
        f.sent.to_string(),
        f.elements.to_string(),
        f.sent_elements.to_string(),
        f.flags.to_string(),
        f.scratch.to_string(),
        responders(f),
    ]
}

fn responders(f: &Costs) -> String {
    if f.responders == f.least_responders {
        f.responders.to_string()
    } else {
        format!("{}-{}", f.least_responders, f.responders)
    }
}

fn show(arguments: &Show, width: usize) -> Result<String, Failure> {
    let schedule = made(&arguments.which)?;
    if let Some(rank) = arguments.steps {
        return steps(&schedule, rank);
    }
    let f = counted(&schedule)?;
    let picture = Picture::of(&schedule).map_err(|defect| wrong(&schedule, defect))?;
    let mut out = match text::text(&picture, width) {
        Some(text) => text,
        None => format!(
            "{}\n\nIts {} columns do not fit {width}; --svg FILE draws it.\n",
            picture.title(),
            schedule.problem.ranks
        ),
    };
    out.push('\n');
    for paragraph in about(&schedule, &f) {
        wrap(&paragraph, width, "  ").into_iter().for_each(|line| out += &format!("{line}\n"));
    }
    if let Some(file) = &arguments.svg {
        record_file::check_place(file)?;
        write(file, &svg::svg(&picture))?;
        out += &format!("{} written.\n", file.display());
    }
    Ok(out)
}

fn about(schedule: &Schedule, f: &Costs) -> Vec<String> {
    let algorithm = schedule.algorithm;
    let mut all = vec![
        algorithm.about.to_string(),
        format!("Source: {}.", algorithm.source),
        format!("Cost: {}.", algorithm.cost),
    ];
    match algorithm.order {
        CombiningOrder::Nothing => {}
        CombiningOrder::Fold => {
            all.push("It combines in the order of ranks, grouped as the engine groups.".into())
        }
        CombiningOrder::Ranks => {
            all.push("It combines in the order of ranks, in another grouping than the engine's.".into())
        }
        CombiningOrder::Any => all
            .push("It combines in another order than that of ranks: for commutative operations only.".into()),
    }
    let data = if f.elements > 0 { format!(", {} elements moved", f.elements) } else { String::new() };
    all.push(format!(
        "{} rounds, {} messages (at most {} sent by one rank){data}. A rank's memory: {} flags and counters, {} elements of scratch. \
         Between entering and leaving a rank needs {} others to respond.",
        f.rounds,
        f.messages,
        f.sent,
        f.flags,
        f.scratch,
        responders(f)
    ));
    for parameter in algorithm.parameters {
        all.push(format!(
            "--param {}={}: {} ({} if nothing is said).",
            parameter.name,
            parameter.range(),
            parameter.about,
            parameter.show(parameter.default)
        ));
    }
    all
}

fn steps(schedule: &Schedule, rank: u32) -> Result<String, Failure> {
    if rank >= schedule.problem.ranks {
        return Err(Failure::NoSuchRank { rank, ranks: schedule.problem.ranks });
    }
    let lines = schedule
        .program(Rank(rank))
        .into_iter()
        .map(|(round, step)| format!("round {:>3}  {step:?}\n", round + 1));
    Ok(lines.collect())
}

fn check(arguments: &Check) -> Result<String, Failure> {
    let schedule = made(&arguments.which)?;
    affordable(&schedule)?;
    let epochs = 1 + 2 * u64::from(schedule.resources.banks);
    let found = |driver: Interleaving| {
        run(&schedule, epochs, driver).map(|_| ()).map_err(|defect| wrong(&schedule, defect))
    };
    found(Interleaving::Prompt)?;
    found(Interleaving::LastFirst)?;
    for i in 0..arguments.random {
        found(Interleaving::Random(arguments.seed.wrapping_add(i)))?;
    }
    let decides = (0..schedule.problem.ranks)
        .any(|r| schedule.program(Rank(r)).iter().any(|(_, step)| matches!(step, Step::Count { .. })));
    let ranks = schedule.problem.ranks;
    let mut said = format!(
        "{} with {ranks} ranks is right: {epochs} epochs in two orders and {} random ones.\n",
        schedule.algorithm.name, arguments.random
    );
    if !decides {
        said += "Nothing is decided while it runs, so this holds for every order of steps and messages.\n";
    } else if ranks <= 3 {
        let seen = explore(&schedule, 3, 1_000_000).map_err(|defect| wrong(&schedule, defect))?;
        said += &format!(
            "Every order of steps and messages was tried, for 3 epochs: {} states{}.\n",
            seen.states,
            if seen.cut_off { ", and there are more" } else { "" }
        );
    } else {
        said += "Who comes last decides what happens, so other orders may differ; with up to 3 ranks all of them are tried.\n";
    }
    Ok(said)
}

fn write_gallery(arguments: &Gallery) -> Result<String, Failure> {
    let files = gallery::gallery()
        .map_err(|defect| Failure::ScheduleWrong { what: "the gallery".into(), defect: Box::new(defect) })?;
    for file in &files {
        let path = arguments.directory.join(&file.name);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)
                .map_err(|e| Failure::Unwritable { path: directory.into(), why: e.to_string() })?;
        }
        write(&path, &file.content)?;
    }
    Ok(format!("{} files written to {}.\n", files.len(), arguments.directory.display()))
}

/// The schedule that was asked for.
pub fn made(which: &Which) -> Result<Schedule, Failure> {
    let algorithm = named(&which.algorithm)?;
    let mut set: Vec<(&str, u32)> = Vec::new();
    for given in &which.parameters {
        let (name, word) = given.split_once('=').ok_or_else(|| Failure::NoValue { given: given.clone() })?;
        let parameter = algorithm.parameters.iter().find(|p| p.name == name);
        let value = match parameter {
            Some(parameter) => {
                parameter.parse(word).ok_or_else(|| evenkeel_schedule::ScheduleError::Value {
                    algorithm: algorithm.name,
                    name: parameter.name,
                    value: word.into(),
                    range: parameter.range(),
                })?
            }
            // Refused below, with the names that there are.
            None => 0,
        };
        set.push((name, value));
    }
    set.extend(which.n.map(|n| ("n", n)));
    let elements = if algorithm.collective == Collective::Barrier { 0 } else { which.elements };
    let mut problem = Problem::new(which.ranks).with_elements(elements).with_root(Rank(which.root));
    if !which.nodes.is_empty() {
        problem = problem.with_nodes(Nodes::table(&which.nodes));
    }
    Ok(Schedule::new(algorithm, problem, &set)?)
}

fn named(name: &str) -> Result<&'static Algorithm, Failure> {
    algorithms::find(name).ok_or_else(|| {
        let near: Vec<&str> =
            algorithms::ALL.iter().map(|a| a.name).filter(|n| n.contains(name) || name.contains(n)).collect();
        let meant = if near.is_empty() { String::new() } else { format!("; perhaps {}", near.join(" or ")) };
        Failure::NoAlgorithm { name: name.into(), meant }
    })
}

fn counted(schedule: &Schedule) -> Result<Costs, Failure> {
    affordable(schedule)?;
    costs(schedule).map_err(|defect| wrong(schedule, defect))
}

fn affordable(schedule: &Schedule) -> Result<(), Failure> {
    match fits_in_memory(schedule, MOST_BYTES) {
        true => Ok(()),
        false => Err(Failure::TooLargeToCheck {
            algorithm: schedule.algorithm.name,
            ranks: schedule.problem.ranks,
            gib: MOST_BYTES >> 30,
        }),
    }
}

fn wrong(schedule: &Schedule, defect: CheckError) -> Failure {
    Failure::ScheduleWrong {
        what: format!("{} with {} ranks", schedule.algorithm.name, schedule.problem.ranks),
        defect: Box::new(defect),
    }
}
