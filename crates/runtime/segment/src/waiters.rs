//! Ranks of this node that sleep until other nodes say something, at an eventcount of their own. They may
//! wait in different communicators: each sleeps for its communicator's *kind*, one of 32, and only those of a
//! kind are woken when something has come for it.
//!
//! May use: eventcounts. Must never: lose a wake-up.

use crate::eventcount::{self, Fencing, Futex};
use crate::layout::WAITERS_AT;
#[cfg(not(loom))]
use crate::memory::{Mapped, Segment};
use crate::sync::{Ordering, Words, fence};

/// The kind of a communicator: one of a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(u32);

impl Kind {
    /// How many there are.
    pub const COUNT: usize = 32;

    /// The kind of the communicator that the job knows by this name.
    pub fn of(communicator: u64) -> Kind {
        // Fibonacci hashing: the upper bits of the product depend on all bits.
        Kind((communicator.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as u32)
    }

    /// Its number.
    pub fn number(self) -> usize {
        self.0 as usize
    }

    /// The kind with this number, which counts around [`Kind::COUNT`].
    pub fn from_number(number: u32) -> Kind {
        Kind(number % Kind::COUNT as u32)
    }
}

/// Some of the kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u32);

impl Kinds {
    /// None.
    pub const NONE: Kinds = Kinds(0);
    /// All of them.
    pub const ALL: Kinds = Kinds(u32::MAX);

    /// One more.
    #[must_use]
    pub fn and(self, kind: Kind) -> Kinds {
        Kinds(self.0 | 1 << kind.0)
    }

    /// A bit for each.
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn from_bits(bits: u32) -> Kinds {
        Kinds(bits)
    }

    /// Whether there is none.
    pub fn are_none(self) -> bool {
        self.0 == 0
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        (0..Kind::COUNT as u32).filter(move |number| self.0 >> number & 1 != 0).map(Kind)
    }
}

impl From<Kind> for Kinds {
    fn from(kind: Kind) -> Kinds {
        Kinds::NONE.and(kind)
    }
}

/// The ranks of a node that wait for other nodes.
pub struct Waiters<M> {
    memory: M,
}

#[cfg(not(loom))]
impl Waiters<Mapped> {
    /// Those of the node that shares this segment.
    pub fn of(segment: &Segment) -> Waiters<Mapped> {
        Waiters { memory: segment.at(WAITERS_AT) }
    }
}

impl<M: Words + Futex> Waiters<M> {
    /// Wakes all that sleep for one of these kinds. To be called after publishing what has come.
    pub fn wake(&self, kinds: Kinds) {
        self.wake_some(i32::MAX as u32, kinds);
    }

    /// Wakes one of those that sleep, of whatever kind.
    pub fn wake_one(&self) {
        self.wake_some(1, Kinds::ALL);
    }

    fn wake_some(&self, most: u32, kinds: Kinds) {
        fence(Ordering::SeqCst); // pairs with the fence in `sleep_unless`
        if eventcount::has_sleepers(&self.memory) {
            eventcount::wake_some_sleepers(&self.memory, most, kinds.0);
        }
    }

    /// Sleeps until this kind is woken, at most `timeout_ns`, unless `happened` holds already.
    pub fn sleep_unless(&self, kind: Kind, timeout_ns: u64, happened: impl FnMut() -> bool) {
        eventcount::sleep_as(&self.memory, Fencing::Both, Kinds::from(kind).0, timeout_ns, happened);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::call_line::thread_number;
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::AtomicU64 as Counter;
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_secs(120);

    /// Waits until threads that have told their numbers sleep.
    fn wait_until_asleep(threads: &[AtomicU32]) {
        let sleeps = |thread: &AtomicU32| {
            let file = format!("/proc/self/task/{}/stat", thread.load(Ordering::SeqCst));
            std::fs::read_to_string(file).is_ok_and(|stat| stat.contains(") S "))
        };
        while !threads.iter().all(sleeps) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn those_are_woken_that_wait_for_what_has_come() {
        let segment = Segment::create(2 << 20, 1).unwrap();
        let waiters = || Waiters::of(&segment);
        let (one, other) = (Kind::of(1), Kind::of(2));
        assert_ne!(one, other);
        let woken = [Counter::new(0), Counter::new(0)];
        let threads = [AtomicU32::new(0), AtomicU32::new(0)];
        std::thread::scope(|scope| {
            for (kind, count, thread) in [(one, &woken[0], &threads[0]), (other, &woken[1], &threads[1])] {
                scope.spawn(move || {
                    thread.store(thread_number(), Ordering::SeqCst);
                    waiters().sleep_unless(kind, LONG.as_nanos() as u64, || false);
                    count.store(1, Ordering::SeqCst);
                });
            }
            // One that is only about to sleep goes on when anything has come.
            wait_until_asleep(&threads);
            let is_woken = |which: usize, kinds: Kinds| {
                let until = Instant::now() + LONG / 2;
                while woken[which].load(Ordering::SeqCst) == 0 && Instant::now() < until {
                    waiters().wake(kinds);
                    std::thread::sleep(Duration::from_millis(1));
                }
                woken[which].load(Ordering::SeqCst) == 1
            };
            assert!(is_woken(0, one.into()));
            std::thread::sleep(Duration::from_millis(30));
            assert_eq!(woken[1].load(Ordering::SeqCst), 0, "nothing has come for it");
            assert!(is_woken(1, Kinds::from(one).and(other)));
        });
    }

    #[test]
    fn one_wake_up_wakes_one() {
        let segment = Segment::create(2 << 20, 1).unwrap();
        let woken = Counter::new(0);
        let threads = [AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)];
        std::thread::scope(|scope| {
            for (kind, thread) in (1..).zip(&threads) {
                let (waiters, woken) = (Waiters::of(&segment), &woken);
                scope.spawn(move || {
                    thread.store(thread_number(), Ordering::SeqCst);
                    waiters.sleep_unless(Kind::of(kind), LONG.as_nanos() as u64, || false);
                    woken.fetch_add(1, Ordering::SeqCst);
                });
            }
            wait_until_asleep(&threads);
            for expected in 1..=3 {
                Waiters::of(&segment).wake_one();
                let until = Instant::now() + LONG / 2;
                while woken.load(Ordering::SeqCst) < expected && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(1));
                }
                std::thread::sleep(Duration::from_millis(100)); // a second one would be awake by now
                assert_eq!(woken.load(Ordering::SeqCst), expected);
            }
        });
    }
}
