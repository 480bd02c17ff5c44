//! What `evenkeel where` prints for people.

use super::stack_text;
use crate::jobs::findings::Finding;
use crate::jobs::machines::WholeJob;
use crate::jobs::observation::{Observation, RankView, Standing};
use crate::jobs::rank::{Call, Peer, Tag, has_root};
use crate::jobs::stacks::TakenStacks;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::{duration, plain, plural};

/// The longest command line that is shown.
const PROGRAM_LENGTH: usize = 60;

const COLUMNS: [Column; 8] = [
    Column { group: "", head: "rank", dispensable: 0 },
    Column { group: "", head: "host", dispensable: 3 },
    Column { group: "", head: "process", dispensable: 5 },
    Column { group: "", head: "in", dispensable: 0 },
    Column { group: "", head: "communicator", dispensable: 4 },
    Column { group: "", head: "peer", dispensable: 2 },
    Column { group: "", head: "tag", dispensable: 3 },
    Column { group: "", head: "since", dispensable: 1 },
];

/// The job, a row for each rank, and the findings.
pub fn text(
    job: &WholeJob,
    seen: &Observation,
    found: &[Finding],
    taken: Option<&TakenStacks>,
    width: usize,
) -> String {
    let mut page = Page::new(width);
    page.paragraph(&format!(
        "Job {}: {}{}, {}: {}",
        job.head.id,
        plural(seen.ranks_in_all as u64, "rank", "ranks"),
        on_hosts(job.head.hosts.len()),
        job.head.library.as_deref().unwrap_or("an unknown MPI library"),
        plain(&job.head.program, PROGRAM_LENGTH)
    ));
    page.blank();
    page.table(&columns(seen), &seen.ranks.iter().map(|view| row(seen, view)).collect::<Vec<_>>());
    page.blank();
    for finding in found {
        page.hanging(&finding.sentence);
    }
    if found.is_empty() {
        page.paragraph(calm(seen));
    }
    for machine in job.left_out() {
        page.hanging(&format!("Ranks on {} are left out: {}.", machine.host, machine.why));
    }
    if !job.left_out().is_empty() {
        page.paragraph("`evenkeel where` there shows them. --remote-shell names another way to a machine.");
    } else if !seen.is_whole() {
        page.paragraph("The other ranks are on other machines: name them with --hosts.");
    }
    if let Some(taken) = taken {
        stack_text::add(&mut page, taken);
    }
    page.text()
}

/// What is said if no rank holds up another one.
fn calm(seen: &Observation) -> &'static str {
    if seen.ranks.iter().any(|view| view.waits_in().is_some()) {
        "All members of a collective are in it: it goes on, or the MPI library waits for something else."
    } else {
        "No rank waits for another one: the job computes, or is only slow."
    }
}

fn on_hosts(hosts: usize) -> String {
    if hosts > 1 { format!(" on {hosts} hosts") } else { String::new() }
}

/// Hosts are shown if there are several.
fn columns(seen: &Observation) -> Vec<Column> {
    COLUMNS.into_iter().filter(|column| column.head != "host" || seen.hosts.len() > 1).collect()
}

fn row(seen: &Observation, view: &RankView) -> Vec<String> {
    let mut row = vec![view.rank.to_string()];
    if seen.hosts.len() > 1 {
        row.push(seen.hosts[view.host].clone());
    }
    row.push(view.pid.map_or("-".into(), |pid| pid.to_string()));
    row.extend(what(view));
    row
}

/// The columns behind the process.
fn what(view: &RankView) -> [String; 5] {
    let short = |what: String| [what, String::new(), String::new(), String::new(), String::new()];
    let (call, since) = match &view.standing {
        Standing::Exited { finished: true } => return short("finished".into()),
        Standing::Exited { finished: false } => return short("exited without MPI_Finalize".into()),
        Standing::Outside | Standing::GoingOn(None) => {
            return short(format!("outside MPI: {}", view.activity.words().replace('`', "")));
        }
        Standing::Waiting(call) => (call, "> 100 ms"),
        Standing::GoingOn(Some(call)) => (call, "goes on"),
    };
    let seconds = call.collective.as_ref().map(|wait| duration((wait.seconds * 1e9) as u64));
    let since = seconds.filter(|_| since != "goes on").unwrap_or(since.into());
    [call.name.clone(), communicator(call), peer(call), tag(call), since]
}

fn communicator(call: &Call) -> String {
    let Some(communicator) = &call.communicator else { return "-".into() };
    let name = if communicator.name.is_empty() { "(no name)" } else { &communicator.name };
    format!("{name}, {}", communicator.members.len())
}

fn peer(call: &Call) -> String {
    match call.peer {
        Peer::World(rank) if has_root(&call.name) => format!("root {rank}"),
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
