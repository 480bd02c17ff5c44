//! The answers in a terminal.

use crate::analysis::Analysis;
use crate::difference::{differences, words};
use crate::path::{PathRow, table};
use crate::run::{Place, Run};
use crate::sentences::{call, chain, time};
use crate::supersteps::Superstep;
use crate::why::{Why, why};
use evenkeel_text::page::Page;
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::Column;
use evenkeel_text::units::{count, percent, plain, plural};

/// Waits, rows and supersteps that are shown.
const SHOWN: usize = 10;
/// Waits that are looked at, to find different ones.
const CONSIDERED: usize = 400;
/// Columns of the number of a wait.
const MARGIN: usize = 4;
/// Lines of a chain that are shown; those in the middle are left out.
const CHAIN_SHOWN: usize = 8;

/// Everything: waits with their chains, the critical path, supersteps.
pub fn answers(analysis: &Analysis, width: usize) -> String {
    let mut page = Page::new(width);
    let run = &analysis.run;
    let whole: i64 = run.lanes.iter().map(|lane| lane.ends() - lane.starts).sum();
    let waits = || analysis.waits.by_lane.iter().enumerate();
    let waited: i64 = waits()
        .flat_map(|(lane, waits)| waits.iter().map(move |wait| (lane, wait)))
        .map(|(lane, wait)| {
            let place = Place { lane: lane as u32, call: wait.call };
            analysis.waits.length(run, place)
        })
        .sum();
    let share = percent(waited.max(0) as u64, whole.max(0) as u64);
    page.paragraph(&format!(
        "{}, {}, {}, {}. Ranks waited for each other {share} of their time.",
        plural(run.processes.len() as u64, "rank", "ranks"),
        time(run.length()),
        plural(run.calls() as u64, "MPI call", "MPI calls"),
        plural(run.messages.all.len() as u64, "message", "messages"),
    ));
    remarks(run, &mut page);
    longest_waits(analysis, &mut page);
    critical_path(analysis, &mut page);
    supersteps(analysis, &mut page);
    page.text()
}

fn remarks(run: &Run, page: &mut Page) {
    for (rank, process) in run.processes.iter().enumerate() {
        if !process.remark.is_empty() {
            page.paragraph(&format!("Rank {rank}: {}.", plain(&process.remark, 100)));
        }
    }
    if run.hosts > 1 {
        page.paragraph(&format!(
            "The ranks were on {} hosts, whose clocks may differ: waits between them may be wrong by that.",
            run.hosts
        ));
    }
}

/// Waits for one piece of work of one rank are one entry: the longest of them.
fn longest_waits(analysis: &Analysis, page: &mut Page) {
    let run = &analysis.run;
    page.blank().line("Longest waits, each with what was done meanwhile");
    let longest = analysis.waits.longest(run, i64::MIN, i64::MAX, CONSIDERED);
    if longest.is_empty() {
        page.line("none: no call waited for another rank");
    }
    let mut entries: Vec<(Place, Why, u64)> = Vec::new();
    for (_, place) in longest {
        let why = why(run, &analysis.waits, place);
        let work = |why: &Why| why.culprit.map(|it| (it.segment.lane, it.segment.doing));
        if let Some(entry) = entries.iter_mut().find(|entry| work(&entry.1) == work(&why)) {
            entry.2 += 1;
        } else if entries.len() < SHOWN {
            entries.push((place, why, 0));
        }
    }
    for (number, (place, why, others)) in entries.iter().enumerate() {
        let mut lines = shortened(run, why);
        if *others > 0 {
            lines.push(format!("{} for the same", plural(*others, "more wait", "more waits")));
        }
        lines[0] = format!("at {}: {}", time(run.begin(*place)), lines[0]);
        let texts = lines.iter().flat_map(|line| wrap(line, page.width() - MARGIN, "  "));
        for (line, text) in texts.enumerate().collect::<Vec<_>>() {
            let margin = if line == 0 { format!("{}.", number + 1) } else { String::new() };
            page.line(format!("{margin:MARGIN$}{text}"));
        }
    }
}

