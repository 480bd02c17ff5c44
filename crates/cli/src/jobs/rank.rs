//! What a rank is in, put into names and ranks that people know.
//!
//! The line of a rank holds addresses and handles. What they stand for is read in the memory of the rank;
//! that is right if the line is the same afterwards, because the rank was in the same call all the time.

use super::discovery::{Job, JobRank};
use super::inspection::{Communicator, Entry, HostCollectives, Inspection, text};
use super::threads::Threads;
use evenkeel_segment::Seq;
use evenkeel_segment::block::WORLD;
use evenkeel_segment::call_line::{CurrentCall, EngineWait, Sight};
use evenkeel_segment::foreign::{read_words, ticks_now};
use serde::{Deserialize, Serialize};

/// The rank that a call sends to or receives from, or the root of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Peer {
    /// The call has none, or it is not known.
    None,
    /// Any rank.
    Any,
    /// MPI_PROC_NULL.
    Null,
    /// This rank of the world.
    World(u32),
    /// This rank of a communicator that is not known.
    Unknown(i32),
}

/// A tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tag {
    /// The call has none, or it is not known.
    None,
    /// Any tag.
    Any,
    /// This one.
    Number(i32),
}

/// A collective of a job's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Instance {
    /// The host in whose segment its block is, by its place in the observation.
    pub host: usize,
    /// The block of the communicator.
    pub block: u64,
    /// The number of the barrier or of the first instance.
    pub number: u64,
}

/// A wait in a collective that evenkeel carries out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectiveWait {
    /// Tells the collectives of a job apart.
    pub instance: Instance,
    /// World ranks of the members on whose contributions the rank waits, as far as they have not made them;
    /// None if it is not known whose are missing.
    pub missing: Option<Vec<u32>>,
    /// Which blocking collective of its communicator this is, counted from 1; None if that is not known.
    pub ordinal: Option<u64>,
    /// For how many seconds the rank has waited.
    pub seconds: f64,
    /// The communicator has members on other nodes.
    pub spans_nodes: bool,
}

/// A call of MPI that a rank is in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Its name: `MPI_Recv`.
    pub name: String,
    /// Its communicator, if that is known.
    pub communicator: Option<Communicator>,
    /// See [`Peer`].
    pub peer: Peer,
    /// See [`Tag`].
    pub tag: Tag,
    /// Set if evenkeel carries the call out, as a collective.
    pub collective: Option<CollectiveWait>,
    /// Set if the MPI library carries it out, as a collective that needs other members: how many of its
    /// communicator's the rank has called, this one included.
    pub host_collective: Option<HostCollectives>,
}

/// The longest name of a function or communicator that is read.
const NAME_BYTES: usize = 48;

/// What a call that stands in a rank's line is. None if the rank has gone on meanwhile.
pub fn describe(job: &Job, rank: &JobRank, call: &CurrentCall) -> Option<Call> {
    let pid = rank.pid?;
    let name = text(pid, call.name, NAME_BYTES)?;
    match &call.wait {
        Some(wait) => engine_wait(job, pid, rank, wait, name),
        None => Some(host_call(pid, rank.inspection().as_ref(), call, name)),
    }
}

/// The other threads of a rank that is in a call, where several threads may be in MPI.
pub fn other_threads(rank: &JobRank, sight: &Sight) -> Threads {
    let Some(pid) = rank.pid.filter(|_| sight.is_threaded && sight.call.is_some()) else {
        return Threads::default();
    };
    Threads::look(pid, sight.caller, rank.inspection().map_or(0, |it| it.host_threads))
}

/// The name of an MPI function that stands at an address in a process.
pub fn function_name(pid: u32, address: u64) -> Option<String> {
    text(pid, address, NAME_BYTES)
}

// ---- calls that the MPI library carries out, and messages ----

