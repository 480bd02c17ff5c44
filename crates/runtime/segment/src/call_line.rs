//! The MPI call that each process of the node is in: two lines that only the process itself writes, and that
//! others read from outside to tell why a job hangs.
//!
//! A sequence lock of one writer: the version says whether the process is outside MPI, writes, or is in a
//! call, and grows with each step. A reader that finds the same version before and after has an untorn line;
//! the writer never waits and never looks at a reader.
//!
//! ```text
//! version & 3   0: outside MPI    2: in a call    1, 3: being written
//! line 0        version, name, communicator, peer and tag | sends, receives, pending, traffic marks
//! line 1        a wait of the engine's: since, block, first instance, members, me, root, ordinal | caller
//! ```
//!
//! The counters are written by one store each and only grow, except for `pending`; the version does not cover
//! them. The front end in C writes the first line by the same steps (`shims/src/process/call_line.h`).
//!
//! May use: the segment's words. Must never: wait, or make a writer look at what readers do.

use crate::layout::{CALL_STRIDE, CALLS_AT, MAX_PROCESSES};
use crate::sync::{Ordering, Words, fence};

/// Words of a process's two lines.
pub const CALL_WORDS: usize = CALL_STRIDE / 8;

const OUTSIDE: u64 = 0;
const INSIDE: u64 = 2;
/// The bits of a version that tell where its process is.
const PLACE: u64 = 3;
const BEING_WRITTEN: u64 = 1;

const VERSION: usize = 0;
const NAME: usize = 1;
const COMMUNICATOR: usize = 2;
const PEER_AND_TAG: usize = 3;
const SENDS: usize = 4;
const RECEIVES: usize = 5;
const PENDING: usize = 6;
const TRAFFIC_MARKS: usize = 7;
const SINCE: usize = 8;
const BLOCK: usize = 9;
const FIRST: usize = 10;
const MEMBERS: usize = 11;
const RANKS_AND_ME: usize = 12;
const ROOT: usize = 13;
/// With the root.
const NEEDS_ALL: u64 = 1 << 63;
const ORDINAL: usize = 14;
const CALLER: usize = 15;

// Traffic marks, as `shims/src/process/call_line.h` has them.
const UNCOUNTABLE: u64 = 1;
const UNPROVABLE: u64 = 2;
const SENDS_NO_MORE: u64 = 4;
const THREADED: u64 = 8;
const WAITS_FOR_ALL: u64 = 16;
const IS_ENDING: u64 = 32;

/// A wait of the engine's, in a collective on a communicator whose block lies in this segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineWait {
    /// When it began, in ticks of the process's clock.
    pub since: u64,
    /// Offset of the communicator's block. Never 0.
    pub block: u64,
    /// The first instance of the collective; None for a barrier, whose number stands in the block.
    pub first: Option<u64>,
    /// Address in the process of the places (`usize`) of the members on this node.
    pub members: u64,
    /// How many members those are.
    pub ranks: u32,
    /// The process's own number among them.
    pub me: u32,
    /// The root, by its number among them.
    pub root: Option<u32>,
    /// It needs all others, though the collective has a root: a step of a reduction of a long vector.
    pub needs_all: bool,
    /// Which of the communicator's blocking collectives this is, counted from 1; 0 if that is not known.
    pub ordinal: u64,
}

/// A call of MPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurrentCall {
    /// Address in the process of its name, which ends with a zero byte.
    pub name: u64,
    /// The handle of its communicator; 0 if it is not known.
    pub communicator: u64,
    /// The rank that it sends to or receives from, and the tag, as the program gave them.
    pub peer: i32,
    /// See `peer`.
    pub tag: i32,
    /// Set if the engine carries the call out, as a collective.
    pub wait: Option<EngineWait>,
}

/// What a reader finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sight {
    /// Two sights with the same version are of the same call, or of the same stretch outside MPI.
    pub version: u64,
    /// None: the process is outside MPI, or in a call that is not of interest.
    pub call: Option<CurrentCall>,
    /// Point-to-point messages that it has begun to send through the host library.
    pub sends: u64,
    /// Messages that it has received through it, and nonblocking receives that it has started.
    pub receives: u64,
    /// Nonblocking sends and receives of the host library's that are not complete.
    pub pending: u64,
    /// The three numbers above do not hold all that is under way.
    pub is_uncountable: bool,
    /// Something else than the ranks that it needs may end a wait of this process.
    pub is_unprovable: bool,
    /// It is in MPI_Finalize, which has called back all that the program has attached to communicators.
    pub sends_no_more: bool,
    /// It waits in MPI_Finalize for all ranks to come there, and calls back what the program has attached to
    /// communicators only then.
    pub waits_for_all: bool,
    /// Several threads of the process may be in MPI.
    pub is_threaded: bool,
    /// The number of the thread that is in the call, if there may be several.
    pub caller: u32,
}

