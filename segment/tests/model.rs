//! The protocols of the bill-board under loom: every interleaving of a few ranks, every reordering the memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p evenkeel-segment --test model --release`.
//! Each guard has a twin test in which the rule it stands for is left out, and loom must find the error.
#![cfg(loom)]

use evenkeel_segment::bell::{Fencing, Futex};
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};
use evenkeel_segment::{Board, FlagGeometry, Flags, Geometry, Seq};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// A block's control words, the futex, and payload cells whose every access loom checks for races.
struct Model {
    words: Vec<AtomicU64>,
    asleep: Mutex<()>,
    woken: Condvar,
}

impl Words for Model {
    fn word(&self, offset: usize) -> &AtomicU64 {
        &self.words[offset / 64 * 2 + (offset / 8 % 8).min(1)] // the two words of a line that are ever used
    }
}

const BELL_AT: usize = 64;

impl Futex for Model {
    fn wait(&self, seen: u64, _timeout_ns: u64) {
        // As the kernel does: the comparison and going to sleep are one step for those who wake. No timeout: a lost
        // wake-up must show as a deadlock.
        let guard = self.asleep.lock().unwrap();
        if self.word(BELL_AT).load(Ordering::SeqCst) == seen {
            drop(self.woken.wait(guard).unwrap());
        }
    }
    fn wake_all(&self) {
        let _guard = self.asleep.lock().unwrap();
        self.woken.notify_all();
    }
    fn fence_everyone(&self) {
        unreachable!("the model uses fences on both sides; membarrier is their stand-in on hot paths")
    }
}

struct Node {
    board: Board<Model>,
    payload: Vec<UnsafeCell<u64>>, // ranks × window
}

// SAFETY: the payload cells are what the protocol under test must protect; loom checks each access.
unsafe impl Sync for Node {}
unsafe impl Send for Node {}

fn node(ranks: usize, window: usize, group: usize) -> Arc<Node> {
    let geometry = Geometry::with(ranks, window, group, 64, 64);
    let words = (0..geometry.control_bytes() / 64 * 2).map(|_| AtomicU64::new(0)).collect();
    let payload = (0..ranks * window).map(|_| UnsafeCell::new(0)).collect();
    let memory = Model { words, asleep: Mutex::new(()), woken: Condvar::new() };
    Arc::new(Node { board: Board { memory, geometry, fencing: Fencing::Both }, payload })
}

impl Node {
    fn cell(&self, rank: usize, seq: Seq) -> &UnsafeCell<u64> {
        let window = self.board.geometry.window;
        &self.payload[rank * window + seq.0 as usize % window]
    }
    fn deposit(&self, me: usize, seq: Seq, value: u64) {
        self.cell(me, seq).with_mut(|p| unsafe { *p = value });
        self.board.publish(me, seq);
    }
    fn take(&self, rank: usize, seq: Seq) -> u64 {
        self.cell(rank, seq).with(|p| unsafe { *p })
    }
    fn until(&self, condition: impl Fn() -> bool) {
        while !condition() {
            thread::yield_now();
        }
    }
}

