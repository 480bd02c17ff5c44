//! A table: which MPI functions took how long.

use super::run_times::RunTimes;
use evenkeel_text::units::{bytes, duration};
use evenkeel_trace::format::Ending;
use std::collections::HashMap;
use std::fmt::Write;

#[derive(Default)]
struct Row {
    lengths: Vec<i64>,
    bytes: u64,
}

/// The table, and what is to be known of it.
pub(super) fn summary(run: &RunTimes) -> String {
    let mut rows: HashMap<&str, Row> = HashMap::new();
    let mut whole = 0;
    for (rank, times) in run.ranks.iter().enumerate() {
        whole += run.end(rank) - run.ns(rank, times.start.before_init.ticks);
        for call in &times.calls {
            let row = rows.entry(times.name(call)).or_default();
            let shape = times.shape(call);
            row.lengths.push(run.span(rank, call).1);
            let second = shape.second.and_then(|second| second.bytes).filter(|_| !shape.role.posts());
            row.bytes +=
                shape.first.bytes.filter(|_| shape.comm.is_some()).unwrap_or(0) + second.unwrap_or(0);
        }
    }
    let total = |row: &Row| row.lengths.iter().sum::<i64>();
    let mut rows: Vec<(&str, Row)> = rows.into_iter().collect();
    rows.sort_by_key(|(name, row)| (-total(row), *name));
    let calls: usize = rows.iter().map(|(_, row)| row.lengths.len()).sum();
    let in_mpi: i64 = rows.iter().map(|(_, row)| total(row)).sum();
    let share = |ns: i64| if whole > 0 { 100.0 * ns as f64 / whole as f64 } else { 0.0 };
    let mut text = format!(
        "{} ranks, {}, {calls} MPI calls, which took {:.1} % of the ranks' time\n\n",
        run.ranks.len(),
        duration(run.length().max(0) as u64),
        share(in_mpi)
    );
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(8);
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{:width$}  {:>9}  {:>9}  {:>6}  {:>9}  {:>9}  {:>9}",
        "function", "calls", "time", "share", "median", "longest", "bytes"
    );
    for (name, mut row) in rows {
        row.lengths.sort_unstable();
        let (median, longest) = (row.lengths[row.lengths.len() / 2], row.lengths[row.lengths.len() - 1]);
        let _ = writeln!(
            text,
            "{name:width$}  {:>9}  {:>9}  {:>4.1} %  {:>9}  {:>9}  {:>9}",
            row.lengths.len(),
            duration(total(&row) as u64),
            share(total(&row)),
            duration(median as u64),
            duration(longest as u64),
            if row.bytes > 0 { bytes(row.bytes) } else { String::new() }
        );
    }
    text + &remarks(run)
}

/// Ranks whose calls are not all there.
fn remarks(run: &RunTimes) -> String {
    let mut text = String::new();
    for (rank, times) in run.ranks.iter().enumerate() {
        let _ = match (&times.open, times.live.ending) {
            (_, Ending::NoRoom) => {
                writeln!(text, "\nrank {rank}: there was no more room after {} calls", times.live.calls)
            }
            (Some(open), _) => writeln!(text, "\nrank {rank} ended in {}", open.name),
            _ => Ok(()),
        };
    }
    if run.hosts > 1 {
        let _ = writeln!(text, "\nThe ranks were on {} hosts, whose clocks may differ.", run.hosts);
    }
    text
}