/// What one look at a process's lines tells. Its words may be of two calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// See [`Sight::version`].
    pub version: u64,
    /// Address in the process of the name of the call that it is in. None: it is outside MPI.
    pub name: Option<u64>,
    /// See [`Sight::sends`].
    pub sends: u64,
    /// See [`Sight::receives`].
    pub receives: u64,
    /// See [`Sight::pending`].
    pub pending: u64,
}

impl Glance {
    /// How many calls the lines have told of.
    pub fn calls(&self) -> u64 {
        self.version.div_ceil(PLACE + 1)
    }
}

fn at(place: usize) -> usize {
    assert!(place < MAX_PROCESSES);
    CALLS_AT + place * CALL_STRIDE
}

/// Offset in the segment of the lines of the process at a place of the node.
///
/// # Panics
/// If `place` is [`MAX_PROCESSES`] or more.
pub fn offset(place: usize) -> usize {
    at(place)
}

/// The lines of one process, for the process itself.
pub struct CallLine<'a, M> {
    segment: &'a M,
    at: usize,
    /// Several threads may write. One that finds another one's call there leaves it.
    is_shared: bool,
}

impl<'a, M: Words> CallLine<'a, M> {
    /// The lines of the process at a place of this node.
    pub fn new(segment: &'a M, place: usize, is_shared: bool) -> Self {
        CallLine { segment, at: at(place), is_shared }
    }

    fn store(&self, word: usize, value: u64) {
        self.segment.word(self.at + word * 8).store(value, Ordering::Relaxed);
    }

    /// Says which call this process is in. Returns false if it has said so already, for a call around this
    /// one or in another thread; nothing has been done then, and [`CallLine::end`] must not follow.
    pub fn begin(&self, call: &CurrentCall) -> bool {
        let version = self.segment.word(self.at);
        let was = version.load(Ordering::Relaxed);
        if was & PLACE != OUTSIDE {
            return false;
        }
        if !self.is_shared {
            version.store(was + 1, Ordering::Relaxed);
        } else if version.compare_exchange(was, was + 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return false;
        }
        // Release: pairs with the acquiring loads of a reader, which finds the new version if it finds any
        // word that is written from here on.
        fence(Ordering::Release);
        let word = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
        if self.is_shared {
            self.store(CALLER, u64::from(thread_number()));
        }
        self.store(NAME, call.name);
        self.store(COMMUNICATOR, call.communicator);
        self.store(PEER_AND_TAG, word(call.peer, call.tag));
        let wait = call.wait.unwrap_or_default();
        self.store(BLOCK, wait.block);
        if call.wait.is_some() {
            self.store(SINCE, wait.since);
            self.store(FIRST, wait.first.map_or(0, |first| first + 1));
            self.store(MEMBERS, wait.members);
            self.store(RANKS_AND_ME, u64::from(wait.ranks) | u64::from(wait.me) << 32);
            let root = wait.root.map_or(0, |root| u64::from(root) + 1);
            self.store(ROOT, root | if wait.needs_all { NEEDS_ALL } else { 0 });
            self.store(ORDINAL, wait.ordinal);
        }
        version.store(was + 2, Ordering::Release); // pairs with the load of a reader
        true
    }

    /// This process is outside MPI again, or in a call that is not of interest.
    pub fn end(&self) {
        let version = self.segment.word(self.at);
        let was = version.load(Ordering::Relaxed);
        version.store(was + 1, Ordering::Relaxed);
        fence(Ordering::Release); // as in `begin`
        // The front end's calls know nothing of the engine's waits and leave that word as it is.
        self.store(BLOCK, 0);
        version.store(was + 2, Ordering::Release); // pairs with the load of a reader
    }
}

/// Reads the lines of the process at a place. `read(offset, words)` reads words of the segment, in order and
/// with acquire semantics. None if the process writes all the time, or if `read` fails.
pub fn look(place: usize, mut read: impl FnMut(usize, &mut [u64]) -> Option<()>) -> Option<Sight> {
    const TRIES: usize = 100;
    let at = at(place);
    let mut words = [0; CALL_WORDS];
    for _ in 0..TRIES {
        let (mut before, mut after) = ([0], [0]);
        read(at, &mut before)?;
        read(at, &mut words)?;
        read(at, &mut after)?;
        if before == after && words[VERSION] == before[0] && before[0] & BEING_WRITTEN == 0 {
            return Some(sight(&words));
        }
    }
    None
}

/// Reads the lines of the processes at the first `places` places, at one look: in a job that runs, each tells
/// what its process is in, but not for sure. `read` is as for [`look`].
pub fn glance(places: usize, read: impl FnOnce(usize, &mut [u64]) -> Option<()>) -> Option<Vec<Glance>> {
    assert!(places <= MAX_PROCESSES);
    let mut words = vec![0; places * CALL_WORDS];
    read(CALLS_AT, &mut words)?;
    let one = |words: &[u64]| Glance {
        version: words[VERSION],
        name: (words[VERSION] & PLACE == INSIDE).then_some(words[NAME]),
        sends: words[SENDS],
        receives: words[RECEIVES],
        pending: words[PENDING],
    };
    Some(words.chunks_exact(CALL_WORDS).map(one).collect())
}

