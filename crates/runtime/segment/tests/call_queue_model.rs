//! The call queue under loom: two members that post the same calls, one of them late, and the agent that
//! takes them.
//!
//! Run as `board_model.rs`. Where a rule is left out, the agent waits for good; the checker reports that
//! as too many branches.
#![cfg(loom)]

mod loom_memory;

use evenkeel_segment::block::Extent;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::{Board, Geometry};
use loom::thread;
use loom_memory::{Model, every_interleaving};

const WORDS: [[u64; 2]; 2] = [[1, 2], [3, 4]];

fn board(members: usize, window: usize) -> Board<Model> {
    let geometry = Geometry::with(members, window, 16, 64, 64);
    Board { memory: Model::new(geometry.control_bytes()), geometry, fencing: Fencing::Both }
}

fn until<R>(mut look: impl FnMut() -> Option<R>) -> R {
    loop {
        match look() {
            Some(found) => return found,
            None => thread::yield_now(),
        }
    }
}

/// Member 0 calls two collectives; member 1 has called the first only, and posts it at any time, by
/// `post_late`. The queue has one entry.
fn one_member_is_late(post_late: impl Fn(&Board<Model>) + Send + Sync + 'static) {
    every_interleaving(
        3,
        || board(3, 1),
        move |board, me| match me {
            0 => (0..2).for_each(|number| {
                until(|| board.call_queue().post(number, WORDS[number as usize]).then_some(()))
            }),
            1 => post_late(board),
            _ => {
                for number in 0..2 {
                    assert_eq!(until(|| board.call_queue().posted(number)), WORDS[number as usize]);
                    board.call_queue().take(number + 1);
                }
                assert_eq!(board.call_queue().posted(1), Some(WORDS[1]), "what has been posted stays");
            }
        },
    );
}

#[test]
fn a_late_post_changes_nothing() {
    one_member_is_late(|board| {
        board.call_queue().post(0, WORDS[0]);
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn storing_without_comparing_loses_a_call() {
    one_member_is_late(|board| board.call_queue().post_by_storing(0, WORDS[0]));
}

/// A member calls three collectives with a queue of two entries, and sleeps while there is no room.
/// `is_room_awaited` says whether the agent wakes it.
fn a_member_sleeps_for_room(is_room_awaited: impl Fn(&Board<Model>, u64) -> bool + Send + Sync + 'static) {
    every_interleaving(
        2,
        || board(2, 2),
        move |board, me| match me {
            0 => {
                for number in 0..3 {
                    let post = || board.call_queue().post(number, WORDS[0]);
                    while !post() {
                        board.sleep_unless(Fencing::Both, u64::MAX, post);
                    }
                }
            }
            _ => {
                for number in 0..3 {
                    until(|| board.call_queue().posted(number));
                    board.call_queue().take(number + 1);
                    if is_room_awaited(board, number + 1) {
                        board.notify();
                    }
                }
            }
        },
    );
}

#[test]
fn a_member_that_waits_for_room_is_woken() {
    a_member_sleeps_for_room(|board, taken| board.call_queue().is_room_awaited(taken));
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn an_agent_that_looks_at_the_wrong_entry_lets_it_sleep() {
    a_member_sleeps_for_room(|board, taken| board.call_queue().is_room_awaited(taken + 1));
}
