//! Where things lie in a segment: the pages in front of the first block, and the head of every block.
//!
//! ```text
//! page 0        magic, token, layout, ranks | next fresh page | generations | free lists | agent's words,
//!               end announced
//! pages 1 ...   one line a process: its state, its latest relay, who it is
//! pages 65 ...  two lines a process: the MPI call that it is in
//! page 193      the socket for datagrams between nodes: who has it, and where the nodes are; ranks that wait
//!               for other nodes
//! FIRST_BLOCK   blocks, one after another; each starts with a head:
//!   line 0        references, generation, next free block, companion, revoked, flags, advice, statements
//!   line 1        eventcount: the word that sleepers wait on
//!   line 2        how many sleep
//!   line 3        how many sleep until there is room; how many members have a backlog
//!   lines 4 ...   blocks of duplicates
//! end           pipelines of processes, channels between them
//! ```
//!
//! Processes of different builds must not share a segment. A change to anything here, or to a geometry, must
//! therefore come with a new [`LAYOUT`] number.

/// The number of this layout, and of what else the processes of a node take for granted of each other.
pub const LAYOUT: &str = concat!(env!("CARGO_PKG_VERSION"), " layout 17");

/// Bytes of a cache line; words that two ranks write lie on different ones.
pub const LINE: usize = 64;
/// Bytes of a page; blocks start and end on pages.
pub const PAGE: usize = 4096;

/// Processes of one node that can take part in a job, agents included.
pub const MAX_PROCESSES: usize = 4096;

// ---- page 0 of the segment; its first three words are `memory`'s ----

pub(crate) const MAGIC_AT: usize = 0;
pub(crate) const TOKEN_AT: usize = 8;
pub(crate) const LAYOUT_AT: usize = 16;
pub(crate) const RANKS_AT: usize = 24;
pub(crate) const FRESH_PAGE_AT: usize = LINE;
pub(crate) const GENERATIONS_AT: usize = 2 * LINE;
pub(crate) const FREE_LISTS_AT: usize = 4 * LINE;
/// Free lists: one for each power-of-two size of a block.
pub(crate) const SIZE_CLASSES: usize = 24;
pub(crate) const AGENT_ASLEEP_AT: usize = FREE_LISTS_AT + SIZE_CLASSES * LINE;
pub(crate) const LOST_NODE_AT: usize = AGENT_ASLEEP_AT + LINE;
pub(crate) const DEAD_RANK_AT: usize = AGENT_ASLEEP_AT + 2 * LINE;
pub(crate) const END_ANNOUNCED_AT: usize = AGENT_ASLEEP_AT + 3 * LINE;
pub(crate) const FIRST_CONTACT_AT: usize = AGENT_ASLEEP_AT + 4 * LINE;
const _: () = assert!(FIRST_CONTACT_AT + LINE <= PAGE);

// ---- the pages behind it ----

pub(crate) const PROCESSES_AT: usize = PAGE;
/// Offset in a process's line of the place of its latest relay.
pub(crate) const RELAYS_AT: usize = 8;
/// Offsets in a process's line of what it tells about itself: see [`crate::identity`].
pub(crate) const IDENTITY_AT: usize = 16;
pub(crate) const IDENTITY_WORDS: usize = 5;
/// The calls that processes are in: see [`crate::call_line`].
pub(crate) const CALLS_AT: usize = PROCESSES_AT + MAX_PROCESSES * LINE;
/// Bytes between the calls of two processes.
pub(crate) const CALL_STRIDE: usize = 2 * LINE;
/// The socket for datagrams between nodes: see [`crate::datagrams`].
pub const DATAGRAMS_AT: usize = CALLS_AT + MAX_PROCESSES * CALL_STRIDE;
pub(crate) const DATAGRAMS_BYTES: usize = PAGE - EVENTCOUNT_BYTES;
/// The eventcount of ranks that wait for other nodes: see [`crate::waiters`].
pub(crate) const WAITERS_AT: usize = DATAGRAMS_AT + DATAGRAMS_BYTES;
/// The page at which the first block starts.
pub(crate) const FIRST_BLOCK_PAGE: usize = DATAGRAMS_AT / PAGE + 1;

/// [`LAYOUT`] as a number, never 0 (FNV-1a).
pub const fn layout_number() -> u64 {
    let (text, mut hash, mut i) = (LAYOUT.as_bytes(), 0xcbf2_9ce4_8422_2325u64, 0);
    while i < text.len() {
        hash = (hash ^ text[i] as u64).wrapping_mul(0x100_0000_01b3);
        i += 1;
    }
    hash | 1
}

// ---- the head of a block ----

pub(crate) const REFERENCES_AT: usize = 0;
pub(crate) const GENERATION_AT: usize = 8;
pub(crate) const NEXT_FREE_AT: usize = 16;
pub(crate) const COMPANION_AT: usize = 24;
pub(crate) const REVOKED_AT: usize = 32;
pub(crate) const FLAGS_AT: usize = 40;
pub(crate) const ADVICE_AT: usize = 48;
pub(crate) const STATEMENTS_AT: usize = 56;
pub(crate) const EVENTCOUNT_AT: usize = LINE;
pub(crate) const SLEEPERS_AT: usize = 2 * LINE;
pub(crate) const ROOM_WANTED_AT: usize = 3 * LINE;
pub(crate) const BACKLOGS_AT: usize = ROOM_WANTED_AT + 8;
pub(crate) const DUPLICATES_AT: usize = 4 * LINE;
/// Duplicates of a communicator whose blocks can be looked up at one time; each takes two words.
pub(crate) const DUPLICATES: usize = 64;
/// Bytes of a block's head.
pub const HEAD_BYTES: usize = (DUPLICATES_AT + DUPLICATES * 16).next_multiple_of(LINE);
/// Bytes of an eventcount with what belongs to it, where it stands alone: laid out as the head of a block.
pub(crate) const EVENTCOUNT_BYTES: usize = DUPLICATES_AT;
