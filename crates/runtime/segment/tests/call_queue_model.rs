//! The docket under loom: two members that post the same, one of them late, and the agent that takes it.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p evenkeel-segment --test call_queue_model --release`.
#![cfg(loom)]

mod loom_memory;

use evenkeel_segment::block::Extent;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::{Board, Geometry};
use loom::thread;
use loom_memory::{Model, every_interleaving};

const WORDS: [[u64; 2]; 2] = [[1, 2], [3, 4]];

fn board() -> Board<Model> {
    let geometry = Geometry::with(3, 1, 16, 64, 64);
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

/// Member 0 calls two collectives, member 1 the first only, at any time; the window is one entry.
/// `late` posts it.
fn one_is_late(late: impl Fn(&Board<Model>) + Send + Sync + 'static) {
    every_interleaving(3, board, move |board, me| match me {
        0 => (0..2).for_each(|number| {
            until(|| board.call_queue().post(number, WORDS[number as usize]).then_some(()))
        }),
        1 => late(board),
        _ => {
            for number in 0..2 {
                assert_eq!(until(|| board.call_queue().posted(number)), WORDS[number as usize]);
                board.call_queue().take(number + 1);
            }
            assert_eq!(board.call_queue().posted(1), Some(WORDS[1]), "what has been posted stays");
        }
    });
}

#[test]
fn whoever_posts_late_changes_nothing() {
    one_is_late(|board| {
        board.call_queue().post(0, WORDS[0]);
    });
}

#[test]
#[should_panic]
fn to_store_without_looking_is_found() {
    one_is_late(|board| board.call_queue().post_by_storing(0, WORDS[0]));
}

/// A member that calls three collectives with a docket of two entries, and sleeps where there is no
/// room; `awaited` says whether the agent wakes it.
fn who_wants_room_sleeps(awaited: impl Fn(&Board<Model>, u64) -> bool + Send + Sync + 'static) {
    let make = || {
        let geometry = Geometry::with(2, 2, 16, 64, 64);
        Board { memory: Model::new(geometry.control_bytes()), geometry, fencing: Fencing::Both }
    };
    every_interleaving(2, make, move |board, me| match me {
        0 => {
            for number in 0..3 {
                while !board.call_queue().post(number, WORDS[0]) {
                    board.sleep_unless(Fencing::Both, u64::MAX, || board.call_queue().post(number, WORDS[0]));
                }
            }
        }
        _ => {
            for number in 0..3 {
                until(|| board.call_queue().posted(number));
                board.call_queue().take(number + 1);
                if awaited(board, number + 1) {
                    board.notify();
                }
            }
        }
    });
}

#[test]
fn who_waits_for_room_is_woken() {
    who_wants_room_sleeps(|board, taken| board.call_queue().is_room_awaited(taken));
}

#[test]
#[should_panic]
fn to_look_at_the_wrong_entry_is_found() {
    who_wants_room_sleeps(|board, taken| board.call_queue().is_room_awaited(taken + 1));
}
