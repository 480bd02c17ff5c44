//! The table of ranks that arrived last, and how long the others waited for them.

use super::output::SummaryText;
use crate::aggregate::saturating::total;
use crate::digest::{Digest, RankDigest};
use evenkeel_text::table::Column;
use evenkeel_text::units::{duration, percent, plain, plural, short_count};
use std::cmp::Reverse;

/// How many late ranks have a row of their own.
const SHOWN: usize = 5;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "late rank", dispensable: 0 },
    Column { group: "arrived last", head: "calls", dispensable: 0 },
    Column { group: "arrived last", head: "share", dispensable: 2 },
    Column { group: "waiting caused", head: "total", dispensable: 0 },
    Column { group: "waiting caused", head: "per call", dispensable: 1 },
];

/// Adds the table of late ranks, if there were any.
pub(super) fn late_ranks(d: &Digest, out: &mut SummaryText) {
    let mut late: Vec<&RankDigest> = d.ranks.iter().filter(|r| r.late_ns > 0).collect();
    if d.ranks.len() < 2 || late.is_empty() {
        return;
    }
    late.sort_by_key(|r| (Reverse(r.late_ns), r.rank));
    let calls = total(d.ranks.iter().map(|r| r.last));
    let several_hosts = d.ranks.iter().any(|r| r.host != d.ranks[0].host);
    let row = |name: String, last: u64, late_ns: u64| {
        vec![
            name,
            short_count(last),
            percent(last, calls),
            duration(late_ns),
            late_ns.checked_div(last).map_or("-".into(), duration),
        ]
    };
    let name = |r: &RankDigest| {
        let host = if several_hosts { format!(" on {}", plain(&r.host, 20)) } else { String::new() };
        format!("rank {}{host}", r.rank)
    };
    let mut rows: Vec<Vec<String>> =
        late.iter().take(SHOWN).map(|r| row(name(r), r.last, r.late_ns)).collect();
    let rest = &late[late.len().min(SHOWN)..];
    if !rest.is_empty() {
        let sum = |f: fn(&RankDigest) -> u64| total(rest.iter().map(|r| f(r)));
        let name = plural(rest.len() as u64, "other rank", "other ranks");
        rows.push(row(name, sum(|r| r.last), sum(|r| r.late_ns)));
    }
    out.table(COLUMNS, &rows);
}
