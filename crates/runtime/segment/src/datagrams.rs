//! What the node's agent tells the ranks of the socket for datagrams between nodes, and how ranks share it.
//!
//! The agent opens the socket, gives it to the ranks, tells where the other nodes are reached, and has
//! nothing to do with it any more. Ranks send whenever they have something to send. One of the threads that
//! wait is the *reader*: it looks for what has come, and leaves what is meant for other ranks with the
//! [unclaimed](crate::unclaimed) datagrams. There may be none, or, for a moment, several: what comes is taken
//! whole, and may be written by several.
//!
//! A reader that has nothing to do sleeps at the socket. It gives way to a thread that is awake, and stays
//! there: what comes wakes it. Who then takes something for a thread that sleeps at the socket has to wake
//! it.
//!
//! May use: the segment's words. Must never: wait.

use crate::layout::{DATAGRAMS_AT, DATAGRAMS_BYTES, LINE};
use crate::statements::MAX_NODES;
use crate::sync::{AtomicU64, Ordering, Words, fence};
use crate::waiters::{Kind, Kinds};

const STATE: usize = DATAGRAMS_AT;
const SENT: usize = DATAGRAMS_AT + LINE;
const READER: usize = DATAGRAMS_AT + 2 * LINE;
const WAITING: usize = DATAGRAMS_AT + 3 * LINE;
/// How many sleep at the socket, and how many for each kind.
const AT_SOCKET: usize = DATAGRAMS_AT + 4 * LINE;
const AT_SOCKET_AS: usize = DATAGRAMS_AT + 5 * LINE;
/// For which kinds a datagram is to be left in the socket, and until when.
const NUDGED: usize = AT_SOCKET + 8;
const ADDRESSES: usize = AT_SOCKET_AS + Kind::COUNT * 8;
const ADDRESS_WORDS: usize = 3;
const _: () = assert!(ADDRESSES + MAX_NODES * ADDRESS_WORDS * 8 <= DATAGRAMS_AT + DATAGRAMS_BYTES);

/// Set in the word of the reader while it sleeps.
const ASLEEP: u64 = 1 << 63;

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

/// A thread of a process of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread(u64);

impl Thread {
    /// The thread with this number of the kernel's, or any other number that is its own in the process.
    pub fn new(local_rank: usize, number: u32) -> Thread {
        Thread((local_rank as u64 + 1) << 32 | u64::from(number))
    }
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

    /// Becomes the reader, if there is none. True if this thread is the reader.
    pub fn try_read(&self, me: Thread) -> bool {
        let word = self.word(READER);
        // Acquire, here and below: pairs with the exchange by which another thread has stopped reading, which
        // has written down what it has read.
        match word.load(Ordering::Acquire) {
            0 => word.compare_exchange(0, me.0, Ordering::AcqRel, Ordering::Relaxed).is_ok(),
            reader => reader == me.0,
        }
    }