/// The lines of a chain, without those in the middle.
fn shortened(run: &Run, why: &Why) -> Vec<String> {
    let mut lines = chain(run, why);
    if lines.len() > CHAIN_SHOWN {
        let left_out = lines.len() - CHAIN_SHOWN + 1;
        let from = CHAIN_SHOWN / 2;
        lines.splice(from..from + left_out, [format!("… {left_out} more links …")]);
    }
    lines
}

fn columns(heads: &[&'static str]) -> Vec<Column> {
    heads.iter().map(|head| Column { group: "", head, dispensable: 0 }).collect()
}

/// What a row of the path's table is about.
pub fn path_row(run: &Run, row: &PathRow) -> String {
    match (row.is_outside, row.call) {
        (true, Some(place)) => format!("outside MPI, before {}", call(run, place)),
        (false, Some(place)) => call(run, place),
        (_, None) => "outside MPI, at its end".into(),
    }
}

fn critical_path(analysis: &Analysis, page: &mut Page) {
    let run = &analysis.run;
    page.blank().line("Critical path: what the length of the run depends on");
    let rows = table(run, &analysis.path, 0, run.length());
    let whole: i64 = rows.iter().map(|row| row.ns).sum();
    let left: i64 = rows.iter().skip(SHOWN).map(|row| row.ns).sum();
    let share = |ns: i64| percent(ns.max(0) as u64, whole.max(0) as u64);
    let mut cells: Vec<Vec<String>> = rows
        .iter()
        .take(SHOWN)
        .map(|row| {
            let what = format!("rank {}: {}", row.rank, path_row(run, row));
            vec![what, time(row.ns), share(row.ns), count(row.pieces)]
        })
        .collect();
    if rows.len() > SHOWN {
        cells.push(vec![format!("{} more", rows.len() - SHOWN), time(left), share(left), String::new()]);
    }
    cells.push(vec!["all".into(), time(whole), share(whole), String::new()]);
    page.table(&columns(&["what", "time", "share", "pieces"]), &cells);
}

fn supersteps(analysis: &Analysis, page: &mut Page) {
    let (run, steps) = (&analysis.run, &analysis.supersteps);
    page.blank();
    if steps.is_empty() {
        page.line("Supersteps: none, for no collective synchronized all ranks");
        return;
    }
    let mut longest: Vec<(usize, &Superstep)> = steps.iter().enumerate().collect();
    longest.sort_by_key(|(number, step)| (std::cmp::Reverse(step.length()), *number));
    page.line(format!("Supersteps: {}, the longest first", count(steps.len() as u64)));
    let row = |&(number, step): &(usize, &Superstep)| {
        vec![
            format!("{}, until {}", number + 1, call(run, step.last)),
            time(step.length()),
            format!("{:.0}%", 100.0 * step.imbalance()),
            format!("rank {}", step.busiest),
            time(step.longest_work),
            time(step.mean_work),
        ]
    };
    let cells: Vec<Vec<String>> = longest.iter().take(SHOWN).map(row).collect();
    page.table(&columns(&["superstep", "time", "imbalance", "busiest", "its work", "mean work"]), &cells);
}

/// Where two runs differ first.
pub fn comparison(one: &Run, other: &Run, width: usize) -> String {
    let mut page = Page::new(width);
    let all = differences(one, other);
    if all.is_empty() {
        page.paragraph("All ranks made the same calls in both runs.");
    }
    for difference in all {
        let thread =
            if difference.thread > 0 { format!(", thread {}", difference.thread) } else { String::new() };
        let same = count(difference.same);
        let said = match (difference.one, difference.other) {
            (Some(a), Some(b)) => {
                format!("{}; in the other run {} ({})", call(one, a), call(other, b), words(one, a, other, b))
            }
            (Some(a), None) => format!("{}; the other run has no more calls", call(one, a)),
            (None, Some(b)) => format!("no more calls; the other run has {}", call(other, b)),
            (None, None) => continue,
        };
        page.hanging(&format!("rank {}{thread}: the same {same} calls, then {said}", difference.rank));
    }
    page.text()
}
