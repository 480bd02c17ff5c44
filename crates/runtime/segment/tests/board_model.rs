//! The protocols of a communicator's board under loom: every interleaving of a few ranks, every
//! reordering the memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p evenkeel-segment --test board_model --release`. Each rule
//! has a twin test in which it is left out, and loom must find the error.
#![cfg(loom)]

mod loom_memory;

use evenkeel_segment::block::Extent;
use evenkeel_segment::board::backlog::{Backlog, BacklogGeometry};
use evenkeel_segment::board::sleeping::Room;
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
// SAFETY: as above.
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
        // SAFETY: the access is what is under test; loom checks it.
        self.cell(me, seq).with_mut(|p| unsafe { *p = value });
        self.board.publish(me, seq);
    }

    fn take(&self, rank: usize, seq: Seq) -> u64 {
        // SAFETY: as above.
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

/// Rank 1 deposits and leaves at once, as in a reduction to rank 0; rank 0 reads. There are more
/// instances than the window has positions.
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
#[should_panic(expected = "Concurrent read and write accesses")]
fn without_the_window_a_cell_is_overwritten_while_it_is_read() {
    stream(false);
}

/// All arrive; the last one combines and releases; a rank that sees the release sees the result. (No rank
/// waits here: three ranks that spin are too many interleavings.)
#[test]
fn the_last_to_arrive_sees_every_deposit() {
    run(3, 2, 16, |node, me| {
        let (seq, result) = (Seq(0), Seq(1));
        node.deposit(me, seq, 1 << me);
        if node.board.arrive(me, seq, 1) {
            let sum: u64 = (0..3).map(|r| node.take(r, seq)).sum();
            // SAFETY: the access is what is under test; loom checks it.
            node.cell(0, result).with_mut(|p| unsafe { *p = sum });
            node.board.release(seq);
        }
        if node.board.is_released(seq) {
            assert!(node.board.all_arrived(seq, 1));
            assert_eq!(node.take(0, result), 7);
        }
    });
}

/// The same with arrivals counted in groups of two.
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

/// A rank that sees the count complete may combine by itself, even if the last to arrive never releases the
/// others.
#[test]
fn a_stalled_combiner_holds_up_no_other_rank() {
    run(2, 2, 16, |node, me| {
        let seq = Seq(0);
        node.deposit(me, seq, 10 + me as u64);
        node.board.arrive(me, seq, 1);
        node.until(|| node.board.all_arrived(seq, 1));
        assert_eq!(node.take(0, seq) + node.take(1, seq), 21);
        node.board.leave(me, 1);
    });
}

/// A window position is used again: arrivals of the first round must not count for the second.
#[test]
fn arrivals_of_two_rounds_do_not_mix() {
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

/// Shares of the work on an instance: each is done once, and a rank that sees all of them done sees all
/// results.
#[test]
fn shares_are_claimed_once() {
    run(2, 2, 16, |node, me| {
        let seq = Seq(1);
        while let Some(share) = node.board.claim(seq, 2) {
            // SAFETY: the access is what is under test; loom checks it.
            node.cell(share as usize, seq).with_mut(|p| unsafe { *p = 5 + share as u64 });
            node.board.finish(seq, share, 2);
        }
        node.until(|| node.board.finished(seq) == 3);
        assert_eq!((node.take(0, seq), node.take(1, seq)), (5, 6));
        node.board.leave(me, 1);
    });
}

/// A barrier orders what the ranks share otherwise. `waits` says which ranks count as waiting; the others
/// look at the entries.
fn barriers(
    ranks: usize,
    group: usize,
    waits: impl Fn(usize, u64) -> bool + Send + Sync + 'static,
    looks_at_all: bool,
) {
    run(ranks, 1, group, move |node, me| {
        let board = &node.board;
        // SAFETY: the access is what is under test; loom checks it.
        node.cell(me, Seq(0)).with_mut(|p| unsafe { *p = 7 });
        board.enter_barrier(me, 0, 0);
        if ranks == 3 && me != 1 {
            // Three ranks that all look are too many for the checker: two enter and go on, as ranks do that
            // defer barriers.
            if waits(me, 0) {
                board.count_waiting(me, 0);
            }
            return;
        }
        if !waits(me, 0) || !board.count_waiting(me, 0) {
            node.until(|| {
                board.is_barrier_released(0)
                    || board.all_entered(0, &mut if looks_at_all { 0 } else { ranks - me })
            });
        }
        // The checker itself objects to a read that is not ordered behind the write.
        let all: Vec<u64> = (0..ranks).map(|rank| node.take(rank, Seq(0))).collect();
        if looks_at_all {
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
fn some_ranks_defer_and_some_wait() {
    barriers(2, 16, |me, _| me == 0, true);
    barriers(3, 16, |me, _| me != 1, true);
    barriers(3, 2, |me, _| me == 1, true);
}

#[test]
#[should_panic(expected = "Concurrent read and write accesses")]
fn looking_at_some_ranks_only_is_not_enough() {
    barriers(2, 16, |_, _| false, false);
}

/// One rank runs ahead by more barriers than there are hints, and takes the hint in which the other counts.
#[test]
fn a_rank_whose_hint_is_overwritten_gets_on() {
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
            assert!(!last, "the other rank never counted here");
            node.until(|| board.is_barrier_released(0) || board.all_entered(0, &mut 0));
        }
    });
}

/// A rank that sleeps for a barrier is woken by the rank that completes it, although no rank knows beforehand
/// which one that will be.
fn sleepers_at_a_barrier(notify: bool, fenced: bool) {
    run(3, 1, 16, move |node, me| {
        let board = &node.board;
        match me == 0 || fenced {
            true => board.enter_barrier(me, 0, 0),
            false => board.enter_barrier_unfenced(me, 0, 0),
        }
        if me > 0 {
            match fenced {
                _ if !notify => {}
                true => board.notify_entry(me, 0),
                false => board.notify_unfenced_entry(me, 0),
            }
            return;
        }
        while !board.all_entered(0, &mut 0) {
            board.sleep_unless(Fencing::Both, u64::MAX, || board.all_entered(0, &mut 0));
        }
    });
}

#[test]
fn the_rank_that_completes_a_barrier_wakes_the_sleepers() {
    sleepers_at_a_barrier(true, true);
    sleepers_at_a_barrier(true, false);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_a_notification_ranks_sleep_on() {
    sleepers_at_a_barrier(false, true);
}

type Sleep = fn(&Board<Model>, &dyn Fn() -> bool);

const FOR_DATA: Sleep = |board, happened| board.sleep_unless(Fencing::Both, u64::MAX, happened);
const FOR_DATA_OR_ROOM: Sleep =
    |board, happened| board.sleep_unless_or_room(Room::Window, Fencing::Both, u64::MAX, happened);
const FOR_ROOM_ALONE: Sleep = |board, happened| board.sleep_until_room(Room::Window, u64::MAX, happened);

/// One rank sleeps until the other has published. A lost wake-up would be a deadlock here.
fn sleeper(notify: bool, sleep: Sleep) {
    run(2, 2, 16, move |node, me| {
        let seq = Seq(0);
        if me == 1 {
            node.deposit(1, seq, 9);
            if notify {
                node.board.notify();
            }
        } else {
            while !node.board.is_published(1, seq) {
                sleep(&node.board, &|| node.board.is_published(1, seq));
            }
            assert_eq!(node.take(1, seq), 9);
        }
    });
}

#[test]
fn no_wake_up_is_lost() {
    sleeper(true, FOR_DATA);
    sleeper(true, FOR_DATA_OR_ROOM);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_a_notification_a_wake_up_is_lost() {
    sleeper(false, FOR_DATA);
}

#[test]
#[should_panic(expected = "deadlock")]
fn who_sleeps_for_room_alone_hears_of_no_deposit() {
    sleeper(true, FOR_ROOM_ALONE);
}

/// Rank 1 deposits in its backlog, which has room for one deposit; rank 0 enters the instances in its place
/// and reads.
fn backlog(waits_for_reader: bool) {
    let make = || {
        let geometry = BacklogGeometry::with(1, 4096);
        let backlog = Backlog { memory: Model::new(geometry.control_bytes()), geometry };
        (node(2, 1, 16), backlog, UnsafeCell::new(0u64))
    };
    every_interleaving(
        2,
        move || Ahead(make()),
        move |ahead, me| {
            let Ahead((node, backlog, deposit)) = ahead;
            for n in 0..3 {
                let seq = Seq(n);
                if me == 1 {
                    if waits_for_reader && n > 0 {
                        node.until(|| node.board.left(0) > n - 1);
                    }
                    // SAFETY: the access is what is under test; loom checks it.
                    deposit.with_mut(|p| unsafe { *p = 100 + n });
                    backlog.publish(seq);
                    node.board.leave(1, n + 1);
                } else {
                    node.until(|| backlog.holds(seq));
                    // SAFETY: as above.
                    let value = deposit.with(|p| unsafe { *p });
                    node.deposit(1, seq, value);
                    assert_eq!(node.take(1, seq), 100 + n);
                    node.board.leave(0, n + 1);
                }
            }
        },
    );
}

struct Ahead((Node, Backlog<Model>, UnsafeCell<u64>));

// SAFETY: the deposit is what the protocol under test must protect; loom checks each access.
unsafe impl Sync for Ahead {}
// SAFETY: as above.
unsafe impl Send for Ahead {}

#[test]
fn a_backlog_is_not_overwritten_while_it_is_read() {
    backlog(true);
}

#[test]
#[should_panic(expected = "Concurrent read and write accesses")]
fn without_waiting_for_the_reader_a_backlog_is_overwritten_while_it_is_read() {
    backlog(false);
}

/// A rank returns from its backlog to the board: its own deposit follows one that the reader has made for it
/// at the same window position.
fn return_to_the_board(waits_for_reader: bool) {
    let make = || {
        let geometry = BacklogGeometry::with(2, 4096);
        let backlog = Backlog { memory: Model::new(geometry.control_bytes()), geometry };
        (node(2, 1, 16), backlog, UnsafeCell::new(0u64))
    };
    every_interleaving(
        2,
        move || Ahead(make()),
        move |ahead, me| {
            let Ahead((node, backlog, deposit)) = ahead;
            let (first, second) = (Seq(0), Seq(1));
            if me == 1 {
                // SAFETY: the access is what is under test; loom checks it.
                deposit.with_mut(|p| unsafe { *p = 100 });
                backlog.publish(first);
                node.board.leave(1, 1);
                if waits_for_reader {
                    node.until(|| node.board.left(0) > 0);
                }
                node.deposit(1, second, 101);
            } else {
                node.until(|| backlog.holds(first));
                // SAFETY: as above.
                let value = deposit.with(|p| unsafe { *p });
                node.deposit(1, first, value);
                assert_eq!(node.take(1, first), 100);
                node.board.leave(0, 1);
                node.until(|| node.board.is_published(1, second));
                assert_eq!(node.take(1, second), 101);
            }
        },
    );
}

#[test]
fn a_rank_returns_from_its_backlog_to_the_board() {
    return_to_the_board(true);
}

#[test]
#[should_panic]
fn a_rank_that_returns_too_early_writes_where_its_reader_writes() {
    return_to_the_board(false);
}
