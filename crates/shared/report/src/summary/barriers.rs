//! What the summary says about barriers in particular: those that were deferred, and the schedules used.

use super::headline::time;
use super::output::SummaryText;
use crate::aggregate::saturating::total;
use crate::digest::Digest;
use evenkeel_text::paragraph::firm;
use evenkeel_text::units::{count, percent, plain, plural};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many of the actions that completed pending barriers are named.
const OBSERVERS_SHOWN: usize = 4;
/// How many schedules of barriers are named.
const SCHEDULES_SHOWN: usize = 4;

/// Adds how many barriers returned early, what ranks did in that time, and what completed the barriers.
pub(super) fn deferred(d: &Digest, out: &mut SummaryText) {
    let b = &d.deferral;
    if b.deferred == 0 {
        return;
    }
    let mut text = format!(
        "Deferred barriers: {} of {} calls ({}). Ranks ran up to {} ahead",
        count(b.deferred),
        count(b.barriers),
        percent(b.deferred, b.barriers),
        firm(plural(b.ahead, "barrier", "barriers"))
    );
    if b.overlapped_ns > 0 {
        text += &format!(" and worked for at least {} instead of waiting", time(b.overlapped_ns));
    }
    text.push('.');
    if !b.observers.is_empty() {
        let times = |name: String, times: u64| firm(format!("{name} ({})", count(times)));
        let (named, rest) = b.observers.split_at(b.observers.len().min(OBSERVERS_SHOWN));
        let mut list: Vec<String> = named.iter().map(|o| times(plain(&o.name, 24), o.times)).collect();
        if !rest.is_empty() {
            let others = plural(rest.len() as u64, "other", "others");
            list.push(times(others, total(rest.iter().map(|o| o.times))));
        }
        text += &format!(" What completed the barriers: {}.", list.join(", "));
    }
    out.paragraph(&text);
}

/// Adds the schedules of blocking barriers, if a table named any.
pub(super) fn scheduled(d: &Digest, out: &mut SummaryText) {
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
    let mut by_calls: Vec<(&str, u64)> = schedules.into_iter().collect();
    by_calls.sort_by_key(|(_, calls)| Reverse(*calls));
    let (named, rest) = by_calls.split_at(by_calls.len().min(SCHEDULES_SHOWN));
    let with_calls = |name: String, calls: u64| format!("{name} ({})", firm(plural(calls, "call", "calls")));
    let mut list: Vec<String> =
        named.iter().map(|(name, calls)| with_calls(plain(name, 60), *calls)).collect();
    if !rest.is_empty() {
        let others = plural(rest.len() as u64, "other", "others");
        list.push(with_calls(others, total(rest.iter().map(|(_, calls)| *calls))));
    }
    out.paragraph(&format!("Schedules of barriers, as the table names them: {}.", list.join(", ")));
}
