//! What the node's agent tells the ranks of the socket for datagrams between nodes, and how ranks share it.
//!
//! The agent opens the socket, gives it to the ranks, tells where the other nodes are reached, and has
//! nothing to do with it any more. Ranks send whenever they have something to send. One of those that wait is
//! the *reader*: it looks for what has come, and sleeps for it. There may be none, or, for a moment, several:
//! what comes is taken whole, and may be written by several.
//!
//! May use: the segment's words. Must never: wait.

use crate::layout::{DATAGRAMS_AT, LINE};
use crate::statements::MAX_NODES;
use crate::sync::{AtomicU64, Ordering, Words, fence};

const STATE: usize = DATAGRAMS_AT;
const SENT: usize = DATAGRAMS_AT + LINE;
const READER: usize = DATAGRAMS_AT + 2 * LINE;
const WAITING: usize = DATAGRAMS_AT + 3 * LINE;
const ADDRESSES: usize = DATAGRAMS_AT + 4 * LINE;
const ADDRESS_WORDS: usize = 3;
const _: () = assert!(4 * LINE + MAX_NODES * ADDRESS_WORDS * 8 <= crate::layout::PAGE);

/// The states of the first word; two words behind it are the name under which the agent gives the socket.
const NONE: u64 = 1;
const OPEN: u64 = 2;

/// Whether there is a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketState {
    /// The agent has not said.
    Unknown,
    /// There is none.
    None,
    /// The agent gives it under this name.
    Open([u64; 2]),
}

/// The words about the socket for datagrams.
pub struct Datagrams<'a, M> {
    segment: &'a M,
}

impl<'a, M: Words> Datagrams<'a, M> {
    /// Those of the node that shares this segment.
    pub fn new(segment: &'a M) -> Self {
        Datagrams { segment }
    }

    fn word(&self, at: usize) -> &'a AtomicU64 {
        self.segment.word(at)
    }

    /// The agent tells under which name it gives its socket, and where each node of the job is reached, in
    /// three words each.
    ///
    /// # Panics
    /// If there are more than [`MAX_NODES`].
    pub fn open(&self, name: [u64; 2], addresses: &[[u64; 3]]) {
        assert!(addresses.len() <= MAX_NODES);
        for (at, word) in addresses.iter().flatten().enumerate() {
            self.word(ADDRESSES + at * 8).store(*word, Ordering::Relaxed);
        }
        self.word(STATE + 8).store(name[0], Ordering::Relaxed);
        self.word(STATE + 16).store(name[1], Ordering::Relaxed);
        // Release: pairs with the load in `state`.
        self.word(STATE).store(OPEN, Ordering::Release);
    }

    /// The agent says that there is none.
    pub fn open_none(&self) {
        self.word(STATE).store(NONE, Ordering::Release);
    }

    /// Whether there is one.
    pub fn state(&self) -> SocketState {
        // Acquire: pairs with the store in `open`.
        match self.word(STATE).load(Ordering::Acquire) {
            0 => SocketState::Unknown,
            NONE => SocketState::None,
            _ => SocketState::Open([8, 16].map(|at| self.word(STATE + at).load(Ordering::Relaxed))),
        }
    }

    /// Where a node is reached. There must be a socket.
    pub fn address(&self, node: usize) -> [u64; 3] {
        [0, 1, 2].map(|word| self.word(ADDRESSES + (node * ADDRESS_WORDS + word) * 8).load(Ordering::Relaxed))
    }

    /// A number for a datagram, which no other datagram of this node has.
    pub fn next_number(&self) -> u64 {
        self.word(SENT).fetch_add(1, Ordering::Relaxed)
    }

    // ---- whose turn it is to read ----

    /// Becomes the reader, if there is none. True if this rank is the reader.
    pub fn try_read(&self, local_rank: usize) -> bool {
        let (word, me) = (self.word(READER), local_rank as u64 + 1);
        // Relaxed, here and below: what readers hand over is in words of its own.
        match word.load(Ordering::Relaxed) {
            0 => word.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed).is_ok(),
            reader => reader == me,
        }
    }

    /// Is the reader no more. True if others wait for something that may come: one of them has to be woken.
    pub fn stop_reading(&self, local_rank: usize) -> bool {
        let me = local_rank as u64 + 1;
        if self.word(READER).compare_exchange(me, 0, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return false;
        }
        // Pairs with the one in `begin_waiting`: a rank that begins to wait sees that there is no reader, or
        // this rank sees that it waits.
        fence(Ordering::SeqCst);
        self.word(WAITING).load(Ordering::Relaxed) > 0
    }

    /// This rank waits for something that may come. It must try to become the reader afterwards.
    pub fn begin_waiting(&self) {
        self.word(WAITING).fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the one in `stop_reading`
    }

    /// This rank waits no more.
    pub fn end_waiting(&self) {
        self.word(WAITING).fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Segment;

    #[test]
    fn the_socket_is_where_the_agent_has_said() {
        let segment = Segment::create(2 << 20, 1).unwrap();
        let datagrams = Datagrams::new(&segment);
        assert_eq!(datagrams.state(), SocketState::Unknown);
        datagrams.open_none();
        assert_eq!(datagrams.state(), SocketState::None);
        let addresses: Vec<[u64; 3]> = (0..MAX_NODES as u64).map(|node| [node, !node, node << 40]).collect();
        datagrams.open([3, u64::MAX], &addresses);
        assert_eq!(datagrams.state(), SocketState::Open([3, u64::MAX]));
        assert!((0..MAX_NODES).all(|node| datagrams.address(node) == addresses[node]));
        assert_eq!((datagrams.next_number(), datagrams.next_number()), (0, 1));
    }

    #[test]
    fn one_rank_reads_and_hands_on() {
        let segment = Segment::create(2 << 20, 1).unwrap();
        let datagrams = Datagrams::new(&segment);
        assert!(datagrams.try_read(0) && datagrams.try_read(0) && !datagrams.try_read(1));
        assert!(!datagrams.stop_reading(1), "it is not the reader");
        datagrams.begin_waiting();
        assert!(datagrams.stop_reading(0), "rank 1 waits");
        assert!(datagrams.try_read(1));
        datagrams.end_waiting();
        assert!(!datagrams.stop_reading(1));
    }
}
