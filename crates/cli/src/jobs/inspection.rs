//! What the front end of a rank tells those who look at it: `ek_inspection` in `shims/include/evenkeel.h`.

use evenkeel_segment::foreign::{read_bytes, read_words};
use serde::{Deserialize, Serialize};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Words of an `ek_inspection`.
const WORDS: usize = 17;
/// Bytes of the name of a host, and of a communicator.
const HOST_NAME_BYTES: usize = 65;
const COMMUNICATOR_NAME_BYTES: usize = 32;
/// The most entries of the table of communicators, and the most nodes, that are believed.
const MOST_PLACES: u64 = 1 << 16;
const MOST_NODES: u64 = 1 << 20;
/// Of a rank with more communicators only MPI_COMM_WORLD is told: reading all of them would take too long.
const MOST_TOLD: usize = 64;
const MOST_MEMBERS: usize = 1 << 18;

/// What a rank's front end tells. Addresses are the rank's; `…_at` are offsets in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspection {
    table: u64,
    places: u64,
    world: u64,
    handle_at: u64,
    size_at: u64,
    members_at: u64,
    name_at: u64,
    block_at: u64,
    host_collectives_at: u64,
    world_entry: u64,
    count: u64,
    /// MPI_ANY_SOURCE.
    pub any_source: i32,
    /// MPI_ANY_TAG.
    pub any_tag: i32,
    /// MPI_PROC_NULL.
    pub proc_null: i32,
    /// Where it is told which threads the MPI library has made.
    pub host_threads: u64,
    /// Tells the job from others, on all its nodes.
    pub job: u64,
    node_count: u64,
    host_names: u64,
}

/// A communicator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// What a rank knows of a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// It is MPI_COMM_WORLD.
    is_world: bool,
    /// Its name and members.
    pub communicator: Communicator,
    /// A hash of the members, in order.
    members: u64,
    /// How many blocking collectives on it the rank has left to the MPI library.
    called: u64,
}

impl Entry {
    /// See [`HostCollectives`].
    pub fn host_collectives(&self) -> HostCollectives {
        let of = if self.is_world { WORLD } else { self.members };
        HostCollectives { of, called: self.called }
    }
}

/// Stands for MPI_COMM_WORLD in [`HostCollectives`].
const WORLD: u64 = 0;

/// How many blocking collectives of a communicator a rank has left to the MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCollectives {
    /// Tells the communicator from others, by its members.
    pub of: u64,
    /// The number.
    pub called: u64,
}

impl Inspection {
    /// Reads it in a process; None if it tells nothing.
    pub fn read(pid: u32, address: u64) -> Option<Inspection> {
        let mut words = [0; WORDS];
        if address == 0 || read_words(pid, address, &mut words).is_err() {
            return None;
        }
        let [table, places, world, handle_at, size_at, members_at, name_at, block_at, ..] = words;
        let [host_collectives_at, world_entry, count, any, null, host_threads, job, node_count, host_names] =
            words[8..].try_into().expect("nine words are left");
        let [any_source, any_tag, proc_null] = [any as i32, (any >> 32) as i32, null as i32];
        Some(Inspection {
            table,
            places,
            world,
            handle_at,
            size_at,
            members_at,
            name_at,
            block_at,
            host_collectives_at,
            world_entry,
            count,
            any_source,
            any_tag,
            proc_null,
            host_threads,
            job,
            node_count,
            host_names,
        })
    }