/// Whether the process at a place is in MPI_Finalize, in what the front end itself does there with the other
/// ranks.
pub fn is_finalizing(segment: &impl Words, place: usize) -> bool {
    segment.word(at(place) + TRAFFIC_MARKS * 8).load(Ordering::Relaxed) & IS_ENDING != 0
}

/// The kernel's number of this thread.
pub fn thread_number() -> u32 {
    thread_local! {
        // SAFETY: it takes nothing and only returns a number.
        static NUMBER: u32 = unsafe { libc::gettid() } as u32;
    }
    NUMBER.with(|number| *number)
}

fn sight(words: &[u64; CALL_WORDS]) -> Sight {
    let halves = |word: u64| (word as u32, (word >> 32) as u32);
    let (peer, tag) = halves(words[PEER_AND_TAG]);
    let (ranks, me) = halves(words[RANKS_AND_ME]);
    let wait = EngineWait {
        since: words[SINCE],
        block: words[BLOCK],
        first: words[FIRST].checked_sub(1),
        members: words[MEMBERS],
        ranks,
        me,
        root: (words[ROOT] & !NEEDS_ALL).checked_sub(1).map(|root| root as u32),
        needs_all: words[ROOT] & NEEDS_ALL != 0,
        ordinal: words[ORDINAL],
    };
    let call = CurrentCall {
        name: words[NAME],
        communicator: words[COMMUNICATOR],
        peer: peer as i32,
        tag: tag as i32,
        wait: (wait.block != 0).then_some(wait),
    };
    Sight {
        version: words[VERSION],
        call: (words[VERSION] & PLACE == INSIDE).then_some(call),
        sends: words[SENDS],
        receives: words[RECEIVES],
        pending: words[PENDING],
        is_uncountable: words[TRAFFIC_MARKS] & UNCOUNTABLE != 0,
        is_unprovable: words[TRAFFIC_MARKS] & UNPROVABLE != 0,
        sends_no_more: words[TRAFFIC_MARKS] & SENDS_NO_MORE != 0,
        is_threaded: words[TRAFFIC_MARKS] & THREADED != 0,
        waits_for_all: words[TRAFFIC_MARKS] & WAITS_FOR_ALL != 0,
        caller: words[CALLER] as u32,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Segment;

    fn reader(segment: &Segment) -> impl FnMut(usize, &mut [u64]) -> Option<()> {
        |offset, words| {
            for (i, word) in words.iter_mut().enumerate() {
                *word = segment.word(offset + 8 * i).load(Ordering::Acquire);
            }
            Some(())
        }
    }

    #[test]
    fn what_is_written_is_read_and_ends() {
        let segment = Segment::create(1 << 20, 1).unwrap();
        let line = CallLine::new(&segment, 3, false);
        let wait = EngineWait {
            since: 9,
            block: 4096,
            first: Some(0),
            members: 5,
            ranks: 4,
            me: 3,
            root: Some(0),
            needs_all: true,
            ordinal: 7,
        };
        let calls = [
            CurrentCall { name: 1, communicator: 2, peer: -1, tag: -2, wait: None },
            CurrentCall { name: 1, communicator: 0, peer: 0, tag: 0, wait: Some(wait) },
            CurrentCall { name: 8, communicator: 2, peer: 6, tag: i32::MAX, wait: None },
        ];
        let mut last = look(3, reader(&segment)).unwrap();
        assert_eq!(last.call, None);
        for call in calls {
            assert!(line.begin(&call));
            let sight = look(3, reader(&segment)).unwrap();
            assert_eq!(sight.call, Some(call));
            assert!(sight.version > last.version && !line.begin(&call), "a call within a call");
            line.end();
            last = look(3, reader(&segment)).unwrap();
            assert_eq!(last.call, None);
        }
        assert_eq!(look(2, reader(&segment)).unwrap().version, 0, "another process's line");
    }

    #[test]
    fn a_glance_tells_who_is_inside_and_how_many_calls_there_were() {
        let segment = Segment::create(1 << 20, 1).unwrap();
        let line = CallLine::new(&segment, 1, false);
        let call = |name| CurrentCall { name, ..CurrentCall::default() };
        assert!(line.begin(&call(5)));
        line.end();
        assert!(line.begin(&call(6)));
        let seen = glance(3, reader(&segment)).unwrap();
        assert_eq!(seen.iter().map(|it| it.name).collect::<Vec<_>>(), [None, Some(6), None]);
        assert_eq!(seen.iter().map(Glance::calls).collect::<Vec<_>>(), [0, 2, 0]);
        line.end();
        let seen = glance(3, reader(&segment)).unwrap();
        assert_eq!((seen[1].name, seen[1].calls()), (None, 2));
    }

    #[test]
    fn a_reader_gives_up_on_a_line_that_is_never_finished() {
        let segment = Segment::create(1 << 20, 1).unwrap();
        segment.word(offset(0)).store(1, Ordering::Relaxed);
        assert_eq!(look(0, reader(&segment)), None);
    }
}
