//! Carries out `evenkeel ps`.

use super::arguments::PsArguments;
use crate::jobs::discovery::{self, Discovery, Job};
use crate::jobs::process;
use crate::output::terminal;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::{duration, plain};
use serde::Serialize;

/// The longest command line that is shown to people.
const PROGRAM_LENGTH: usize = 36;

/// Returns the list of jobs.
pub fn ps(arguments: &PsArguments) -> String {
    let discovery = discovery::jobs();
    let listed: Vec<ListedJob> = discovery.jobs.iter().map(ListedJob::new).collect();
    if arguments.json {
        return serde_json::to_string_pretty(&listed).expect("records consist of plain data") + "\n";
    }
    text(&listed, &discovery)
}

#[derive(Serialize)]
struct ListedJob {
    /// The launcher.
    job: u32,
    ranks: usize,
    ranks_here: usize,
    /// The process of the lowest rank here.
    lowest_rank_pid: Option<u32>,
    age_s: Option<f64>,
    library: Option<String>,
    /// Whether it takes turns with other jobs (`--share`).
    takes_turns: bool,
    program: String,
}

impl ListedJob {
    fn new(job: &Job) -> ListedJob {
        ListedJob {
            job: job.id,
            ranks: job.ranks_in_all,
            ranks_here: job.ranks.len(),
            lowest_rank_pid: job.lowest(),
            age_s: job.lowest().and_then(process::age).map(|age| age.as_secs_f64()),
            library: job.library(),
            takes_turns: job.lowest().and_then(process::sharing_job).is_some(),
            program: job.program(),
        }
    }
}

const COLUMNS: [Column; 7] = [
    Column { group: "", head: "job", dispensable: 0 },
    Column { group: "", head: "lowest rank", dispensable: 3 },
    Column { group: "", head: "ranks", dispensable: 0 },
    Column { group: "", head: "age", dispensable: 1 },
    Column { group: "", head: "MPI library", dispensable: 2 },
    Column { group: "", head: "--share", dispensable: 4 },
    Column { group: "", head: "program", dispensable: 0 },
];

fn text(listed: &[ListedJob], discovery: &Discovery) -> String {
    let mut page = Page::new(terminal::width());
    let row = |job: &ListedJob| {
        let here = if job.ranks_here == job.ranks {
            job.ranks.to_string()
        } else {
            format!("{} of {}", job.ranks_here, job.ranks)
        };
        vec![
            job.job.to_string(),
            job.lowest_rank_pid.map_or("-".into(), |pid| pid.to_string()),
            here,
            job.age_s.map_or("-".into(), |age| duration((age * 1e9) as u64)),
            job.library.clone().unwrap_or("-".into()),
            if job.takes_turns { "takes turns" } else { "-" }.into(),
            plain(&job.program, PROGRAM_LENGTH),
        ]
    };
    if listed.is_empty() {
        page.paragraph("No job of yours runs under evenkeel on this machine.");
    } else {
        page.table(&COLUMNS, &listed.iter().map(row).collect::<Vec<_>>());
    }
    for refused in &discovery.refused {
        page.blank().hanging(&format!("Not listed: {refused}"));
    }
    page.text()
}