fn host_call(pid: u32, inspection: Option<&Inspection>, call: &CurrentCall, name: String) -> Call {
    /// The front end's "no rank", "no tag" and, in place of a tag, "this collective needs others".
    const NONE: i32 = i32::MIN;
    const NEEDS_OTHERS: i32 = i32::MIN + 1;
    let entry = inspection.and_then(|it| it.entry(pid, call.communicator));
    let communicator = entry.as_ref().map(|entry| entry.communicator.clone());
    let is_of = |number: fn(&Inspection) -> i32, value: i32| inspection.is_some_and(|it| number(it) == value);
    let peer = match call.peer {
        NONE => Peer::None,
        peer if is_of(|it| it.any_source, peer) => Peer::Any,
        peer if is_of(|it| it.proc_null, peer) => Peer::Null,
        peer => {
            let members = communicator.as_ref().map_or(&[][..], |c| &c.members);
            let member = usize::try_from(peer).ok().and_then(|peer| members.get(peer));
            member.map_or(Peer::Unknown(peer), |member| Peer::World(*member))
        }
    };
    let tag = match call.tag {
        NONE | NEEDS_OTHERS => Tag::None,
        tag if is_of(|it| it.any_tag, tag) => Tag::Any,
        tag => Tag::Number(tag),
    };
    let entry = entry.filter(|_| call.tag == NEEDS_OTHERS);
    let host_collective = entry.as_ref().map(Entry::host_collectives);
    Call { name, communicator, peer, tag, collective: None, host_collective }
}

// ---- collectives that evenkeel carries out ----

fn engine_wait(job: &Job, pid: u32, rank: &JobRank, wait: &EngineWait, name: String) -> Option<Call> {
    let mut places = vec![0; (wait.ranks as usize).min(job.ranks.len() + 1)];
    read_words(pid, wait.members, &mut places).ok()?;
    // The agent of a communicator that spans nodes is the member behind the ranks here.
    let members: Option<Vec<u32>> =
        places.iter().map(|place| job.ranks.get(*place as usize).map(|rank| rank.rank)).collect();
    let seconds = seconds_since(wait.since, rank.identity.tick_scale);
    let entry = rank.inspection().and_then(|it| it.entry_of_block(pid, wait.block));
    let communicator = entry.map(|entry| entry.communicator);
    let host_collective = None;
    let Some(members) = members else {
        // Whose contributions are missing is known to the agents only.
        let instance = Instance { host: 0, block: wait.block, number: 0 };
        let collective =
            Some(CollectiveWait { instance, missing: None, ordinal: None, seconds, spans_nodes: true });
        return Some(Call {
            name,
            communicator,
            peer: Peer::None,
            tag: Tag::None,
            collective,
            host_collective,
        });
    };
    let world = if wait.block == WORLD.offset() as u64 { "world" } else { "" };
    let root = wait.root.filter(|_| has_root(&name)).and_then(|root| members.get(root as usize).copied());
    let (number, missing) = missing(job, wait, &name)?;
    let collective = CollectiveWait {
        instance: Instance { host: 0, block: wait.block, number },
        missing: missing.map(|missing| missing.into_iter().map(|member| members[member]).collect()),
        ordinal: Some(wait.ordinal).filter(|ordinal| *ordinal > 0),
        seconds,
        spans_nodes: false,
    };
    Some(Call {
        name,
        communicator: Some(communicator.unwrap_or(Communicator { name: world.into(), members })),
        peer: root.map_or(Peer::None, Peer::World),
        tag: Tag::None,
        collective: Some(collective),
        host_collective,
    })
}

/// Seconds since a time in ticks of a process's clock.
fn seconds_since(since: u64, tick_scale: u64) -> f64 {
    let now = if tick_scale == 0 { monotonic_ns() } else { ticks_now() };
    let scale = if tick_scale == 0 { 1 << 32 } else { tick_scale };
    let ns = (u128::from(now.saturating_sub(since)) * u128::from(scale)) >> 32;
    ns as f64 / 1e9
}

fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Whether a collective has a root.
pub fn has_root(name: &str) -> bool {
    matches!(name, "MPI_Bcast" | "MPI_Scatter" | "MPI_Scatterv" | "MPI_Reduce" | "MPI_Gather" | "MPI_Gatherv")
}

/// The members whose contributions a rank needs in a collective, by their numbers; None if it needs none, or
/// if that is not known.
pub(super) fn needed(name: &str, me: usize, ranks: usize, root: Option<usize>) -> Option<Vec<usize>> {
    let others = (0..ranks).filter(|member| *member != me);
    match name {
        "MPI_Barrier"
        | "MPI_Allreduce"
        | "MPI_Allgather"
        | "MPI_Allgatherv"
        | "MPI_Alltoall"
        | "MPI_Alltoallv"
        | "MPI_Alltoallw"
        | "MPI_Reduce_scatter"
        | "MPI_Reduce_scatter_block" => Some(others.collect()),
        "MPI_Bcast" | "MPI_Scatter" | "MPI_Scatterv" => {
            root.filter(|root| *root != me).map(|root| vec![root])
        }
        "MPI_Reduce" | "MPI_Gather" | "MPI_Gatherv" => (root == Some(me)).then(|| others.collect()),
        "MPI_Scan" | "MPI_Exscan" => Some((0..me).collect()),
        _ => None,
    }
}

/// The number of the barrier or first instance that a rank waits in, and the members that it needs and that
/// have not come to it; None in their place if that is not known. None altogether if the segment cannot be
/// read.
fn missing(job: &Job, wait: &EngineWait, name: &str) -> Option<(u64, Option<Vec<usize>>)> {
    let (ranks, me) = (wait.ranks as usize, wait.me as usize);
    let board = job.segment.board(wait.block, ranks);
    let needed = if wait.needs_all {
        Some((0..ranks).filter(|member| *member != me).collect())
    } else {
        needed(name, me, ranks, wait.root.map(|root| root as usize))
    };
    if name == "MPI_Barrier" {
        let mine = board.entered(me)?;
        let needed = needed.unwrap_or_default();
        let entered = needed.iter().map(|member| board.entered(*member)).collect::<Option<Vec<_>>>()?;
        let late =
            needed.iter().zip(entered).filter(|(_, entered)| *entered < mine).map(|(member, _)| *member);
        let late: Vec<usize> = late.collect();
        // Barriers by a schedule do not count here, and somebody is awaited in any case.
        let known = mine > 0 && !late.is_empty();
        return Some((mine, known.then_some(late)));
    }
    let Some(first) = wait.first else { return Some((0, None)) };
    if board.has_backlogs()? {
        return Some((first, None));
    }
    let Some(needed) = needed else { return Some((first, None)) };
    let seq = Seq(first);
    let there = needed.iter().map(|member| board.is_published(*member, seq)).collect::<Option<Vec<_>>>()?;
    let late = needed.iter().zip(there).filter(|(_, there)| !*there).map(|(member, _)| *member);
    let late: Vec<usize> = late.collect();
    // All have come, and more than their coming is awaited.
    Some((first, (!late.is_empty()).then_some(late)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_needs_whom_the_collective_says() {
        assert_eq!(needed("MPI_Barrier", 1, 3, None), Some(vec![0, 2]));
        assert_eq!(needed("MPI_Bcast", 1, 3, Some(2)), Some(vec![2]));
        assert_eq!(needed("MPI_Bcast", 2, 3, Some(2)), None, "a root waits for room, not for a contribution");
        assert_eq!(needed("MPI_Gather", 2, 3, Some(2)), Some(vec![0, 1]));
        assert_eq!(needed("MPI_Gather", 1, 3, Some(2)), None);
        assert_eq!(needed("MPI_Exscan", 2, 4, None), Some(vec![0, 1]));
        assert_eq!(needed("MPI_Comm_free", 0, 4, None), None);
    }
}
