//! The protocols of the bill-board under loom: every interleaving of a few ranks, every reordering the
//! memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p evenkeel-segment --test model --release`. Each guard
//! has a twin test in which the rule it stands for is left out, and loom must find the error.
#![cfg(loom)]

mod loom_memory;

use evenkeel_segment::block::Extent;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::{Board, Geometry, Seq};
use loom::cell::UnsafeCell;
use loom::thread;
use loom_memory::{Model, every_interleaving};

/// A board, and payload cells whose every access loom checks for races.
struct Node {
    board: Board<Model>,
    payload: Vec<UnsafeCell<u64>>, // ranks × window
}

// SAFETY: the payload cells are what the protocol under test must protect; loom checks each access.
unsafe impl Sync for Node {}
unsafe impl Send for Node {}

fn node(ranks: usize, window: usize, group: usize) -> Node {
    let geometry = Geometry::with(ranks, window, group, 64, 64);
    let payload = (0..ranks * window).map(|_| UnsafeCell::new(0)).collect();
    Node {
        board: Board { memory: Model::new(geometry.control_bytes()), geometry, fencing: Fencing::Both },
        payload,
    }
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
    every_interleaving(ranks, move || node(ranks, window, group), body);
}

/// Rank 1 deposits and leaves at once (a reduction's non-root); rank 0 reads. The window is smaller
/// than the run.
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
                node.until(|| node.board.is_published(1, seq));
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

/// All arrive; the last combines and releases; whoever sees the release sees the result. (Nobody waits
/// here: three ranks that spin are too many interleavings.)
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
        if node.board.is_released(seq) {
            assert!(node.board.all_arrived(seq, 1));
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
        node.until(|| node.board.all_arrived(seq, 1));
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
            node.until(|| node.board.all_arrived(seq, n + 1));
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

/// A barrier orders what the ranks share otherwise. `waits` says who counts as waiting; the others rely
/// on the words.
fn barriers(
    ranks: usize,
    group: usize,
    waits: impl Fn(usize, u64) -> bool + Send + Sync + 'static,
    look_at_all: bool,
) {
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
            node.until(|| {
                board.is_barrier_released(0)
                    || board.all_entered(0, &mut if look_at_all { 0 } else { ranks - me })
            });
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

/// One runs ahead by more barriers than there are hints, and the hint it takes is the one the others
/// count in.
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
            node.until(|| board.is_barrier_released(0) || board.all_entered(0, &mut 0));
        }
    });
}

/// Who sleeps for a barrier is woken by whoever completes it, although nobody can tell beforehand who
/// that will be.
fn sleepers_at_a_barrier(announce: bool, fenced: bool) {
    run(3, 1, 16, move |node, me| {
        let board = &node.board;
        match me == 0 || fenced {
            true => board.enter_barrier(me, 0, 0),
            false => board.enter_barrier_unfenced(me, 0, 0),
        }
        if me > 0 {
            match fenced {
                _ if !announce => {}
                true => board.notify_entry(0),
                false => board.notify_unfenced_entry(0),
            }
            return;
        }
        while !board.all_entered(0, &mut 0) {
            board.sleep_unless(Fencing::Both, u64::MAX, || board.all_entered(0, &mut 0));
        }
    });
}

#[test]
fn whoever_completes_a_barrier_wakes_the_sleepers() {
    sleepers_at_a_barrier(true, true);
    sleepers_at_a_barrier(true, false);
}

#[test]
#[should_panic]
fn without_that_they_sleep_on() {
    sleepers_at_a_barrier(false, true);
}

/// One sleeps until the other has published: no wake-up may be lost (it would be a deadlock here).
fn sleeper(announce: bool) {
    run(2, 2, 16, move |node, me| {
        let seq = Seq(0);
        if me == 1 {
            node.deposit(1, seq, 9);
            if announce {
                node.board.notify();
            }
        } else {
            while !node.board.is_published(1, seq) {
                node.board.sleep_unless(Fencing::Both, u64::MAX, || node.board.is_published(1, seq));
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