    /// The hosts of the job's nodes, by their own names; none if the job has one node.
    pub fn hosts(&self, pid: u32) -> Vec<String> {
        let nodes = self.node_count.min(MOST_NODES) as usize;
        let mut bytes = vec![0; nodes * HOST_NAME_BYTES];
        if self.host_names == 0 || read_bytes(pid, self.host_names, &mut bytes).is_err() {
            return Vec::new();
        }
        let name = |bytes: &[u8]| {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        bytes.chunks_exact(HOST_NAME_BYTES).map(name).collect()
    }

    /// The communicator with a handle.
    pub fn entry(&self, pid: u32, handle: u64) -> Option<Entry> {
        self.find(pid, self.handle_at, handle)
    }

    /// The communicator whose block is at an offset of the segment.
    pub fn entry_of_block(&self, pid: u32, block: u64) -> Option<Entry> {
        self.find(pid, self.block_at, block)
    }

    fn find(&self, pid: u32, word_at: u64, value: u64) -> Option<Entry> {
        let is_it = |entry: &u64| value != 0 && word(pid, entry + word_at) == Some(value);
        self.addresses(pid)?.into_iter().find(is_it).and_then(|address| self.entry_at(pid, address))
    }

    /// The numbers of collectives that were left to the library, of MPI_COMM_WORLD and of communicators that
    /// no other one has the members of: such could not be told apart.
    pub fn host_collectives(&self, pid: u32) -> Vec<HostCollectives> {
        let addresses = self.addresses(pid).filter(|all| all.len() <= MOST_TOLD).unwrap_or_default();
        let mut members = 0;
        let is_short = |entry: &Entry| {
            members += entry.communicator.members.len();
            members <= MOST_MEMBERS
        };
        let entries = addresses.into_iter().filter_map(|address| self.entry_at(pid, address));
        let entries: Vec<Entry> = entries.take_while(is_short).collect();
        // Those that are not in the table, or cannot be read, may have any members.
        let are_all = word(pid, self.count) == Some(entries.len() as u64);
        let is_alone =
            |entry: &&Entry| entries.iter().filter(|other| other.members == entry.members).count() == 1;
        let others = entries.iter().filter(|entry| !entry.is_world && are_all).filter(is_alone);
        // MPI_Finalize empties the table, but this entry stays.
        let world = word(pid, self.world_entry + self.host_collectives_at);
        let world = world.map(|called| HostCollectives { of: WORLD, called });
        world.into_iter().chain(others.map(Entry::host_collectives)).collect()
    }

    /// The entries of the table, each once.
    fn addresses(&self, pid: u32) -> Option<Vec<u64>> {
        let mut entries = vec![0; Some(self.places).filter(|places| *places <= MOST_PLACES)? as usize];
        read_words(pid, self.table, &mut entries).ok()?;
        entries.retain(|entry| *entry != 0);
        entries.sort_unstable();
        entries.dedup();
        Some(entries)
    }

    fn entry_at(&self, pid: u32, entry: u64) -> Option<Entry> {
        let handle = word(pid, entry + self.handle_at).filter(|handle| *handle != 0)?;
        let mut size = [0; 4];
        read_bytes(pid, entry + self.size_at, &mut size).ok()?;
        let size = usize::try_from(i32::from_ne_bytes(size)).ok()?;
        let mut bytes = vec![0; size * 4];
        read_bytes(pid, word(pid, entry + self.members_at)?, &mut bytes).ok()?;
        let rank = |four: &[u8]| u32::try_from(i32::from_ne_bytes(four.try_into().ok()?)).ok();
        let members = bytes.chunks_exact(4).map(rank).collect::<Option<Vec<u32>>>()?;
        let is_world = handle == self.world;
        let name =
            if is_world { "world".into() } else { text(pid, entry + self.name_at, COMMUNICATOR_NAME_BYTES)? };
        let called = word(pid, entry + self.host_collectives_at)?;
        let mut hasher = DefaultHasher::new(); // the same in all processes of one version
        members.hash(&mut hasher);
        let communicator = Communicator { name, members };
        Some(Entry { is_world, communicator, members: hasher.finish(), called })
    }
}

fn word(pid: u32, address: u64) -> Option<u64> {
    let mut word = [0];
    read_words(pid, address, &mut word).ok().map(|()| word[0])
}

/// A text that ends with a zero byte. It may stand at the end of what the process maps.
pub(super) fn text(pid: u32, address: u64, longest: usize) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_up_to_their_end() {
        let text_here = c"MPI_Allreduce";
        let read = |longest| text(std::process::id(), text_here.as_ptr() as u64, longest);
        assert_eq!(read(48).as_deref(), Some("MPI_Allreduce"));
        assert_eq!(text(std::process::id(), 0, 48), None);
    }
}
