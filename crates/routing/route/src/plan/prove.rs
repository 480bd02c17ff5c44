//! The judge of a step: looks at all orders of arrival at once.

use crate::network::{Channel, Network, Plugged, SwitchId};
use crate::table::{Destination, Table, home};
use std::fmt;

/// What is wrong with a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// In some order of arrival packets to a destination go round in circles through this switch.
    Loop { at: SwitchId, to: Destination },
    /// In some order of arrival a switch no longer reaches a destination that it did reach.
    Unreachable { from: SwitchId, to: Destination },
    /// On a lane, these channels may wait for each other, each for the next, and the last for the first.
    Cycle { lane: u8, channels: Vec<Channel> },
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Broken::Loop { at, to } => {
                write!(f, "packets to {to:?} may go round in circles at switch {}", at.0)
            }
            Broken::Unreachable { from, to } => write!(f, "switch {} may lose its path to {to:?}", from.0),
            Broken::Cycle { lane, channels } => {
                write!(
                    f,
                    "on lane {lane} channels may wait for each other: {:?}",
                    channels.iter().map(|c| c.0).collect::<Vec<u32>>()
                )
            }
        }
    }
}

/// Judges the step from one table to another, on the network as it is during the step: whatever the
/// order of arrival, are there no circles, does everyone keep the destinations that it had, and can
/// nothing deadlock?
///
/// Sufficient for every mixture of old and new entries, entry by entry, and for packets that meet old
/// ones first and new ones later. O(destinations · switches), and the dependencies.
///
/// # Errors
/// The first thing that is wrong.
pub fn prove(network: &Network, before: &Table, after: &Table) -> Result<(), Broken> {
    let n = network.switches().len();
    let lanes = usize::from(before.lanes().max(after.lanes()));
    // By lane and channel: those that it may wait for.
    let mut waits: Vec<std::collections::BTreeSet<u32>> =
        vec![Default::default(); lanes * network.channels()];
    for to in before.destinations() {
        let end = home(network, to);
        // What each switch may do meanwhile: nothing, where an entry leads to no cable, and that counts as a
        // way to lose packets.
        let options: Vec<Vec<Option<Channel>>> = network
            .switch_ids()
            .map(|s| {
                let mut both = vec![channel(network, before, s, to), channel(network, after, s, to)];
                both.dedup();
                both
            })
            .collect();
        // Depth first: 0 not seen, 1 on the path, 2 surely arrives, 3 may not.
        let mut state = vec![0_u8; n];
        state[end.index()] = 2;
        for s in network.switch_ids() {
            surely_arrives(network, &options, &mut state, s).map_err(|at| Broken::Loop { at, to })?;
        }
        for s in network.switch_ids() {
            if arrives(network, before, s, to) && state[s.index()] != 2 {
                return Err(Broken::Unreachable { from: s, to });
            }
        }
        for s in network.switch_ids().filter(|s| *s != end) {
            for c in options[s.index()].iter().flatten() {
                let next = network.to(*c);
                if next != end {
                    for lane in [before.lane(to), after.lane(to)] {
                        let offset = usize::from(lane) * network.channels();
                        waits[offset + c.index()].extend(
                            options[next.index()]
                                .iter()
                                .flatten()
                                .map(|after| (offset + after.index()) as u32),
                        );
                    }
                }
            }
        }
    }
    match cycle(&waits) {
        None => Ok(()),
        Some(found) => {
            let lane = (found[0] as usize / network.channels()) as u8;
            Err(Broken::Cycle {
                lane,
                channels: found.into_iter().map(|v| Channel(v % network.channels() as u32)).collect(),
            })
        }
    }
}

fn channel(network: &Network, table: &Table, at: SwitchId, to: Destination) -> Option<Channel> {
    match network.plugged(at, table.port(at, to)?) {
        Plugged::Channel(c) => Some(c),
        _ => None,
    }
}

fn arrives(network: &Network, table: &Table, from: SwitchId, to: Destination) -> bool {
    let end = home(network, to);
    let mut at = from;
    for _ in 0..network.switches().len() {
        if at == end {
            return true;
        }
        match channel(network, table, at, to) {
            Some(c) => at = network.to(c),
            None => return false,
        }
    }
    false
}

/// Fills in the state of a switch and of those that it may send to; the error is a switch of a circle.
fn surely_arrives(
    network: &Network,
    options: &[Vec<Option<Channel>>],
    state: &mut [u8],
    s: SwitchId,
) -> Result<bool, SwitchId> {
    match state[s.index()] {
        1 => return Err(s),
        2 => return Ok(true),
        3 => return Ok(false),
        _ => {}
    }
    state[s.index()] = 1;
    let mut sure = true;
    for option in &options[s.index()] {
        sure &= match option {
            Some(c) => surely_arrives(network, options, state, network.to(*c))?,
            None => false,
        };
    }
    state[s.index()] = if sure { 2 } else { 3 };
    Ok(sure)
}

/// A cycle, if there is one: vertices that nothing waits behind are taken away until there are no more;
/// among the rest every one waits for another.
fn cycle(waits: &[std::collections::BTreeSet<u32>]) -> Option<Vec<u32>> {
    let mut left: Vec<usize> = waits.iter().map(|w| w.len()).collect();
    let mut behind: Vec<Vec<u32>> = vec![Vec::new(); waits.len()];
    for (v, all) in waits.iter().enumerate() {
        all.iter().for_each(|w| behind[*w as usize].push(v as u32));
    }
    let mut free: Vec<u32> = (0..waits.len() as u32).filter(|v| left[*v as usize] == 0).collect();
    while let Some(v) = free.pop() {
        for w in &behind[v as usize] {
            left[*w as usize] -= 1;
            if left[*w as usize] == 0 {
                free.push(*w);
            }
        }
    }
    let mut path = vec![(0..waits.len() as u32).find(|v| left[*v as usize] > 0)?];
    loop {
        let last = *path.last().expect("it has a first one");
        let next = *waits[last as usize]
            .iter()
            .find(|w| left[**w as usize] > 0)
            .expect("it waits for one of the rest");
        if let Some(first) = path.iter().position(|v| *v == next) {
            return Some(path.split_off(first));
        }
        path.push(next);
    }
}
