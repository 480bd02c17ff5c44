//! What a rank is in, put into names and ranks that people know.
//!
//! The line of a rank holds addresses and handles. What they stand for is read in the memory of the rank;
//! that is right if the line is the same afterwards, because the rank was in the same call all the time.

use super::discovery::{Job, JobRank};
use super::threads::Threads;
use evenkeel_segment::Seq;
use evenkeel_segment::block::WORLD;
use evenkeel_segment::call_line::{CurrentCall, EngineWait, Sight};
use evenkeel_segment::foreign::{read_bytes, read_words, ticks_now};

/// A communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communicator {
    /// What people call it: `world`, its name, or nothing.
    pub name: String,
    /// World ranks of its members, in rank order.
    pub members: Vec<u32>,
}

impl Communicator {
    /// As a part of a sentence.
    pub fn words(&self) -> String {
        match (self.name.as_str(), self.members.len()) {
            ("", ranks) => format!("a communicator of {ranks} ranks"),
            (name, ranks) => format!("{name} ({ranks} ranks)"),
        }
    }
}

/// The rank that a call sends to or receives from, or the root of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The call has none, or it is not known.
    None,
    /// Any tag.
    Any,
    /// This one.
    Number(i32),
}

/// A wait in a collective that evenkeel carries out.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveWait {
    /// Tells the collectives of a job apart: the block of the communicator, and the number of the barrier or
    /// of the first instance.
    pub instance: (u64, u64),
    /// World ranks of the members on whose contributions the rank waits, as far as they have not made them;
    /// None if it is not known whose are missing.
    pub missing: Option<Vec<u32>>,
    /// Which blocking collective of its communicator this is, counted from 1; None if that is not known.
    pub ordinal: Option<u64>,
    /// For how many seconds the rank has waited.
    pub seconds: f64,
}

/// A call of MPI that a rank is in.
#[derive(Clone, Debug, PartialEq)]
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
}

/// The longest name of a function or communicator that is read.
const NAME_BYTES: usize = 48;

/// Words of what the front end tells about communicators: `ek_comm_addresses` in `shims/include/evenkeel.h`.
const ADDRESS_WORDS: usize = 10;

/// What a call that stands in a rank's line is. None if the rank has gone on meanwhile.
pub fn describe(job: &Job, rank: &JobRank, call: &CurrentCall) -> Option<Call> {
    let pid = rank.pid?;
    let name = text(pid, call.name, NAME_BYTES)?;
    match &call.wait {
        Some(wait) => engine_wait(job, pid, rank, wait, name),
        None => Some(host_call(pid, rank.identity.communicators, call, name)),
    }
}

/// The other threads of a rank that is in a call, where several threads may be in MPI.
pub fn other_threads(rank: &JobRank, sight: &Sight) -> Threads {
    let Some(pid) = rank.pid.filter(|_| sight.is_threaded && sight.call.is_some()) else {
        return Threads::default();
    };
    let mut words = [0; ADDRESS_WORDS];
    let known = read_words(pid, rank.identity.communicators, &mut words).is_ok();
    Threads::look(pid, sight.caller, if known { words[9] } else { 0 })
}

/// The name of an MPI function that stands at an address in a process.
pub fn function_name(pid: u32, address: u64) -> Option<String> {
    text(pid, address, NAME_BYTES)
}

/// A text that ends with a zero byte. It may stand at the end of what the process maps.
fn text(pid: u32, address: u64, longest: usize) -> Option<String> {
    const PIECE: usize = 8;
    let mut text = Vec::new();
    while text.len() < longest {
        let at = address + text.len() as u64;
        // Up to an address that is a multiple of eight, so that no piece reaches into the next page.
        let mut piece = [0; PIECE];
        let bytes = &mut piece[..PIECE - at as usize % PIECE];
        read_bytes(pid, at, bytes).ok()?;
        let end = bytes.iter().position(|byte| *byte == 0);
        text.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        if end.is_some() {
            break;
        }
    }
    String::from_utf8(text).ok()
}

// ---- calls that the MPI library carries out, and messages ----

