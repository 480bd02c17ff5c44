//! What calls, waits and their causes are called in sentences, for terminal and page.

use crate::path::Doing;
use crate::run::{Place, Run};
use crate::waits::Reason;
use crate::why::{Culprit, Link, Why};
use evenkeel_text::units::{duration, plain};

/// Nanoseconds that are not negative, as a text.
pub fn time(ns: i64) -> String {
    duration(ns.max(0) as u64)
}

/// A call: `MPI_Recv at solve solver.c:77`.
pub fn call(run: &Run, place: Place) -> String {
    let (name, site) = (run.name(place), run.site(place));
    // Names come from a file: they must not move the cursor.
    let name = plain(name, 80);
    if site.is_empty() { name } else { format!("{name} at {}", plain(site, 200)) }
}

/// A call that waited, for which rank, and why.
pub fn link(run: &Run, link: &Link) -> String {
    let (waiting, cause) = (run.lane_name(link.waiting.lane), run.lane_name(link.cause.lane));
    let late = match link.reason {
        Reason::LateSender => "which sent late, by",
        Reason::LateReceiver => "which posted its receive late, by",
        Reason::Collective => "which came last to",
    };
    let seems = if link.is_inferred { ", as it seems," } else { "" };
    format!(
        "{waiting} waited {}{seems} in {} for {cause}, {late} {}",
        time(link.waited),
        call(run, link.waiting),
        call(run, link.cause)
    )
}

/// What the rank at the end of a chain did.
pub fn culprit(run: &Run, culprit: &Culprit) -> String {
    let segment = &culprit.segment;
    let lane = run.lane_name(segment.lane);
    match segment.doing {
        Doing::Call(number) => {
            let place = Place { lane: segment.lane, call: number };
            format!("{lane} was in {} for {}, and did not wait there", call(run, place), time(culprit.whole))
        }
        Doing::Outside(next) => {
            let at = |number: Option<u32>| Some(call(run, run.place(segment.lane, number?)?));
            let between = match (at(next.checked_sub(1)), at(Some(next))) {
                (Some(before), Some(after)) => format!("between {before} and {after}"),
                (None, Some(after)) => format!("before {after}"),
                (Some(before), None) => format!("after {before}"),
                (None, None) => "all the time".into(),
            };
            format!("{lane} was outside MPI for {}, {between}", time(culprit.whole))
        }
    }
}

/// The lines of a chain, from the call that is asked about to the rank that was busy.
pub fn chain(run: &Run, why: &Why) -> Vec<String> {
    let mut lines: Vec<String> = why.links.iter().map(|it| link(run, it)).collect();
    if why.is_shortened {
        lines.push(format!("and so on: the chain has more than {} links", why.links.len()));
    }
    lines.extend(why.culprit.as_ref().map(|it| culprit(run, it)));
    lines
}
