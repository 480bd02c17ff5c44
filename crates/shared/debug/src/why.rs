//! Why a call waited: from it to the rank that was busy meanwhile.

use crate::path::{Doing, Segment, Step, walk};
use crate::run::{Place, Run};
use crate::waits::{Reason, Waits};

/// A call that waited for the next one of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The call that waited.
    pub waiting: Place,
    /// How long, ns.
    pub waited: i64,
    /// The call for whose entry it waited.
    pub cause: Place,
    /// Why.
    pub reason: Reason,
    /// The trace does not say so directly.
    pub is_inferred: bool,
}

/// What was done meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// The piece, within the wait.
    pub segment: Segment,
    /// All of it, ns: it may have begun before the wait.
    pub whole: i64,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// From the call that is asked about on.
    pub links: Vec<Link>,
    /// There are more than are kept.
    pub is_shortened: bool,
    /// What was done from the beginning to the end of the wait, in the order of time; as many as are kept.
    pub segments: Vec<Segment>,
    /// The longest that one was outside MPI; within MPI, if no rank was outside.
    pub culprit: Option<Culprit>,
}

/// Chains are as long as the calls that were made during the wait. No one reads more.
pub const MOST_LINKS: usize = 100;

/// Follows the chain; empty if the call did not wait.
pub fn why(run: &Run, waits: &Waits, waiting: Place) -> Why {
    let mut why = Why::default();
    let Some(first) = waits.get(waiting) else { return why };
    let link = |place: Place, wait: &crate::waits::Wait| Link {
        waiting: place,
        waited: waits.length(run, place),
        cause: wait.cause,
        reason: wait.reason,
        is_inferred: wait.is_inferred,
    };
    why.links.push(link(waiting, first));
    let mut best: Option<Segment> = None;
    let is_outside = |segment: &Segment| matches!(segment.doing, Doing::Outside(_));
    let rank = |segment: &Segment| (is_outside(segment), segment.to - segment.from);
    let (from, to) = (run.begin(waiting), waits.until(run, waiting));
    walk(run, waits, first.cause.lane, to, from, |step| match step {
        Step::Jump(lane, wait) if why.links.len() < MOST_LINKS => {
            why.links.push(link(Place { lane, call: wait.call }, &wait));
        }
        Step::Jump(..) => why.is_shortened = true,
        Step::Segment(segment) => {
            if why.segments.len() < MOST_LINKS {
                why.segments.push(segment);
            }
            if best.is_none_or(|best| rank(&segment) > rank(&best)) {
                best = Some(segment);
            }
        }
    });
    why.segments.reverse();
    why.culprit = best.map(|segment| Culprit { segment, whole: whole(run, &segment) });
    why
}

/// How long a lane did what a piece is a part of.
fn whole(run: &Run, segment: &Segment) -> i64 {
    let lane = &run.lanes[segment.lane as usize];
    match segment.doing {
        Doing::Call(_) => segment.to - segment.from,
        Doing::Outside(next) => {
            let next = next as usize;
            let begins = next.checked_sub(1).map_or(lane.starts, |before| lane.end[before]);
            lane.begin.get(next).map_or(segment.to, |&begin| begin) - begins
        }
    }
}
