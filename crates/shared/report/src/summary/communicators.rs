//! The table of communicators, where there are several on which ranks waited.

use super::output::SummaryText;
use super::rows::{RowText, rows};
use crate::aggregate::saturating::total;
use crate::digest::{CommDigest, Digest};
use evenkeel_text::table::Column;
use evenkeel_text::units::{duration, percent, plain, short_count};
use std::cmp::Reverse;

/// How many communicators have a row of their own.
const SHOWN: usize = 5;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "communicator", dispensable: 0 },
    Column { group: "all members", head: "calls", dispensable: 1 },
    Column { group: "all members", head: "waiting", dispensable: 0 },
    Column { group: "all members", head: "share", dispensable: 2 },
];

/// Adds the table.
pub(super) fn communicators(d: &Digest, out: &mut SummaryText) {
    let mut waited: Vec<&CommDigest> = d.comms.iter().filter(|c| c.wait_ns > 0).collect();
    if waited.len() < 2 {
        return;
    }
    waited.sort_by_key(|c| Reverse((c.wait_ns, c.calls)));
    let values = |comms: &[&CommDigest]| {
        let sum = |value: fn(&CommDigest) -> u64| total(comms.iter().map(|c| value(c)));
        let wait_ns = sum(|c| c.wait_ns);
        vec![short_count(sum(|c| c.calls)), duration(wait_ns), percent(wait_ns, sum(|c| c.rank_time_ns))]
    };
    let name = |c: &&CommDigest| plain(&c.label, 48);
    let text = RowText { name: &name, others: ("other", "others"), values: &values };
    out.table(COLUMNS, &rows(&waited, SHOWN, &text));
}
