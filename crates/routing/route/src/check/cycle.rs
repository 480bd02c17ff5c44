//! Finds a cycle in a channel dependency graph.

use crate::network::Channel;
use crate::table::Destination;

/// A cycle, if there is one: its channels, each with a destination whose packets hold it and wait for the
/// next.
///
/// `waits_for` gives the channels for which packets that hold a channel may wait. The result is the
/// shortest cycle through one of its channels, not the shortest of all cycles.
pub(super) fn find(
    channels: usize,
    waits_for: impl Fn(Channel) -> Vec<(Channel, Destination)>,
) -> Option<Vec<(Channel, Destination)>> {
    let waits: Vec<Vec<(Channel, Destination)>> =
        (0..channels as u32).map(|c| waits_for(Channel(c))).collect();
    // Remove channels whose packets wait for no remaining channel, until there are none. Packets on every
    // remaining channel then wait for another remaining channel.
    let mut left: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); channels];
    waits.iter().enumerate().for_each(|(c, next)| next.iter().for_each(|(n, _)| holders[n.index()].push(c)));
    let mut free: Vec<usize> = (0..channels).filter(|c| left[*c] == 0).collect();
    while let Some(c) = free.pop() {
        for holder in &holders[c] {
            left[*holder] -= 1;
            if left[*holder] == 0 {
                free.push(*holder);
            }
        }
    }
    // A walk along remaining channels must return to a channel that it has visited. That one is on a cycle.
    let mut at = left.iter().position(|n| *n > 0)?;
    let mut seen = vec![false; channels];
    while !std::mem::replace(&mut seen[at], true) {
        at = waits[at]
            .iter()
            .map(|(n, _)| n.index())
            .find(|n| left[*n] > 0)
            .expect("packets on a remaining channel wait for another");
    }
    shortest(&waits, at)
}

/// The shortest cycle through a channel, by breadth-first search.
fn shortest(waits: &[Vec<(Channel, Destination)>], start: usize) -> Option<Vec<(Channel, Destination)>> {
    let mut before: Vec<Option<(usize, Destination)>> = vec![None; waits.len()];
    let mut queue = vec![start];
    let mut i = 0;
    while let Some(at) = queue.get(i).copied() {
        i += 1;
        for (next, why) in &waits[at] {
            if before[next.index()].is_none() {
                before[next.index()] = Some((at, *why));
                queue.push(next.index());
            }
        }
        if before[start].is_some() {
            break;
        }
    }
    let mut cycle = Vec::new();
    let mut at = start;
    loop {
        let (holder, why) = before[at]?;
        cycle.push((Channel(holder as u32), why));
        at = holder;
        if at == start {
            cycle.reverse();
            return Some(cycle);
        }
    }
}
