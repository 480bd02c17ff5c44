//! Point-to-point messages: how many, how long ranks waited in them, and which waited for which.

use super::output::SummaryText;
use super::rows::{RowText, rows};
use crate::aggregate::saturating::total;
use crate::digest::{Digest, PairDigest};
use evenkeel_text::paragraph::firm;
use evenkeel_text::table::Column;
use evenkeel_text::units::{bytes, count, duration, percent, plural, short_count};

/// How many pairs of ranks have a row of their own.
const SHOWN: usize = 5;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "point to point", dispensable: 0 },
    Column { group: "messages", head: "number", dispensable: 2 },
    Column { group: "messages", head: "bytes", dispensable: 3 },
    Column { group: "waiting", head: "total", dispensable: 0 },
    Column { group: "waiting", head: "per wait", dispensable: 1 },
];

/// Adds a paragraph about messages, and a table if ranks waited in them.
pub(super) fn messages(d: &Digest, out: &mut SummaryText) {
    let m = &d.messages;
    if m.sent == 0 && m.time_ns == 0 {
        return;
    }
    let host = match m.host_sent {
        0 => String::new(),
        all if all == m.sent => ", carried by the MPI library".into(),
        some => format!(", {} of them carried by the MPI library", count(some)),
    };
    // Where the time in the calls was not measured, it is known only as far as ranks waited.
    let time = if m.time_ns > m.wait_ns {
        format!("Ranks spent {} in point-to-point calls, and waited", firm(duration(m.time_ns)))
    } else {
        "Ranks waited in point-to-point calls".into()
    };
    out.paragraph(&format!(
        "Messages: {} with {}{host}. {time} for {} ({} of all ranks' run time).",
        firm(plural(m.sent, "message", "messages")),
        firm(bytes(m.bytes)),
        firm(duration(m.wait_ns)),
        percent(m.wait_ns, d.rank_time_ns)
    ));
    let waits: Vec<&PairDigest> = m.pairs.iter().filter(|pair| pair.wait_ns > 0).collect();
    if waits.is_empty() {
        return;
    }
    let values = |pairs: &[&PairDigest]| {
        let sum = |value: fn(&PairDigest) -> u64| total(pairs.iter().map(|pair| value(pair)));
        let wait_ns = sum(|pair| pair.wait_ns);
        vec![
            short_count(sum(|pair| pair.messages)),
            bytes(sum(|pair| pair.bytes)),
            duration(wait_ns),
            wait_ns.checked_div(sum(|pair| pair.waits)).map_or("-".into(), duration),
        ]
    };
    let name = |pair: &&PairDigest| format!("rank {} waits for {}", pair.rank, pair.peer);
    let text = RowText { name: &name, others: ("other pair", "other pairs"), values: &values };
    out.table(COLUMNS, &rows(&waits, SHOWN, &text));
}
