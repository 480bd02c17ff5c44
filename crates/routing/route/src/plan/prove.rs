//! Verifies a step for all orders of arrival at once.

use crate::network::{Attachment, Channel, Network, SwitchId};
use crate::table::{Destination, Table};
use std::collections::BTreeSet;
use thiserror::Error;

/// Why a step is not safe.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StepError {
    /// In some order of arrival, packets to a destination loop through a switch.
    #[error("packets to {to:?} may loop through switch {}", at.0)]
    Loop {
        /// The switch.
        at: SwitchId,
        /// The destination.
        to: Destination,
    },
    /// In some order of arrival, a switch no longer reaches a destination that it reached before.
    #[error("switch {} may lose its path to {to:?}", from.0)]
    Unreachable {
        /// The switch.
        from: SwitchId,
        /// The destination.
        to: Destination,
    },
    /// Packets on these channels may wait for each other: on each for the next, and on the last for the
    /// first.
    #[error("on lane {lane} packets may wait for each other on the channels {:?}", numbers(channels))]
    Cycle {
        /// The virtual lane.
        lane: u8,
        /// The channels.
        channels: Vec<Channel>,
    },
}

fn numbers(channels: &[Channel]) -> Vec<u32> {
    channels.iter().map(|c| c.0).collect()
}

/// By virtual lane and channel: the channels for which packets on it may wait.
type Dependencies = Vec<BTreeSet<u32>>;

/// Proves that the step from one table to another is safe, on the network as it is during the step.
///
/// Whatever the order of arrival: packets do not loop, every switch keeps the destinations that it could
/// reach, and nothing can deadlock. This holds for every mixture of old and new entries, and for packets
/// that meet old entries first and new ones later. O(destinations · switches), and the dependencies.
///
/// # Errors
/// The first violation.
pub fn prove(network: &Network, before: &Table, after: &Table) -> Result<(), StepError> {
    let lanes = usize::from(before.lanes().max(after.lanes()));
    let mut waits: Dependencies = vec![BTreeSet::new(); lanes * network.channels()];
    for to in before.destinations() {
        let options = options(network, before, after, to);
        check_arrival(network, before, &options, to)?;
        for lane in [before.lane(to), after.lane(to)] {
            add_dependencies(network, &options, to, lane, &mut waits);
        }
    }
    match cycle(&waits) {
        None => Ok(()),
        Some(found) => {
            let lane = (found[0] as usize / network.channels()) as u8;
            let channels = found.into_iter().map(|v| Channel(v % network.channels() as u32)).collect();
            Err(StepError::Cycle { lane, channels })
        }
    }
}

/// By switch: the channels by which it may forward packets to a destination during the step. `None` stands
/// for an entry that leads to no cable, and counts as a lost packet.
fn options(network: &Network, before: &Table, after: &Table, to: Destination) -> Vec<Vec<Option<Channel>>> {
    let both = |s| {
        let mut both = vec![channel(network, before, s, to), channel(network, after, s, to)];
        both.dedup();
        both
    };
    network.switch_ids().map(both).collect()
}

/// Checks that packets to a destination do not loop, and that all packets arrive that would have arrived
/// before.
fn check_arrival(
    network: &Network,
    before: &Table,
    options: &[Vec<Option<Channel>>],
    to: Destination,
) -> Result<(), StepError> {
    let mut progress = vec![Progress::NotVisited; network.switches().len()];
    progress[to.switch(network).index()] = Progress::Arrives;
    for s in network.switch_ids() {
        always_arrives(network, options, &mut progress, s).map_err(|at| StepError::Loop { at, to })?;
    }
    for s in network.switch_ids() {
        if arrives(network, before, s, to) && progress[s.index()] != Progress::Arrives {
            return Err(StepError::Unreachable { from: s, to });
        }
    }
    Ok(())
}

/// Adds the dependencies of packets to a destination on a virtual lane.
fn add_dependencies(
    network: &Network,
    options: &[Vec<Option<Channel>>],
    to: Destination,
    lane: u8,
    waits: &mut Dependencies,
) {
    let end = to.switch(network);
    let offset = usize::from(lane) * network.channels();
    for s in network.switch_ids().filter(|s| *s != end) {
        for c in options[s.index()].iter().flatten().filter(|c| network.to(**c) != end) {
            let following = options[network.to(*c).index()].iter().flatten();
            waits[offset + c.index()].extend(following.map(|next| (offset + next.index()) as u32));
        }
    }
}

/// The channel of an entry.
fn channel(network: &Network, table: &Table, at: SwitchId, to: Destination) -> Option<Channel> {
    match network.attachment(at, table.port(at, to)?) {
        Attachment::Channel(c) => Some(c),
        _ => None,
    }
}

/// Whether the packets of a switch arrive at a destination.
fn arrives(network: &Network, table: &Table, from: SwitchId, to: Destination) -> bool {
    let end = to.switch(network);
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

/// What depth-first search knows of a switch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    NotVisited,
    /// On the path of the search.
    OnPath,
    /// Packets arrive, whatever the order of arrival of entries.
    Arrives,
    /// Packets may not arrive.
    MayBeLost,
}

/// Whether packets of a switch always arrive. Fills in the progress of the switch and of all that it may
/// send to. The error is a switch on a loop.
fn always_arrives(
    network: &Network,
    options: &[Vec<Option<Channel>>],
    progress: &mut [Progress],
    s: SwitchId,
) -> Result<bool, SwitchId> {
    match progress[s.index()] {
        Progress::OnPath => return Err(s),
        Progress::Arrives => return Ok(true),
        Progress::MayBeLost => return Ok(false),
        Progress::NotVisited => {}
    }
    progress[s.index()] = Progress::OnPath;
    let mut always = true;
    for option in &options[s.index()] {
        always &= match option {
            Some(c) => always_arrives(network, options, progress, network.to(*c))?,
            None => false,
        };
    }
    progress[s.index()] = if always { Progress::Arrives } else { Progress::MayBeLost };
    Ok(always)
}

/// A cycle of dependencies, if there is one. Channels whose packets wait for no remaining channel are
/// removed until there are none. Packets on every remaining channel wait for another remaining channel.
fn cycle(waits: &Dependencies) -> Option<Vec<u32>> {
    let mut left: Vec<usize> = waits.iter().map(BTreeSet::len).collect();
    let mut waiting_for: Vec<Vec<u32>> = vec![Vec::new(); waits.len()];
    for (v, all) in waits.iter().enumerate() {
        all.iter().for_each(|w| waiting_for[*w as usize].push(v as u32));
    }
    let mut free: Vec<u32> = (0..waits.len() as u32).filter(|v| left[*v as usize] == 0).collect();
    while let Some(v) = free.pop() {
        for w in &waiting_for[v as usize] {
            left[*w as usize] -= 1;
            if left[*w as usize] == 0 {
                free.push(*w);
            }
        }
    }
    let mut path = vec![(0..waits.len() as u32).find(|v| left[*v as usize] > 0)?];
    loop {
        let last = *path.last().expect("the path has a first channel");
        let next = *waits[last as usize]
            .iter()
            .find(|w| left[**w as usize] > 0)
            .expect("packets on a remaining channel wait for another");
        if let Some(first) = path.iter().position(|v| *v == next) {
            return Some(path.split_off(first));
        }
        path.push(next);
    }
}
