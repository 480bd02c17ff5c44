//! A relay under loom: what is wanted comes, part by part, through a ring that is smaller, from one giver
//! after another. Run as `board_model.rs`.
#![cfg(loom)]

use evenkeel_segment::relay::{Part, Relay, Wanted, ring_offset};
use evenkeel_segment::sync::{AtomicU64, Words};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use std::cell::RefCell;

/// Bytes of the ring; in the model each is a word.
const RING: u64 = 1;
/// Bytes that one request wants.
const BYTES: u64 = 2;

struct Memory {
    /// The control words, by their offsets, in the order in which they were first used.
    offsets: std::sync::Mutex<Vec<usize>>,
    words: Vec<AtomicU64>,
    ring: Vec<UnsafeCell<u64>>,
}

#[derive(Clone)]
struct Shared(Arc<Memory>);

impl Words for Shared {
    fn word(&self, offset: usize) -> &AtomicU64 {
        let mut offsets = self.0.offsets.lock().unwrap();
        let known = offsets.iter().position(|&at| at == offset);
        let index = known.unwrap_or_else(|| {
            offsets.push(offset);
            offsets.len() - 1
        });
        &self.0.words[index]
    }
}

fn relay() -> Shared {
    Shared(Arc::new(Memory {
        offsets: std::sync::Mutex::default(),
        words: (0..9).map(|_| AtomicU64::new(0)).collect(),
        ring: (0..RING).map(|_| UnsafeCell::new(0)).collect(),
    }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    /// The giver does not ask whether the request is for it.
    AskingWhose,
    /// The owner asks again before it has everything.
    WaitingForTheEnd,
}

/// One thread asks `givers` others in turn, each for its own bytes.
fn ask_in_turn(givers: u64, left_out: LeftOut) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(if givers > 1 { 1 } else { 3 });
    builder.max_branches = 100_000;
    builder.check(move || {
        let shared = relay();
        let others: Vec<_> = (1..=givers)
            .map(|me| {
                let memory = shared.clone();
                thread::spawn(move || {
                    let relay = Relay::with_ring(memory.clone(), RING);
                    let mut given = 0;
                    while given < BYTES as usize {
                        given += relay.give(
                            |wanted| left_out == LeftOut::AskingWhose || wanted.giver == me,
                            |_, part| put(&memory, me, part),
                        );
                        thread::yield_now();
                    }
                })
            })
            .collect();
        let relay = Relay::with_ring(shared.clone(), RING);
        for giver in 1..=givers {
            let address = giver * 100;
            relay.ask(&Wanted { giver, comm: 1, seq: giver, address, bytes: BYTES });
            let got = RefCell::new(Vec::new());
            while !relay.is_over() && !(left_out == LeftOut::WaitingForTheEnd && !got.borrow().is_empty()) {
                relay.take(|part| get(&shared, part, &got));
                thread::yield_now();
            }
            assert_eq!(got.into_inner(), (0..BYTES).map(|n| address + n).collect::<Vec<_>>());
        }
        for other in others {
            other.join().unwrap();
        }
    });
}

/// The number of the ring's word at this place of the block.
fn index(place: usize) -> usize {
    place - ring_offset()
}

fn put(memory: &Shared, me: u64, part: Part) {
    for n in 0..part.bytes {
        let value = me * 100 + (part.offset + n) as u64;
        // SAFETY: the access is what is under test; loom checks it.
        memory.0.ring[index(part.place + n)].with_mut(|word| unsafe { *word = value });
    }
}

fn get(memory: &Shared, part: Part, got: &RefCell<Vec<u64>>) {
    for n in 0..part.bytes {
        // SAFETY: as above.
        let value = memory.0.ring[index(part.place + n)].with(|word| unsafe { *word });
        got.borrow_mut().push(value);
    }
}

#[test]
fn what_is_wanted_comes_in_parts() {
    ask_in_turn(1, LeftOut::Nothing);
}

#[test]
fn a_giver_that_looks_late_gives_nothing_to_another_request() {
    ask_in_turn(2, LeftOut::Nothing);
}

#[test]
#[should_panic]
fn a_giver_that_does_not_ask_whose_request_it_is_gives_the_wrong_bytes() {
    ask_in_turn(2, LeftOut::AskingWhose);
}

#[test]
#[should_panic]
fn a_request_must_be_over_before_the_next_one() {
    ask_in_turn(2, LeftOut::WaitingForTheEnd);
}
