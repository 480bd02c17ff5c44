//! The table of operations.

use super::output::SummaryText;
use crate::aggregate::saturating::total;
use crate::digest::{Digest, OpDigest, TimesLast};
use evenkeel_text::table::Column;
use evenkeel_text::units::{bytes, duration, percent, plain, plural, short_count};

/// How many operations are listed.
const SHOWN: usize = 20;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "operation", dispensable: 0 },
    Column { group: "per rank", head: "calls", dispensable: 0 },
    Column { group: "per rank", head: "bytes", dispensable: 5 },
    Column { group: "time per call", head: "mean", dispensable: 4 },
    Column { group: "time per call", head: "median", dispensable: 1 },
    Column { group: "time per call", head: "p99", dispensable: 3 },
    Column { group: "all ranks", head: "waiting", dispensable: 0 },
    Column { group: "usually", head: "last", dispensable: 2 },
];
/// The columns that mean something for a run of one rank.
const COLUMNS_OF_ONE_RANK: usize = 6;

const LEGEND: &str = "waiting: share of all ranks' run time. usually last: the rank that arrived last most \
                      often, and its share of the calls; varies: no rank stands out.";

/// Adds the table of operations and its legend.
pub(super) fn operations(d: &Digest, out: &mut SummaryText) {
    let served: Vec<&OpDigest> = d.ops.iter().filter(|o| o.calls > 0).collect();
    let rows: Vec<Vec<String>> = served.iter().take(SHOWN).map(|o| row(d, o)).collect();
    let one_rank = d.ranks.len() == 1;
    out.table(if one_rank { &COLUMNS[..COLUMNS_OF_ONE_RANK] } else { COLUMNS }, &rows);
    if served.len() > SHOWN {
        let rest = total(served[SHOWN..].iter().map(|o| o.calls));
        out.paragraph(&format!(
            "and {} more operations with {} in all",
            served.len() - SHOWN,
            plural(rest, "call", "calls")
        ));
    }
    if !one_rank {
        out.legend(LEGEND);
    }
}

fn row(d: &Digest, o: &OpDigest) -> Vec<String> {
    let measured = |ns: Option<u64>| ns.map_or("-".into(), duration);
    let per_rank = |n: u64| n / o.callers.max(1);
    let last = match o.last_most {
        Some(TimesLast { rank, times }) => format!("{rank} ({})", percent(times, o.last)),
        None if o.last == 0 => "-".into(),
        None => "varies".into(),
    };
    vec![
        plain(&o.op, 24),
        short_count((o.calls as f64 / o.callers.max(1) as f64).round() as u64),
        bytes(per_rank(o.bytes)),
        measured(o.mean_ns),
        measured(o.median_ns),
        measured(o.p99_ns),
        percent(o.wait_ns, d.rank_time_ns),
        last,
    ]
}