fn run(ranks: usize, window: usize, group: usize, body: impl Fn(&Node, usize) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(if ranks > 2 { 2 } else { 3 }); // three ranks with three take many minutes
    builder.max_branches = 100_000;
    let body = std::sync::Arc::new(body);
    builder.check(move || {
        let node = node(ranks, window, group);
        let others: Vec<_> = (1..ranks)
            .map(|rank| {
                let (node, body) = (node.clone(), body.clone());
                thread::spawn(move || body(&node, rank))
            })
            .collect();
        body(&node, 0);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// Rank 1 deposits and leaves at once (a reduction's non-root); rank 0 reads. The window is smaller than the run.
fn stream(respect_window: bool) {
    const WINDOW: u64 = 1;
    run(2, WINDOW as usize, 16, move |node, me| {
        for n in 0..3 {
            let seq = Seq(n);
            if me == 1 {
                if respect_window && n >= WINDOW {
                    node.until(|| node.board.left(0) > n - WINDOW);
                }
                node.deposit(1, seq, 100 + n);
                node.board.leave(1, n + 1);
            } else {
                node.until(|| node.board.published(1, seq));
                assert_eq!(node.take(1, seq), 100 + n);
                node.board.leave(0, n + 1);
            }
        }
    });
}

#[test]
fn a_cell_is_not_overwritten_while_it_is_read() {
    stream(true);
}

#[test]
#[should_panic]
fn without_the_window_it_is() {
    stream(false);
}

/// All arrive; the last combines and releases; whoever sees the release sees the result. (Nobody waits here: three
/// ranks that spin are too many interleavings.)
#[test]
fn the_last_to_arrive_sees_every_deposit() {
    run(3, 2, 16, |node, me| {
        let (seq, result) = (Seq(0), Seq(1));
        node.deposit(me, seq, 1 << me);
        if node.board.arrive(me, seq, 1) {
            let sum: u64 = (0..3).map(|r| node.take(r, seq)).sum();
            node.cell(0, result).with_mut(|p| unsafe { *p = sum });
            node.board.release(seq);
        }
        if node.board.released(seq) {
            assert!(node.board.full(seq, 1));
            assert_eq!(node.take(0, result), 7);
        }
    });
}

/// The same through groups of two.
#[test]
fn grouped_arrivals_are_complete() {
    run(3, 2, 2, |node, me| {
        let seq = Seq(0);
        node.deposit(me, seq, 1 << me);
        if node.board.arrive(me, seq, 1) {
            let sum: u64 = (0..3).map(|r| node.take(r, seq)).sum();
            assert_eq!(sum, 7);
        }
        node.board.leave(me, 1);
    });
}

/// Whoever sees the count full may combine by itself, though the last to arrive never releases anybody.
#[test]
fn a_stalled_combiner_holds_nobody_up() {
    run(2, 2, 16, |node, me| {
        let seq = Seq(0);
        node.deposit(me, seq, 10 + me as u64);
        node.board.arrive(me, seq, 1);
        node.until(|| node.board.full(seq, 1));
        assert_eq!(node.take(0, seq) + node.take(1, seq), 21);
        node.board.leave(me, 1);
    });
}

/// A window position is used again: the count of its second round must not be filled by the first.
#[test]
fn rounds_do_not_mix() {
    run(2, 1, 16, |node, me| {
        for n in 0..2 {
            let seq = Seq(n);
            if n > 0 {
                node.until(|| node.board.all_left() > n - 1);
            }
            node.deposit(me, seq, n * 10 + me as u64);
            node.board.arrive(me, seq, n + 1);
            node.until(|| node.board.full(seq, n + 1));
            assert_eq!(node.take(1 - me, seq), n * 10 + (1 - me) as u64);
            node.board.leave(me, n + 1);
        }
    });
}

/// Shares of a full instance: each is done once, and whoever sees all done sees all results.
#[test]
fn shares_are_claimed_once() {
    run(2, 2, 16, |node, me| {
        let seq = Seq(1);
        while let Some(share) = node.board.claim(seq, 2) {
            node.cell(share as usize, seq).with_mut(|p| unsafe { *p = 5 + share as u64 });
            node.board.finish(seq, share, 2);
        }
        node.until(|| node.board.finished(seq) == 3);
        assert_eq!((node.take(0, seq), node.take(1, seq)), (5, 6));
        node.board.leave(me, 1);
    });
}

/// A barrier orders what the ranks share otherwise. `waits` says who counts as waiting; the others rely on the words.
fn barriers(ranks: usize, group: usize, waits: impl Fn(usize, u64) -> bool + Send + Sync + 'static, look_at_all: bool) {
    run(ranks, 1, group, move |node, me| {
        let board = &node.board;
        node.cell(me, Seq(0)).with_mut(|p| unsafe { *p = 7 });
        board.enter_barrier(me, 0, 0);
        if ranks == 3 && me != 1 {
            // Three who all look are too many for the checker: two enter and go, as a deferring program does.
            if waits(me, 0) {
                board.count_waiting(me, 0);
            }
            return;
        }
        if !waits(me, 0) || !board.count_waiting(me, 0) {
            node.until(|| board.barrier_released(0) || board.all_entered(0, &mut if look_at_all { 0 } else { ranks - me }));
        }
        // The checker itself objects to a read that is not ordered behind the write.
        let all: Vec<u64> = (0..ranks).map(|rank| node.take(rank, Seq(0))).collect();
        if look_at_all {
            assert_eq!(all, vec![7; ranks]);
        }
    });
}

#[test]
fn all_leave_a_barrier_together() {
    barriers(2, 16, |_, _| true, true);
    barriers(3, 16, |_, _| true, true);
    barriers(3, 2, |_, _| true, true);
}

#[test]
fn some_defer_and_some_wait() {
    barriers(2, 16, |me, _| me == 0, true);
    barriers(3, 16, |me, _| me != 1, true);
    barriers(3, 2, |me, _| me == 1, true);
}

#[test]
#[should_panic]
fn to_look_at_some_only_is_not_enough() {
    barriers(2, 16, |_, _| false, false);
}

/// One runs ahead by more barriers than there are hints, and the hint it takes is the one the others count in.
#[test]
fn a_hint_that_is_overwritten_holds_nobody_up() {
    run(2, 1, 16, |node, me| {
        let board = &node.board;
        if me == 0 {
            for number in 0..4 {
                board.enter_barrier(0, number, 0);
            }
            board.enter_barrier(0, 4, 0);
            board.count_waiting(0, 4);
        } else {
            board.enter_barrier(1, 0, 0);
            let last = board.count_waiting(1, 0);
            assert!(!last, "the other one never counted here");
            node.until(|| board.barrier_released(0) || board.all_entered(0, &mut 0));
        }
    });
}

/// Who sleeps for a barrier is woken by whoever completes it, although nobody can tell beforehand who that will be.
fn sleepers_at_a_barrier(announce: bool) {
    run(3, 1, 16, move |node, me| {
        let board = &node.board;
        board.enter_barrier(me, 0, 0);
        if me > 0 {
            if announce {
                board.announce_entry(0);
            }
            return;
        }
        while !board.all_entered(0, &mut 0) {
            board.sleep_unless(u64::MAX, || board.all_entered(0, &mut 0));
        }
    });
}

#[test]
fn whoever_completes_a_barrier_wakes_the_sleepers() {
    sleepers_at_a_barrier(true);
}

#[test]
#[should_panic]
fn without_that_they_sleep_on() {
    sleepers_at_a_barrier(false);
}

/// One sleeps until the other has published: no wake-up may be lost (it would be a deadlock here).
fn sleeper(announce: bool) {
    run(2, 2, 16, move |node, me| {
        let seq = Seq(0);
        if me == 1 {
            node.deposit(1, seq, 9);
            if announce {
                node.board.announce();
            }
        } else {
            while !node.board.published(1, seq) {
                node.board.sleep_unless(u64::MAX, || node.board.published(1, seq));
            }
            assert_eq!(node.take(1, seq), 9);
        }
    });
}

#[test]
fn no_wake_up_is_lost() {
    sleeper(true);
}

#[test]
#[should_panic]
fn without_the_announcement_it_is() {
    sleeper(false);
}

// ---- flags of schedules ---------------------------------------------------------------------------------------------

/// Flags with a payload cell for each rank.
struct Signals {
    flags: Flags<Model>,
    geometry: FlagGeometry,
    payload: Vec<UnsafeCell<u64>>,
}

// SAFETY: as of Node.
unsafe impl Sync for Signals {}
unsafe impl Send for Signals {}

fn model(bytes: usize) -> Model {
    Model { words: (0..bytes / 64 * 2).map(|_| AtomicU64::new(0)).collect(), asleep: Mutex::new(()), woken: Condvar::new() }
}

impl Signals {
    fn flag(&self, rank: usize, flag: usize) -> usize {
        self.geometry.flag(rank, flag)
    }
    fn put(&self, me: usize) {
        self.payload[me].with_mut(|p| unsafe { *p = 7 });
    }
    /// The checker itself objects to a read that is not ordered behind the write.
    fn take_all(&self) {
        self.payload.iter().for_each(|cell| assert_eq!(cell.with(|p| unsafe { *p }), 7));
    }
    fn until(&self, at: usize, value: u64) {
        while !self.flags.has_reached(at, value) {
            thread::yield_now();
        }
    }
    fn sleep_until(&self, me: usize, at: usize, value: u64) {
        while !self.flags.has_reached(at, value) {
            self.flags.sleep_unless(me, u64::MAX, || self.flags.has_reached(at, value));
        }
    }
}

fn signal(ranks: usize, body: impl Fn(&Signals, usize) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(if ranks > 2 { 2 } else { 3 });
    builder.max_branches = 100_000;
    let body = std::sync::Arc::new(body);
    builder.check(move || {
        let geometry = FlagGeometry::new(ranks, 2, 1);
        let bells = (0..ranks).map(|_| model(256)).collect();
        let flags = Flags { memory: model(geometry.bell(ranks)), bells, fencing: Fencing::Both };
        let signals = Arc::new(Signals { flags, geometry, payload: (0..ranks).map(|_| UnsafeCell::new(0)).collect() });
        let others: Vec<_> = (1..ranks)
            .map(|rank| {
                let (signals, body) = (signals.clone(), body.clone());
                thread::spawn(move || body(&signals, rank))
            })
            .collect();
        body(&signals, 0);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// Two ranks exchange flags, twice: nobody leaves before both have entered, and the second epoch needs nothing cleared.
#[test]
fn exchanged_flags_are_a_barrier() {
    signal(2, |s, me| {
        for epoch in 1..=2 {
            if epoch == 1 {
                s.put(me);
            }
            s.flags.raise_last(s.flag(1 - me, 0), epoch);
            s.until(s.flag(me, 0), epoch);
            s.take_all();
        }
    });
}

/// Rank 0 tells 1, which tells 2: what 2 knows of 0 it has from 1. Plain raises are enough for that.
#[test]
fn knowledge_is_handed_on_by_flags() {
    signal(3, |s, me| {
        s.put(me);
        if me > 0 {
            s.until(s.flag(me, 0), 1);
        }
        if me < 2 {
            s.flags.raise(s.flag(me + 1, 0), 1);
        } else {
            s.take_all();
        }
    });
}

/// Whoever makes a counter full has seen all who counted, and so has whom it then tells.
#[test]
fn a_full_counter_stands_for_all() {
    signal(3, |s, me| {
        s.put(me);
        if s.flags.add(s.geometry.counter(0, 0)) == 3 {
            s.take_all();
            s.flags.raise_last(s.flag(0, 1), 1);
        } else if s.flags.has_reached(s.flag(0, 1), 1) {
            s.take_all();
        }
    });
}

/// The last rank raises a flag for each of the others, who sleep, and wakes whom it sees asleep.
fn sleepers_at_flags(ranks: usize, last: bool, wake: bool) {
    signal(ranks, move |s, me| {
        let sleepers = ranks - 1;
        if me < sleepers {
            return s.sleep_until(me, s.flag(me, 0), 1);
        }
        for rank in 0..sleepers {
            if last && rank + 1 == sleepers {
                s.flags.raise_last(s.flag(rank, 0), 1);
            } else {
                s.flags.raise(s.flag(rank, 0), 1);
            }
        }
        if wake && s.flags.anybody_sleeps() {
            (0..sleepers).for_each(|rank| s.flags.wake(rank));
        }
    });
}

#[test]
fn sleepers_are_woken_by_the_last_of_several_raises() {
    sleepers_at_flags(2, true, true);
    sleepers_at_flags(3, true, true);
}

#[test]
#[should_panic]
fn without_a_fence_somebody_sleeps_on() {
    sleepers_at_flags(2, false, true);
}

#[test]
#[should_panic]
fn without_a_look_at_sleepers_too() {
    sleepers_at_flags(2, true, false);
}

/// To count wakes as to raise does.
#[test]
fn who_sleeps_for_a_counter_is_woken() {
    signal(3, |s, me| {
        let counter = s.geometry.counter(0, 0);
        if me == 0 {
            return s.sleep_until(0, counter, 2);
        }
        s.flags.add(counter);
        if s.flags.anybody_sleeps() {
            s.flags.wake(0);
        }
    });
}