fn host_call(pid: u32, addresses: u64, call: &CurrentCall, name: String) -> Call {
    /// The front end's "no rank" and "no tag".
    const NONE: i32 = i32::MIN;
    let mut words = [0; ADDRESS_WORDS];
    let known = addresses != 0 && read_words(pid, addresses, &mut words).is_ok();
    let communicator = if known { communicator(pid, &words, call.communicator) } else { None };
    let [any_source, any_tag] = [words[7] as i32, (words[7] >> 32) as i32];
    let proc_null = words[8] as i32;
    let peer = match call.peer {
        NONE => Peer::None,
        peer if known && peer == any_source => Peer::Any,
        peer if known && peer == proc_null => Peer::Null,
        peer => {
            let members = communicator.as_ref().map_or(&[][..], |c| &c.members);
            let member = usize::try_from(peer).ok().and_then(|peer| members.get(peer));
            member.map_or(Peer::Unknown(peer), |member| Peer::World(*member))
        }
    };
    let tag = match call.tag {
        NONE => Tag::None,
        tag if known && tag == any_tag => Tag::Any,
        tag => Tag::Number(tag),
    };
    Call { name, communicator, peer, tag, collective: None }
}

/// Finds a communicator in the front end's table by its handle.
fn communicator(pid: u32, addresses: &[u64; ADDRESS_WORDS], handle: u64) -> Option<Communicator> {
    let [table, places, world, handle_at, size_at, members_at, name_at, ..] = *addresses;
    let mut entries = vec![0; usize::try_from(places).ok().filter(|places| *places <= 1 << 16)?];
    read_words(pid, table, &mut entries).ok()?;
    let word = |address| {
        let mut word = [0];
        read_words(pid, address, &mut word).ok().map(|()| word[0])
    };
    let is_it = |entry: &u64| *entry != 0 && handle != 0 && word(entry + handle_at) == Some(handle);
    let entry = entries.into_iter().find(is_it)?;
    let mut size = [0; 4];
    read_bytes(pid, entry + size_at, &mut size).ok()?;
    let size = usize::try_from(i32::from_ne_bytes(size)).ok()?;
    let mut bytes = vec![0; size * 4];
    read_bytes(pid, word(entry + members_at)?, &mut bytes).ok()?;
    let rank = |four: &[u8]| u32::try_from(i32::from_ne_bytes(four.try_into().ok()?)).ok();
    let members = bytes.chunks_exact(4).map(rank).collect::<Option<Vec<u32>>>()?;
    let name = if handle == world { "world".into() } else { text(pid, entry + name_at, 32)? };
    Some(Communicator { name, members })
}

// ---- collectives that evenkeel carries out ----

fn engine_wait(job: &Job, pid: u32, rank: &JobRank, wait: &EngineWait, name: String) -> Option<Call> {
    let mut places = vec![0; (wait.ranks as usize).min(job.ranks.len() + 1)];
    read_words(pid, wait.members, &mut places).ok()?;
    // The agent of a communicator that spans nodes is the member behind the ranks here.
    let members: Option<Vec<u32>> =
        places.iter().map(|place| job.ranks.get(*place as usize).map(|rank| rank.rank)).collect();
    let seconds = seconds_since(wait.since, rank.identity.tick_scale);
    let world = if wait.block == WORLD.offset() as u64 { "world" } else { "" };
    let Some(members) = members else {
        // Whose contributions are missing is known to the agents only.
        let ordinal = None;
        let collective = CollectiveWait { instance: (wait.block, 0), missing: None, ordinal, seconds };
        let collective = Some(collective);
        return Some(Call { name, communicator: None, peer: Peer::None, tag: Tag::None, collective });
    };
    let root = wait.root.filter(|_| has_root(&name)).and_then(|root| members.get(root as usize).copied());
    let (number, missing) = missing(job, wait, &name)?;
    let collective = CollectiveWait {
        instance: (wait.block, number),
        missing: missing.map(|missing| missing.into_iter().map(|member| members[member]).collect()),
        ordinal: Some(wait.ordinal).filter(|ordinal| *ordinal > 0),
        seconds,
    };
    Some(Call {
        name,
        communicator: Some(Communicator { name: world.into(), members }),
        peer: root.map_or(Peer::None, Peer::World),
        tag: Tag::None,
        collective: Some(collective),
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

fn has_root(name: &str) -> bool {
    matches!(name, "MPI_Bcast" | "MPI_Scatter" | "MPI_Scatterv" | "MPI_Reduce" | "MPI_Gather" | "MPI_Gatherv")
}

/// The members whose contributions a rank needs in a collective, by their numbers; None if it needs none, or
/// if that is not known.
fn needed(name: &str, me: usize, ranks: usize, root: Option<usize>) -> Option<Vec<usize>> {
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
    let needed = needed(name, me, ranks, wait.root.map(|root| root as usize));
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

    #[test]
    fn texts_are_read_up_to_their_end() {
        let text_here = c"MPI_Allreduce";
        let read = |longest| text(std::process::id(), text_here.as_ptr() as u64, longest);
        assert_eq!(read(48).as_deref(), Some("MPI_Allreduce"));
        assert_eq!(text(std::process::id(), 0, 48), None);
    }
}
