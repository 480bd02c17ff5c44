//! What `evenkeel where` prints for people.

use super::stack_text;
use crate::jobs::discovery::Job;
use crate::jobs::findings::Finding;
use crate::jobs::observation::{Observation, RankView, Standing};
use crate::jobs::rank::{Call, Peer, Tag};
use crate::jobs::stacks::TakenStacks;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::{duration, plain, plural};

/// The longest command line that is shown.
const PROGRAM_LENGTH: usize = 60;

const COLUMNS: [Column; 7] = [
    Column { group: "", head: "rank", dispensable: 0 },
    Column { group: "", head: "process", dispensable: 3 },
    Column { group: "", head: "in", dispensable: 0 },
    Column { group: "", head: "communicator", dispensable: 2 },
    Column { group: "", head: "peer", dispensable: 0 },
    Column { group: "", head: "tag", dispensable: 1 },
    Column { group: "", head: "since", dispensable: 0 },
];

/// The job, a row for each rank, and the findings.
pub fn text(
    job: &Job,
    seen: &Observation,
    found: &[Finding],
    taken: Option<&TakenStacks>,
    width: usize,
) -> String {
    let mut page = Page::new(width);
    page.paragraph(&format!(
        "Job {}: {}, {}: {}",
        job.id,
        plural(seen.ranks_in_all as u64, "rank", "ranks"),
        job.library().unwrap_or("an unknown MPI library".into()),
        plain(&job.program(), PROGRAM_LENGTH)
    ));
    page.blank();
    page.table(&COLUMNS, &seen.ranks.iter().map(row).collect::<Vec<_>>());
    page.blank();
    for finding in found {
        page.hanging(&finding.sentence);
    }
    if found.is_empty() {
        page.paragraph(calm(seen));
    }
    if !seen.is_whole() {
        page.paragraph("The other ranks are on other machines: run `evenkeel where` there, too.");
    }
    if let Some(taken) = taken {
        stack_text::add(&mut page, taken);
    }
    page.text()
}

/// What is said if no rank holds up another one.
fn calm(seen: &Observation) -> &'static str {
    if seen.ranks.iter().any(|view| view.waits_in().is_some()) {
        "Some ranks wait, but it cannot be told for which others."
    } else {
        "No rank waits for another one: the job computes, or is only slow."
    }
}

fn row(view: &RankView) -> Vec<String> {
    let outside = || format!("outside MPI: {}", view.activity.words().replace('`', ""));
    let (call, since) = match &view.standing {
        Standing::Exited { finished: true } => return short(view, "finished".into()),
        Standing::Exited { finished: false } => return short(view, "exited without MPI_Finalize".into()),
        Standing::Outside | Standing::GoingOn(None) => return short(view, outside()),
        Standing::Waiting(call) => (call, "> 100 ms"),
        Standing::GoingOn(Some(call)) => (call, "goes on"),
    };
    let seconds = call.collective.as_ref().map(|wait| duration((wait.seconds * 1e9) as u64));
    vec![
        view.rank.to_string(),
        process(view),
        call.name.clone(),
        communicator(call),
        peer(call),
        tag(call),
        seconds.filter(|_| since != "goes on").unwrap_or(since.into()),
    ]
}

fn short(view: &RankView, what: String) -> Vec<String> {
    let empty = String::new;
    vec![view.rank.to_string(), process(view), what, empty(), empty(), empty(), empty()]
}

fn process(view: &RankView) -> String {
    view.pid.map_or("-".into(), |pid| pid.to_string())
}

fn communicator(call: &Call) -> String {
    let Some(communicator) = &call.communicator else { return "-".into() };
    let name = if communicator.name.is_empty() { "(no name)" } else { &communicator.name };
    format!("{name}, {}", communicator.members.len())
}

fn peer(call: &Call) -> String {
    match call.peer {
        Peer::World(rank) if call.collective.is_some() => format!("root {rank}"),
        Peer::World(rank) => rank.to_string(),
        Peer::Any => "any".into(),
        Peer::Null => "none".into(),
        Peer::None | Peer::Unknown(_) => "-".into(),
    }
}

fn tag(call: &Call) -> String {
    match call.tag {
        Tag::Number(tag) => tag.to_string(),
        Tag::Any => "any".into(),
        Tag::None => "-".into(),
    }
}
