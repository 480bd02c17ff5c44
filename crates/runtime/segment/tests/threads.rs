//! The segment's protocols among real threads on real shared memory, with payloads in plain memory.
//!
//! A wrong order shows as a wrong value only now and then; under ThreadSanitizer (`make test-tsan`) it
//! shows as a race whenever the two accesses happen at all. Neither sees every interleaving; the models
//! do (`*_model.rs`).
#![cfg(not(loom))]

use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::membarrier;
use evenkeel_segment::memory::{Mapped, Segment};
use evenkeel_segment::sync::{AtomicU64, Ordering};
use evenkeel_segment::{Board, FlagGeometry, Flags, Geometry, Seq};
use std::cell::UnsafeCell;
use std::thread;

const ROUNDS: u64 = 2_000;
const LONG_NS: u64 = 10_000_000_000;

/// Plain words, one for each rank and window position: the protocol must protect them.
struct Payload(Vec<UnsafeCell<u64>>);

// SAFETY: no two threads access a word at the same time; that is under test.
unsafe impl Sync for Payload {}

impl Payload {
    fn put(&self, at: usize, value: u64) {
        // SAFETY: as above.
        unsafe { *self.0[at].get() = value }
    }

    fn get(&self, at: usize) -> u64 {
        // SAFETY: as above.
        unsafe { *self.0[at].get() }
    }
}

struct Rank<'a> {
    me: usize,
    board: Board<Mapped>,
    payload: &'a Payload,
    chance: u64,
    /// The fence of a sleeper: the board's, unless some rank enters barriers without a fence.
    sleeping: Fencing,
}

impl Rank<'_> {
    fn cell(&self, rank: usize, seq: Seq) -> usize {
        rank * self.board.geometry.window + seq.0 as usize % self.board.geometry.window
    }

    /// Gives way now and then, so that the order of events changes from round to round.
    fn yield_at_random(&mut self) {
        self.chance =
            self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if self.chance >> 61 == 0 {
            thread::yield_now();
        }
    }

    /// Waits for `happened`: asleep in every eighth round, otherwise by polling.
    fn until(&mut self, round: u64, mut happened: impl FnMut(&Board<Mapped>) -> bool) {
        while !happened(&self.board) {
            if round % 8 == self.me as u64 % 8 {
                let board = &self.board;
                // A lost wake-up takes ten seconds, which is seen.
                board.sleep_unless(self.sleeping, LONG_NS, || happened(board));
            } else {
                thread::yield_now();
            }
        }
    }
}

/// Runs `body` on as many threads as ranks, each with a board of its own on the same memory.
fn run(ranks: usize, window: usize, group: usize, fencing: Fencing, body: impl Fn(&mut Rank) + Sync) {
    let geometry = Geometry::with(ranks, window, group, 64, 64);
    let segment = Segment::create(1 << 20, 1).expect("a segment");
    let payload = Payload((0..ranks * window).map(|_| UnsafeCell::new(0)).collect());
    among_threads(ranks, &|me| {
        let board = Board { memory: segment.at(4096), geometry: geometry.clone(), fencing };
        body(&mut Rank { me, board, payload: &payload, chance: me as u64 + 1, sleeping: fencing });
    });
}

/// As `thread::scope`, with threads of the C library. ThreadSanitizer knows what their start and end
/// order; it does not know what happens inside the standard library, which was not compiled for it.
fn among_threads(ranks: usize, body: &(dyn Fn(usize) + Sync)) {
    struct Start<'a>(usize, &'a (dyn Fn(usize) + Sync));
    extern "C" fn start(given: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: `given` is the Start below, which outlives the thread.
        let Start(me, body) = unsafe { &*given.cast::<Start>() };
        // A panic must not leave an extern "C" function, and the other ranks would wait for this one for
        // good.
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(*me))).is_err() {
            std::process::abort();
        }
        std::ptr::null_mut()
    }
    let starts: Vec<Start> = (0..ranks).map(|me| Start(me, body)).collect();
    let begin = |s: &Start| {
        let mut thread = 0;
        // SAFETY: `starts` outlives the threads, which are joined below.
        let code = unsafe {
            libc::pthread_create(
                &mut thread,
                std::ptr::null(),
                start,
                std::ptr::from_ref(s).cast_mut().cast(),
            )
        };
        assert_eq!(code, 0, "no thread");
        thread
    };
    let threads: Vec<_> = starts.iter().map(begin).collect();
    for thread in threads {
        // SAFETY: created above, joined once.
        unsafe { libc::pthread_join(thread, std::ptr::null_mut()) };
    }
}

