//! The table of ranks that arrived last, and how long the others waited for them.

use super::output::SummaryText;
use super::rows::{RowText, rows};
use crate::aggregate::saturating::total;
use crate::digest::{Digest, RankDigest};
use evenkeel_text::table::Column;
use evenkeel_text::units::{duration, percent, plain, short_count};
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
    let values = |ranks: &[&RankDigest]| {
        let sum = |value: fn(&RankDigest) -> u64| total(ranks.iter().map(|r| value(r)));
        let (last, late_ns) = (sum(|r| r.last), sum(|r| r.late_ns));
        vec![
            short_count(last),
            percent(last, calls),
            duration(late_ns),
            late_ns.checked_div(last).map_or("-".into(), duration),
        ]
    };
    let name = |r: &&RankDigest| {
        let host = if several_hosts { format!(" on {}", plain(&r.host, 20)) } else { String::new() };
        format!("rank {}{host}", r.rank)
    };
    let text = RowText { name: &name, others: ("other rank", "other ranks"), values: &values };
    out.table(COLUMNS, &rows(&late, SHOWN, &text));
}
