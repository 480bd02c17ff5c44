//! Ranks that wait for each other for ever, and no one else could help.

use crate::history::{Awaited, CallIndex};
use crate::replay::{Missing, Replay, Standstill};
use crate::run::Run;

/// A rank of a circle, and why it waits.
pub struct Blocked {
    /// The rank.
    pub rank: u32,
    /// The call that it is in.
    pub call: CallIndex,
    /// What it waits for; `None`: it has ended.
    pub missing: Option<Missing>,
}

/// Ranks each of which waits for the next one, and the last one for the first, or for a rank that has ended.
/// `None`: it cannot be proved that they wait for ever.
pub fn find(run: &Run, replay: &Replay, standstill: &Standstill) -> Option<Vec<Blocked>> {
    let ranks = run.ranks.len();
    let missing: Vec<Option<Vec<Missing>>> = (0..ranks as u32)
        .map(|rank| {
            let step = standstill.at[rank as usize];
            let steps = &run.ranks[rank as usize].steps;
            (step < steps.len()).then(|| replay.all_missing(rank, step))
        })
        .collect();
    // Those that never make another call than the one that they are in, until the contrary is seen.
    let has_ended = |rank: usize| run.ranks[rank].finalized.is_some() && run.ranks[rank].ends_at.is_none();
    let mut is_stuck: Vec<bool> = (0..ranks)
        .map(|rank| match &missing[rank] {
            Some(all) => !all.is_empty(),
            None => has_ended(rank),
        })
        .collect();
    loop {
        let frees = |rank: usize| {
            is_stuck[rank]
                && missing[rank].as_ref().is_some_and(|all| all.iter().all(|m| !is_stuck[m.rank as usize]))
        };
        let Some(free) = (0..ranks).find(|&rank| frees(rank)) else { break };
        is_stuck[free] = false;
    }
    let first = (0..ranks).find(|&rank| is_stuck[rank] && missing[rank].is_some())?;
    walk(run, standstill, &missing, &is_stuck, first)
}

fn walk(
    run: &Run,
    standstill: &Standstill,
    missing: &[Option<Vec<Missing>>],
    is_stuck: &[bool],
    first: usize,
) -> Option<Vec<Blocked>> {
    let mut order: Vec<usize> = Vec::new();
    let mut rank = first;
    let begin = loop {
        if let Some(place) = order.iter().position(|&of| of == rank) {
            break place;
        }
        order.push(rank);
        let Some(all) = &missing[rank] else { break 0 };
        rank = all.iter().find(|m| is_stuck[m.rank as usize])?.rank as usize;
    };
    let blocked = |&rank: &usize| {
        let history = &run.ranks[rank];
        let step = history.steps.get(standstill.at[rank]);
        let call = step.map(|step| step.call).or(history.finalized)?;
        let of = missing[rank].as_ref();
        let missing = of.and_then(|all| all.iter().find(|m| is_stuck[m.rank as usize])).copied();
        Some(Blocked { rank: rank as u32, call, missing })
    };
    order[begin..].iter().map(blocked).collect()
}

/// What each of them waits for, in a sentence; `{0}`, `{1}` are their calls.
pub fn describe(run: &Run, circle: &[Blocked]) -> String {
    let one = |(number, blocked): (usize, &Blocked)| match &blocked.missing {
        None => format!("rank {} is in {{{number}}}", blocked.rank),
        Some(missing) => {
            let what = match missing.awaited {
                Awaited::Send(_) => format!("for rank {} to receive its message", missing.rank),
                Awaited::Receive(_) | Awaited::Probe(_) => format!("for a message of rank {}", missing.rank),
                Awaited::Collective(number) => {
                    let one = &run.ranks[blocked.rank as usize].collectives[number as usize];
                    format!("for rank {} in collective {} of the communicator", missing.rank, one.nth + 1)
                }
            };
            format!("rank {} waits in {{{number}}} {what}", blocked.rank)
        }
    };
    circle.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}