fn fencings() -> Vec<Fencing> {
    let mut all = vec![Fencing::Both];
    if membarrier::register() {
        all.push(Fencing::Sleeper);
    }
    all
}

#[test]
fn what_is_written_before_a_barrier_is_read_behind_it() {
    let fenced = fencings().into_iter().map(|fencing| (fencing, false));
    for (fencing, unfenced) in fenced.chain(membarrier::register().then_some((Fencing::Both, true))) {
        for (ranks, group) in [(2, 16), (3, 16), (4, 2)] {
            run(ranks, 2, group, fencing, |rank| {
                if unfenced {
                    rank.sleeping = Fencing::Sleeper;
                }
                for round in 0..ROUNDS {
                    let (me, seq) = (rank.me, Seq(round));
                    rank.payload.put(rank.cell(me, seq), round * 10 + me as u64);
                    rank.yield_at_random();
                    // Every third time a rank waits without the hint, as a rank that has deferred the
                    // barrier.
                    let counts = (round + me as u64) % 3 != 0;
                    if unfenced && !counts {
                        rank.board.enter_barrier_unfenced(me, round, 0);
                        rank.board.notify_unfenced_entry(me, round);
                    } else {
                        rank.board.enter_barrier(me, round, 0);
                        if counts {
                            rank.board.count_waiting(me, round);
                        }
                        rank.board.notify_entry(me, round);
                    }
                    let mut seen = 0;
                    rank.until(round, |b| {
                        (counts && b.is_barrier_released(round)) || b.all_entered(round, &mut seen)
                    });
                    for other in 0..ranks {
                        assert_eq!(rank.payload.get(rank.cell(other, seq)), round * 10 + other as u64);
                    }
                    // A word is written again two rounds later; the barrier between makes that safe.
                }
            });
        }
    }
}

#[test]
fn a_stream_of_deposits_is_read_before_it_is_overwritten() {
    const WINDOW: u64 = 4;
    for fencing in fencings() {
        run(2, WINDOW as usize, 16, fencing, |rank| {
            for n in 0..ROUNDS {
                let seq = Seq(n);
                rank.yield_at_random();
                if rank.me == 1 {
                    rank.until(n, |b| n < WINDOW || b.left(0) > n - WINDOW);
                    rank.payload.put(rank.cell(1, seq), 100 + n);
                    rank.board.publish(1, seq);
                } else {
                    rank.until(n, |b| b.is_published(1, seq));
                    assert_eq!(rank.payload.get(rank.cell(1, seq)), 100 + n);
                }
                rank.board.leave(rank.me, n + 1);
                rank.board.notify();
            }
        });
    }
}

#[test]
fn the_last_to_arrive_combines_what_all_deposited() {
    const RANKS: usize = 4;
    for fencing in fencings() {
        for group in [2, 16] {
            let results = Payload((0..2).map(|_| UnsafeCell::new(0)).collect());
            let combined = AtomicU64::new(0);
            run(RANKS, 2, group, fencing, |rank| {
                for n in 0..ROUNDS {
                    let (me, seq) = (rank.me, Seq(n));
                    rank.until(n, |b| n < 2 || b.all_left() > n - 2);
                    rank.payload.put(rank.cell(me, seq), n + me as u64);
                    rank.board.publish(me, seq);
                    rank.yield_at_random();
                    if rank.board.arrive(me, seq, n / 2 + 1) {
                        let sum = (0..RANKS).map(|r| rank.payload.get(rank.cell(r, seq))).sum();
                        results.put(n as usize % 2, sum);
                        combined.fetch_add(1, Ordering::Relaxed);
                        rank.board.release(seq);
                        rank.board.notify();
                    }
                    rank.until(n, |b| b.is_released(seq));
                    assert_eq!(results.get(n as usize % 2), n * RANKS as u64 + 6);
                    rank.board.leave(me, n + 1);
                    rank.board.notify();
                }
            });
            assert_eq!(combined.load(Ordering::Relaxed), ROUNDS);
        }
    }
}

