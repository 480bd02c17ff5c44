//! The summary for the terminal: one sentence, one table, who was late, memory, notes.

use crate::digest::{Digest, OpDigest, RankDigest, TimesLast, digest, stands_out, total};
use evenkeel_record::RunRecord;
use evenkeel_text::paragraph::{firm, wrap};
use evenkeel_text::table::{Column, table};
use evenkeel_text::units::{bytes, count, duration, percent, plain, plural, rank_ranges, short_count};
use std::collections::BTreeMap;

/// How many of the ranks that made others wait are named.
const LATE_SHOWN: usize = 5;
/// How many operations are listed.
const OPS_SHOWN: usize = 20;
/// How many of the things that completed pending barriers are named.
const OBSERVERS_SHOWN: usize = 4;
/// How many schedules of barriers are named.
const SCHEDULES_SHOWN: usize = 4;

/// The summary as text that ends with a newline, no line longer than `width` characters (but for words
/// that are). The only characters beyond ASCII are those of names in the record, and the `µ` of µs.
pub fn summary(run: &RunRecord, width: usize, colour: bool) -> String {
    let d = digest(run);
    let width = width.clamp(40, 160);
    let mut out = Out { width, colour, text: String::new() };
    headline(&d, &mut out);
    if !d.ops.is_empty() && d.calls > 0 {
        operations(&d, &mut out);
        late_ranks(&d, &mut out);
        deferred_barriers(&d, &mut out);
        scheduled_barriers(&d, &mut out);
    }
    left_to_host(&d, &mut out);
    memory(&d, &mut out);
    for note in &d.notes {
        let who = if note.ranks.len() == d.ranks.len() {
            "Note".to_string()
        } else {
            format!(
                "Note of rank{} {}",
                if note.ranks.len() == 1 { "" } else { "s" },
                rank_ranges(&note.ranks)
            )
        };
        out.paragraph(&format!("{who}: {}", plain(&note.text, 2000)));
    }
    out.text
}

/// Lines with or without colour.
struct Out {
    width: usize,
    colour: bool,
    text: String,
}

impl Out {
    const BOLD: &'static str = "1";
    const DIM: &'static str = "2";

