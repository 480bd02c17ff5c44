//! What the node's agent tells the ranks of the socket for datagrams between nodes, and how ranks share it.
//!
//! The agent opens the socket, gives it to the ranks, tells where the other nodes are reached, and has
//! nothing to do with it any more. Ranks send whenever they have something to send. One of those that wait is
//! the *reader*: it looks for what has come, and sleeps for it. There may be none, or, for a moment, several:
//! what comes is taken whole, and may be written by several. It leaves what is meant for others with the
//! [unclaimed](crate::unclaimed) datagrams.
//!
//! May use: the segment's words. Must never: wait.

use crate::layout::{DATAGRAMS_AT, DATAGRAMS_BYTES, LINE};
use crate::statements::MAX_NODES;
use crate::sync::{AtomicU64, Ordering, Words, fence};

const STATE: usize = DATAGRAMS_AT;
const SENT: usize = DATAGRAMS_AT + LINE;
const READER: usize = DATAGRAMS_AT + 2 * LINE;
const WAITING: usize = DATAGRAMS_AT + 3 * LINE;
const ADDRESSES: usize = DATAGRAMS_AT + 4 * LINE;
const ADDRESS_WORDS: usize = 3;
const _: () = assert!(4 * LINE + MAX_NODES * ADDRESS_WORDS * 8 <= DATAGRAMS_BYTES);

/// The states of the first word. The words behind it are the name under which the agent gives the socket, and
/// where unclaimed datagrams are left.
const NONE: u64 = 1;
const OPEN: u64 = 2;

/// Whether there is a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketState {
    /// The agent has not said.
    Unknown,
    /// There is none.
    None,
    /// There is one.
    Open(SocketPlace),
}

/// What the agent tells of the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketPlace {
    /// The name under which it gives it.
    pub name: [u64; 2],
    /// Offset in the segment of the block of [unclaimed](crate::unclaimed) datagrams.
    pub unclaimed: u64,
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

    /// The agent tells of its socket, and where each node of the job is reached, in three words each.
    ///
    /// # Panics
    /// If there are more than [`MAX_NODES`].
    pub fn open(&self, place: SocketPlace, addresses: &[[u64; 3]]) {
        assert!(addresses.len() <= MAX_NODES);
        for (at, word) in addresses.iter().flatten().enumerate() {
            self.word(ADDRESSES + at * 8).store(*word, Ordering::Relaxed);
        }
        let SocketPlace { name, unclaimed } = place;
        for (at, word) in [name[0], name[1], unclaimed].into_iter().enumerate() {
            self.word(STATE + 8 + at * 8).store(word, Ordering::Relaxed);
        }
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
            _ => {
                let [a, b, unclaimed] = [8, 16, 24].map(|at| self.word(STATE + at).load(Ordering::Relaxed));
                SocketState::Open(SocketPlace { name: [a, b], unclaimed })
            }
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

    /// This rank waits for something that may come. It must try to become the reader afterwards.
    pub fn begin_waiting(&self) {
        self.word(WAITING).fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the one in `end_waiting`
    }

    /// This rank waits no more; if it is the given reader, it reads no more. True if no rank reads and others
    /// wait for something that may come: one of them has to be woken. It may be that this rank was the one
    /// that had been woken to read.
    pub fn end_waiting(&self, reader: Option<usize>) -> bool {
        self.word(WAITING).fetch_sub(1, Ordering::Relaxed);
        let word = self.word(READER);
        if let Some(me) = reader.map(|local_rank| local_rank as u64 + 1) {
            let _ = word.compare_exchange(me, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        if word.load(Ordering::Relaxed) != 0 {
            return false;
        }
        // Pairs with the one in `begin_waiting`: a rank that begins to wait sees that there is no reader, or
        // this rank sees that it waits.
        fence(Ordering::SeqCst);
        self.word(WAITING).load(Ordering::Relaxed) > 0
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
        let place = SocketPlace { name: [3, u64::MAX], unclaimed: 1 << 40 };
        datagrams.open(place, &addresses);
        assert_eq!(datagrams.state(), SocketState::Open(place));
        assert!((0..MAX_NODES).all(|node| datagrams.address(node) == addresses[node]));
        assert_eq!((datagrams.next_number(), datagrams.next_number()), (0, 1));
    }

    #[test]
    fn one_rank_reads_and_hands_on() {
        let segment = Segment::create(2 << 20, 1).unwrap();
        let datagrams = Datagrams::new(&segment);
        datagrams.begin_waiting();
        assert!(datagrams.try_read(0) && datagrams.try_read(0) && !datagrams.try_read(1));
        datagrams.begin_waiting();
        assert!(!datagrams.end_waiting(Some(1)), "rank 0 reads");
        datagrams.begin_waiting();
        assert!(datagrams.end_waiting(Some(0)), "rank 1 waits");
        datagrams.begin_waiting();
        assert!(datagrams.end_waiting(Some(1)), "rank 1 was woken to read, and goes");
        datagrams.begin_waiting();
        assert!(datagrams.try_read(0) && !datagrams.end_waiting(None), "rank 0 still reads");
        assert!(!datagrams.end_waiting(Some(0)), "no rank waits");
    }
}