/// Messages of every length, whose bytes all tell their number: none is torn, lost, or seen twice.
#[test]
fn messages_pass_a_mailbox_whole() {
    use evenkeel_segment::mailbox::{Reader, Writer};
    const CAPACITY: usize = 1 << 12;
    let segment = Segment::create(1 << 16, 1).expect("a segment");
    let length = |number: u64| (number as usize * 37) % CAPACITY + 1;
    among_threads(2, &|me| {
        let mut message = vec![0; CAPACITY];
        if me == 0 {
            let mut writer = Writer::take(&segment, 4096, CAPACITY).expect("the only writer");
            for number in 0..ROUNDS {
                message.fill(number as u8);
                while !writer.write(&message[..length(number)]) {
                    thread::yield_now();
                }
            }
        } else {
            let mut reader = Reader::take(&segment, 4096, CAPACITY).expect("the only reader");
            for number in 0..ROUNDS {
                let message = &mut message[..length(number)];
                while !reader.read(message) {
                    thread::yield_now();
                }
                assert!(message.iter().all(|byte| *byte == number as u8), "message {number} is torn");
            }
        }
    });
}

/// A rank with flags of its own, as schedules have them.
struct Signaller {
    me: usize,
    ranks: usize,
    flags: Flags<Mapped>,
    geometry: FlagGeometry,
}

impl Signaller {
    fn new(segment: &Segment, geometry: FlagGeometry, me: usize, fencing: Fencing) -> Signaller {
        let at = |offset: usize| segment.at(4096 + offset);
        let eventcounts = (0..geometry.ranks).map(|r| at(geometry.eventcount(r))).collect();
        Signaller {
            me,
            ranks: geometry.ranks,
            flags: Flags { memory: at(0), eventcounts, fencing },
            geometry,
        }
    }

    fn until(&self, round: u64, at: usize, value: u64) {
        while !self.flags.has_reached(at, value) {
            if round % 8 == self.me as u64 % 8 {
                // A lost wake-up takes ten seconds, which is seen.
                self.flags.sleep_unless(self.me, LONG_NS, || self.flags.has_reached(at, value));
            } else {
                thread::yield_now();
            }
        }
    }

    /// Dissemination: in each step a signal to the rank at twice the distance.
    fn disseminate(&self, round: u64, epoch: u64) {
        let distances = (0..).map(|r| 1 << r).take_while(|d| *d < self.ranks);
        for (slot, distance) in distances.enumerate() {
            let to = (self.me + distance) % self.ranks;
            self.flags.raise_last(self.geometry.flag(to, slot), epoch);
            if self.flags.has_sleepers() {
                self.flags.wake(to);
            }
            self.until(round, self.geometry.flag(self.me, slot), epoch);
        }
    }

    /// All ranks count; the one that completes the count signals the others.
    fn count(&self, round: u64, epoch: u64) {
        let released = self.geometry.flag(0, 3);
        if self.flags.add(self.geometry.counter(0, 0)) == epoch * self.ranks as u64 {
            self.flags.raise_last(released, epoch);
            if self.flags.has_sleepers() {
                (0..self.ranks).for_each(|rank| self.flags.wake(rank));
            }
        } else {
            self.until(round, released, epoch);
        }
    }
}

/// Barriers by dissemination and by a counter, in turns.
#[test]
fn what_is_written_before_a_barrier_of_flags_is_read_behind_it() {
    for fencing in fencings() {
        for ranks in [2, 3, 5] {
            let geometry = FlagGeometry::new(ranks, 4, 1);
            let segment = Segment::create(1 << 20, 1).expect("a segment");
            let payload = Payload((0..ranks).map(|_| UnsafeCell::new(0)).collect());
            among_threads(ranks, &|me| {
                let signaller = Signaller::new(&segment, geometry, me, fencing);
                for round in 0..ROUNDS {
                    payload.put(me, round * 10 + me as u64);
                    signaller.disseminate(2 * round, round + 1);
                    (0..ranks).for_each(|rank| assert_eq!(payload.get(rank), round * 10 + rank as u64));
                    signaller.count(2 * round + 1, round + 1);
                }
            });
        }
    }
}