    fn line(&mut self, style: &str, line: &str) {
        if self.colour && !style.is_empty() && !line.is_empty() {
            self.text.push_str(&format!("\x1b[{style}m{line}\x1b[0m\n"));
        } else {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn paragraph(&mut self, text: &str) {
        for line in wrap(text, self.width, "  ") {
            self.line("", &line);
        }
    }

    fn table(&mut self, columns: &[Column], rows: &[Vec<String>]) {
        let table = table(columns, rows, self.width);
        self.line("", "");
        table.headings.iter().for_each(|line| self.line(Self::DIM, line));
        table.rows.iter().for_each(|line| self.line("", line));
        self.line("", "");
    }
}

fn headline(d: &Digest, out: &mut Out) {
    let ranks = d.ranks.len() as u64;
    let program = if d.program.trim().is_empty() { "a program".into() } else { plain(d.program.trim(), 48) };
    let mpi = plain(d.mpi.trim(), 48);
    let under = if mpi.is_empty() { String::new() } else { format!(" under {mpi}") };
    let ran = format!(
        "evenkeel: {} of {program} ran {}{under}",
        plural(ranks, "rank", "ranks"),
        time(d.elapsed_ns)
    );
    let text = if d.ops.is_empty() {
        format!("{ran} and made no collective calls.")
    } else if d.calls == 0 {
        format!("{ran}; every collective call was left to the MPI library.")
    } else if ranks == 1 {
        format!("{ran}; a single rank waits for nobody.")
    } else if d.wait_ns == 0 && d.saved_ns == 0 && d.deferral.deferred == 0 {
        format!("{ran} and did not wait for each other; there was nothing for evenkeel to save.")
    } else {
        let share = percent(d.wait_ns, d.rank_time_ns);
        format!("{ran} and spent {share} of it waiting for each other. {} {}", saved(d), culprit(d))
    };
    for line in wrap(&text, out.width, "  ") {
        out.line(Out::BOLD, &line);
    }
}

/// A duration that does not break.
fn time(ns: u64) -> String {
    firm(duration(ns))
}

fn saved(d: &Digest) -> String {
    if d.saved_ns == 0 {
        return match (d.deferral.overlapped_ns, d.deferral.deferred) {
            (0, 0) => "evenkeel saved no waiting.".into(),
            (0, _) => String::new(), // some, and nobody knows how much
            (ns, _) => format!("evenkeel saved at least {} of waiting in barriers.", time(ns)),
        };
    }
    let each = d.saved_ns / d.ranks.len().max(1) as u64;
    let share = percent(d.saved_ns, d.rank_time_ns);
    format!("evenkeel saved {} of waiting ({} per rank, {share} of the run).", time(d.saved_ns), time(each))
}

fn culprit(d: &Digest) -> String {
    let worst = d.ranks.iter().max_by_key(|r| (r.late_ns, std::cmp::Reverse(r.rank)));
    match worst.filter(|r| r.late_ns > 0) {
        None if d.ranks.iter().all(|r| r.last == 0) => "Nobody was seen to come last.".into(),
        // So few calls that none of them was timed in full.
        None => "How late the last ones came was not measured.".into(),
        Some(r) if shared_evenly(d, r) => "No rank held the others up much more than the rest.".into(),
        Some(r) => format!(
            "Rank {} held the others up most: {} in {}.",
            r.rank,
            time(r.late_ns),
            firm(plural(r.last, "call", "calls"))
        ),
    }
}

/// Whether neither the lateness of the worst rank nor how often somebody was last is out of the ordinary.
fn shared_evenly(d: &Digest, worst: &RankDigest) -> bool {
    let late = total(d.ranks.iter().map(|r| r.late_ns));
    let counts: Vec<(u32, u64)> = d.ranks.iter().map(|r| (r.rank, r.last)).collect();
    let equal = late as f64 / d.ranks.len().max(1) as f64;
    stands_out(&counts).is_none() && (worst.late_ns as f64) < 1.5 * equal
}

const OPERATIONS: &[Column] = &[
    Column { group: "", head: "operation", dispensable: 0 },
    Column { group: "per rank", head: "calls", dispensable: 0 },
    Column { group: "per rank", head: "bytes", dispensable: 5 },
    Column { group: "time per call", head: "mean", dispensable: 4 },
    Column { group: "time per call", head: "median", dispensable: 1 },
    Column { group: "time per call", head: "p99", dispensable: 3 },
    Column { group: "all ranks", head: "waiting", dispensable: 0 },
    Column { group: "all ranks", head: "saved", dispensable: 0 },
    Column { group: "last most", head: "often", dispensable: 2 },
];

fn operations(d: &Digest, out: &mut Out) {
    let served: Vec<&OpDigest> = d.ops.iter().filter(|o| o.calls > 0).collect();
    let rows: Vec<Vec<String>> = served.iter().take(OPS_SHOWN).map(|o| operation_row(d, o)).collect();
    // What follows the times is about other ranks.
    let alone = d.ranks.len() == 1;
    out.table(if alone { &OPERATIONS[..6] } else { OPERATIONS }, &rows);
    if served.len() > OPS_SHOWN {
        let left = total(served[OPS_SHOWN..].iter().map(|o| o.calls));
        let text = format!(
            "and {} more operations with {} in all",
            served.len() - OPS_SHOWN,
            plural(left, "call", "calls")
        );
        out.paragraph(&text);
    }
    if alone {
        return;
    }
    let legend = "waiting: share of all ranks' run time. saved: how much longer a library without bypass would \
                  have held the ranks, as estimated. last most often: rank, and its share of the calls.";
    for line in wrap(legend, out.width, "") {
        out.line(Out::DIM, &line);
    }
}

fn operation_row(d: &Digest, o: &OpDigest) -> Vec<String> {
    let measured = |ns: Option<u64>| ns.map_or("-".into(), duration);
    let per_rank = |n: u64| n / o.callers.max(1);
    let last = match o.last_most {
        Some(TimesLast { rank, times }) => format!("{rank} ({})", percent(times, o.last)),
        None if o.last == 0 => "-".into(),
        None => "no one".into(),
    };
    vec![
        plain(&o.op, 24),
        short_count((o.calls as f64 / o.callers.max(1) as f64).round() as u64),
        bytes(per_rank(o.bytes)),
        measured(o.mean_ns),
        measured(o.median_ns),
        measured(o.p99_ns),
        percent(o.wait_ns, d.rank_time_ns),
        if o.saved_ns == 0 { "-".into() } else { duration(o.saved_ns) },
        last,
    ]
}

const LATE: &[Column] = &[
    Column { group: "", head: "came last", dispensable: 0 },
    Column { group: "", head: "times", dispensable: 0 },
    Column { group: "", head: "of all", dispensable: 2 },
    Column { group: "held others up", head: "in sum", dispensable: 0 },
    Column { group: "held others up", head: "each time", dispensable: 1 },
];

fn late_ranks(d: &Digest, out: &mut Out) {
    let mut late: Vec<&RankDigest> = d.ranks.iter().filter(|r| r.late_ns > 0).collect();
    if d.ranks.len() < 2 || late.is_empty() {
        return;
    }
    late.sort_by_key(|r| (std::cmp::Reverse(r.late_ns), r.rank));
    let times = total(d.ranks.iter().map(|r| r.last));
    let several_hosts = d.ranks.iter().any(|r| r.host != d.ranks[0].host);
    let row = |name: String, last: u64, late_ns: u64| {
        vec![
            name,
            short_count(last),
            percent(last, times),
            duration(late_ns),
            late_ns.checked_div(last).map_or("-".into(), duration),
        ]
    };
    let mut rows: Vec<Vec<String>> = late
        .iter()
        .take(LATE_SHOWN)
        .map(|r| {
            let host = if several_hosts { format!(" on {}", plain(&r.host, 20)) } else { String::new() };
            row(format!("rank {}{host}", r.rank), r.last, r.late_ns)
        })
        .collect();
    let rest = &late[late.len().min(LATE_SHOWN)..];
    if !rest.is_empty() {
        let sum = |f: fn(&RankDigest) -> u64| total(rest.iter().map(|r| f(r)));
        let name = plural(rest.len() as u64, "other rank", "other ranks");
        rows.push(row(name, sum(|r| r.last), sum(|r| r.late_ns)));
    }
    out.table(LATE, &rows);
}

/// How many barriers returned early, what ranks made of it, and what put an end to it.
fn deferred_barriers(d: &Digest, out: &mut Out) {
    let b = &d.deferral;
    if b.deferred == 0 {
        return;
    }
    let mut text = format!(
        "Deferred barriers: {} of {} calls ({}); ranks ran up to {} ahead",
        count(b.deferred),
        count(b.barriers),
        percent(b.deferred, b.barriers),
        firm(plural(b.ahead, "barrier", "barriers"))
    );
    if b.overlapped_ns > 0 {
        text +=
            &format!(" and worked on for at least {} where they would have waited", time(b.overlapped_ns));
    }
    text.push('.');
    if !b.observers.is_empty() {
        let times = |name: String, times: u64| firm(format!("{name} ({})", count(times)));
        let (named, rest) = b.observers.split_at(b.observers.len().min(OBSERVERS_SHOWN));
        let mut list: Vec<String> = named.iter().map(|o| times(plain(&o.name, 24), o.times)).collect();
        if !rest.is_empty() {
            list.push(times(
                plural(rest.len() as u64, "other", "others"),
                total(rest.iter().map(|o| o.times)),
            ));
        }
        text += &format!(" What completed them: {}.", list.join(", "));
    }
    out.paragraph(&text);
}

/// Which schedules the blocking barriers were run by, where a table named some.
fn scheduled_barriers(d: &Digest, out: &mut Out) {
    let mut schedules: BTreeMap<&str, u64> = BTreeMap::new();
    for o in d.comm_ops.iter().filter(|o| o.op == "barrier" && o.calls > 0) {
        if let Some(comm) = o.comm.map(|c| &d.comms[c]).filter(|c| !c.schedule.is_empty()) {
            let calls = schedules.entry(&comm.schedule).or_default();
            *calls = calls.saturating_add(o.calls);
        }
    }
    if schedules.is_empty() {
        return;
    }
    let mut list: Vec<(&str, u64)> = schedules.into_iter().collect();
    list.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    let (named, rest) = list.split_at(list.len().min(SCHEDULES_SHOWN));
    let mut said: Vec<String> = named
        .iter()
        .map(|(name, calls)| format!("{} by {}", firm(plural(*calls, "call", "calls")), plain(name, 60)))
        .collect();
    if !rest.is_empty() {
        let calls = total(rest.iter().map(|(_, calls)| *calls));
        said.push(format!(
            "{} by {}",
            firm(plural(calls, "call", "calls")),
            plural(rest.len() as u64, "other", "others")
        ));
    }
    out.paragraph(&format!("Barriers by schedules of the table: {}.", said.join(", ")));
}

/// What evenkeel did not carry out: single calls of communicators it serves, and whole communicators.
fn left_to_host(d: &Digest, out: &mut Out) {
    let mut reasons: Vec<(&str, u64, u64)> = Vec::new();
    for c in d.comms.iter().filter(|c| !c.host_reason.is_empty()) {
        match reasons.iter_mut().find(|r| r.0 == c.host_reason) {
            Some(r) => (r.1, r.2) = (r.1 + 1, r.2.saturating_add(c.host_calls)),
            None => reasons.push((&c.host_reason, 1, c.host_calls)),
        }
    }
    for (reason, comms, calls) in &reasons {
        out.paragraph(&format!(
            "Left to the MPI library: {} with {}, because: {}",
            plural(*comms, "communicator", "communicators"),
            plural(*calls, "call", "calls"),
            plain(reason, 400)
        ));
    }
    let mut single: Vec<(&str, u64)> = Vec::new();
    for o in &d.comm_ops {
        let served = o.comm.is_none_or(|c| d.comms[c].host_reason.is_empty());
        if served && o.host_calls > 0 {
            match single.iter_mut().find(|s| s.0 == o.op) {
                Some(s) => s.1 = s.1.saturating_add(o.host_calls),
                None => single.push((&o.op, o.host_calls)),
            }
        }
    }
    if !single.is_empty() {
        let list: Vec<String> =
            single.iter().map(|(op, n)| format!("{} {}", count(*n), plain(op, 24))).collect();
        out.paragraph(&format!("Left to the MPI library, calls of all ranks: {}.", list.join(", ")));
    }
}

fn memory(d: &Digest, out: &mut Out) {
    if d.segment_bytes == 0 {
        return;
    }
    let served = d.comms.iter().filter(|c| c.segment_bytes > 0).count() as u64;
    let most = if served == 1 { "" } else { "at most " };
    out.paragraph(&format!(
        "Shared memory: {} for {}, {most}{} per member.",
        bytes(d.segment_bytes),
        plural(served, "communicator", "communicators"),
        bytes(d.segment_bytes_per_member)
    ));
}