    /// The same for a thread that is awake: a reader that sleeps gives way.
    pub fn try_read_awake(&self, me: Thread) -> bool {
        let word = self.word(READER);
        let reader = word.load(Ordering::Acquire);
        reader & ASLEEP != 0
            && word.compare_exchange(reader, me.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            || self.try_read(me)
    }

    /// Becomes the reader although there is one, which does not read: it has been stopped, as it seems.
    pub fn seize(&self, me: Thread) {
        self.word(READER).store(me.0, Ordering::Release);
    }

    /// The reader is about to sleep at the socket, if it still is the reader. It must look once more whether
    /// it has what it waits for, sleep if not, and call [`Datagrams::wake_up`] in either case.
    pub fn fall_asleep(&self, me: Thread, kind: Kind) -> bool {
        self.word(AT_SOCKET).fetch_add(1, Ordering::Relaxed);
        self.word(AT_SOCKET_AS + kind.number() * 8).fetch_add(1, Ordering::Relaxed);
        let asleep = me.0 | ASLEEP;
        let word = self.word(READER);
        let is_reader = word.compare_exchange(me.0, asleep, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        fence(Ordering::SeqCst); // pairs with the one in `sleep_at_socket`
        is_reader
    }

    /// Ends what [`Datagrams::fall_asleep`] has begun.
    pub fn wake_up(&self, me: Thread, kind: Kind) {
        let _ = self.word(READER).compare_exchange(me.0 | ASLEEP, me.0, Ordering::AcqRel, Ordering::Relaxed);
        self.word(AT_SOCKET_AS + kind.number() * 8).fetch_sub(1, Ordering::Relaxed);
        self.word(AT_SOCKET).fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a thread sleeps at the socket, which what comes wakes.
    pub fn any_at_socket(&self) -> bool {
        self.word(AT_SOCKET).load(Ordering::Relaxed) > 0
    }

    /// Whether a thread sleeps at the socket that waits for one of these kinds. To be asked after having
    /// written down what has been taken there: such a thread has to be woken.
    pub fn sleep_at_socket(&self, kinds: Kinds) -> bool {
        fence(Ordering::SeqCst); // pairs with the one in `fall_asleep`
        self.any_at_socket()
            && kinds
                .iter()
                .any(|kind| self.word(AT_SOCKET_AS + kind.number() * 8).load(Ordering::Relaxed) > 0)
    }

    /// A datagram has been sent to this node that is to wake those that sleep at the socket and wait for one
    /// of these kinds. It is to be left there until then, in microseconds of a clock of the whole node.
    pub fn set_nudged(&self, kinds: Kinds, until_us: u64) {
        self.word(NUDGED)
            .store(u64::from(kinds.bits()) << 32 | u64::from(until_us as u32), Ordering::Relaxed);
    }

    /// Whether such a datagram is to be left in the socket. `now_us` is asked for if there is one.
    pub fn is_nudged(&self, now_us: impl FnOnce() -> u64) -> bool {
        let word = self.word(NUDGED).load(Ordering::Relaxed);
        if word == 0 {
            return false;
        }
        let is_early = (word as u32).wrapping_sub(now_us() as u32) as i32 > 0;
        let is_nudged = is_early && self.sleep_at_socket(Kinds::from_bits((word >> 32) as u32));
        if !is_nudged {
            let _ = self.word(NUDGED).compare_exchange(word, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        is_nudged
    }

    /// Stops reading, if this thread is the reader.
    pub fn stop_reading(&self, me: Thread) {
        let _ = self.word(READER).compare_exchange(me.0, 0, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// This thread waits for something that may come. It must try to become the reader afterwards.
    pub fn begin_waiting(&self) {
        self.word(WAITING).fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the one in `end_waiting`
    }

    /// This thread waits no more. It has not been the reader, nor been woken.
    pub fn end_waiting_awake(&self) {
        self.word(WAITING).fetch_sub(1, Ordering::Relaxed);
    }

    /// This thread waits no more, and reads no more. True if no thread reads or sleeps at the socket, and
    /// others wait for something that may come: one of them has to be woken. Not only the reader has to ask,
    /// but also a thread that may have been woken to read.
    pub fn end_waiting(&self, me: Thread) -> bool {
        self.word(WAITING).fetch_sub(1, Ordering::Relaxed);
        self.stop_reading(me);
        // Pairs with the one in `begin_waiting`: a thread that begins to wait sees that there is no reader,
        // or this one sees that it waits.
        fence(Ordering::SeqCst);
        self.word(READER).load(Ordering::Relaxed) == 0
            && !self.any_at_socket()
            && self.word(WAITING).load(Ordering::Relaxed) > 0
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
    fn one_thread_reads_and_hands_on() {
        let segment = Segment::create(2 << 20, 1).unwrap();
        let datagrams = Datagrams::new(&segment);
        let [a, b, c] = [(0, 7), (0, 8), (1, 7)].map(|(rank, number)| Thread::new(rank, number));
        (0..3).for_each(|_| datagrams.begin_waiting());
        assert!(datagrams.try_read(a) && datagrams.try_read(a));
        assert!(!datagrams.try_read(b) && !datagrams.try_read(c) && !datagrams.try_read_awake(c));
        assert!(!datagrams.end_waiting(b), "another thread reads");
        assert!(datagrams.end_waiting(a), "the last one waits");
        assert!(datagrams.try_read(c) && !datagrams.end_waiting(c), "no other one waits");
    }

    #[test]
    fn a_reader_that_sleeps_gives_way_and_is_known_to_be_there() {
        let segment = Segment::create(2 << 20, 1).unwrap();
        let datagrams = Datagrams::new(&segment);
        let [a, b] = [0, 1].map(|rank| Thread::new(rank, 7));
        let [mine, other] = [3, 4].map(Kind::from_number);
        (0..3).for_each(|_| datagrams.begin_waiting());
        assert!(datagrams.try_read(a) && datagrams.fall_asleep(a, mine));
        assert!(!datagrams.try_read(b) && datagrams.try_read_awake(b));
        assert!(datagrams.sleep_at_socket(mine.into()) && !datagrams.sleep_at_socket(other.into()));
        assert!(!datagrams.end_waiting(b), "what comes wakes the thread at the socket");
        datagrams.set_nudged(mine.into(), u64::from(u32::MAX) + 3);
        assert!(datagrams.is_nudged(|| u64::from(u32::MAX)));
        assert!(!datagrams.is_nudged(|| u64::from(u32::MAX) + 3), "it is too late");
        datagrams.set_nudged(mine.into(), 5);
        datagrams.wake_up(a, mine);
        assert!(!datagrams.is_nudged(|| 1), "it has woken up");
        assert!(!datagrams.is_nudged(|| panic!("there is none")));
        assert!(!datagrams.any_at_socket() && datagrams.try_read(a));
        assert!(datagrams.fall_asleep(a, mine));
        datagrams.wake_up(a, mine);
        assert!(datagrams.try_read(a) && !datagrams.try_read_awake(b));
        assert!(datagrams.try_read(a) && datagrams.end_waiting(a));
        assert!(datagrams.try_read(b) && !datagrams.fall_asleep(a, mine), "it is not the reader any more");
        datagrams.wake_up(a, mine);
        assert!(datagrams.try_read(b));
    }
}
