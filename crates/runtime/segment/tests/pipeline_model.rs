//! Pipelines under loom: every chunk of a message arrives once and whole, whichever end copies it, whichever
//! is slow, and whatever the pipeline was used for before. Run as `board_model.rs`.
#![cfg(loom)]

use evenkeel_segment::pipeline::{Claimed, Part, Receiver, Sender};
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

struct Memory {
    /// The control words, by their offsets, in the order in which they were first used.
    offsets: std::sync::Mutex<Vec<usize>>,
    words: Vec<AtomicU64>,
    slots: Vec<UnsafeCell<u64>>,
    /// For each message, by its token: 1 when its sender has been answered.
    answers: Vec<AtomicU64>,
    /// What the sender would send. It overwrites this when it has been answered.
    data: Vec<UnsafeCell<u64>>,
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

const MESSAGES: u64 = 2;
const OVERWRITTEN: u64 = 9999;

fn shared(slots: usize) -> Shared {
    Shared(Arc::new(Memory {
        offsets: std::sync::Mutex::default(),
        words: (0..6).map(|_| AtomicU64::new(0)).collect(),
        slots: (0..slots).map(|_| UnsafeCell::new(0)).collect(),
        answers: (0..MESSAGES).map(|_| AtomicU64::new(0)).collect(),
        data: (0..MESSAGES).map(|token| UnsafeCell::new(100 * token)).collect(),
    }))
}

impl Shared {
    /// What stands in this chunk of a message: read from its sender's memory.
    fn read(&self, token: u64, chunk: usize) -> u64 {
        // SAFETY: the access is what is under test; loom checks it.
        self.0.data[token as usize].with(|data| unsafe { *data }) + chunk as u64
    }
}

/// What is left out of the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    /// The receiver gives a slot back before it has read it.
    ReadingFirst,
    /// The sender publishes before it has copied.
    CopyingFirst,
    /// The receiver answers before the pipeline is closed, and before it has copied everything.
    ClosingFirst,
}

fn send_all(shared: &Shared, slots: usize, messages: u64, left_out: LeftOut) {
    let sender = Sender::with_slots(shared.clone(), slots);
    let mut answered = 0;
    while answered < messages {
        if let Some(claimed) = sender.claim() {
            let Claimed { token, chunk, slot, .. } = claimed;
            if left_out == LeftOut::CopyingFirst {
                sender.publish(&claimed);
            }
            let value = shared.read(token, chunk);
            // SAFETY: the access is what is under test; loom checks it.
            shared.0.slots[slot].with_mut(|word| unsafe { *word = value });
            if left_out != LeftOut::CopyingFirst {
                sender.publish(&claimed);
            }
        }
        for token in 0..messages {
            // A program uses its buffer for other things as soon as the message has been received.
            let answer = &shared.0.answers[token as usize];
            if answer.load(Ordering::Acquire) == 1 {
                answer.store(2, Ordering::Relaxed);
                // SAFETY: as above.
                shared.0.data[token as usize].with_mut(|data| unsafe { *data = OVERWRITTEN });
                answered += 1;
            }
        }
        thread::yield_now();
    }
}

/// Receives a message. `patience` says how often it waits for the sender; a message of which not even the
/// first chunk is wanted is left after that one.
fn receive(
    shared: &Shared,
    slots: usize,
    token: u64,
    chunks: usize,
    mut patience: u32,
    left_out: LeftOut,
) -> bool {
    let mut got = vec![None; chunks];
    let answer = || shared.0.answers[token as usize].store(1, Ordering::Release);
    let Some(mut receiver) = Receiver::with_slots(shared.clone(), slots, token, chunks) else {
        (0..chunks).for_each(|chunk| assert_eq!(shared.read(token, chunk), 100 * token + chunk as u64));
        answer();
        return false;
    };
    let mut parts = 0;
    while let Some(part) = receiver.next(|| {
        thread::yield_now();
        patience = patience.saturating_sub(1);
        patience > 0
    }) {
        parts += 1;
        match part {
            Part::Slot { chunk, slot } => {
                if left_out == LeftOut::ReadingFirst {
                    receiver.taken();
                }
                // SAFETY: as in `send_all`.
                let value = shared.0.slots[slot].with(|word| unsafe { *word });
                assert_eq!(got[chunk].replace(value), None, "chunk {chunk} came twice");
                if left_out != LeftOut::ReadingFirst {
                    receiver.taken();
                }
            }
            Part::Fetch { chunk, chunks } => {
                for chunk in chunk..chunk + chunks {
                    let value = shared.read(token, chunk);
                    assert_eq!(got[chunk].replace(value), None, "chunk {chunk} came twice");
                }
            }
        }
        if left_out == LeftOut::ClosingFirst && parts == 1 {
            answer();
        }
    }
    drop(receiver);
    if left_out != LeftOut::ClosingFirst {
        answer();
    }
    for (chunk, value) in got.into_iter().enumerate() {
        assert_eq!(value, Some(100 * token + chunk as u64));
    }
    true
}

fn every_interleaving(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 100_000;
    builder.check(body);
}

/// One thread sends messages of so many chunks; another one receives them one after the other.
fn one_after_the_other(slots: usize, messages: u64, chunks: usize, patience: u32, left_out: LeftOut) {
    every_interleaving(if messages > 1 { 2 } else { 3 }, move || {
        let shared = shared(slots);
        let theirs = shared.clone();
        let sender = thread::spawn(move || send_all(&theirs, slots, messages, left_out));
        for token in 0..messages {
            receive(&shared, slots, token, chunks, patience, left_out);
        }
        sender.join().unwrap();
    });
}

#[test]
fn every_chunk_arrives_once() {
    one_after_the_other(1, 1, 3, 3, LeftOut::Nothing);
}

#[test]
fn several_slots_are_filled_ahead() {
    one_after_the_other(2, 1, 3, 2, LeftOut::Nothing);
}

#[test]
fn a_slow_sender_is_not_waited_for() {
    one_after_the_other(1, 1, 2, 0, LeftOut::Nothing);
}

#[test]
fn a_late_sender_does_not_disturb_the_next_message() {
    one_after_the_other(1, 2, 2, 0, LeftOut::Nothing);
}

#[test]
fn only_one_of_two_receivers_gets_the_pipeline() {
    every_interleaving(2, || {
        let shared = shared(1);
        let theirs = shared.clone();
        let other = thread::spawn(move || receive(&theirs, 1, 1, 2, 0, LeftOut::Nothing));
        let mine = receive(&shared, 1, 0, 2, 0, LeftOut::Nothing);
        let both = other.join().unwrap() && mine;
        // Both get it, one after the other, if nothing is claimed for the wrong message meanwhile.
        let sender = Sender::with_slots(shared.clone(), 1);
        assert_eq!(sender.claim(), None, "the pipeline is open after the last message (both: {both})");
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_slot_must_be_read_before_it_is_given_back() {
    one_after_the_other(1, 1, 3, 3, LeftOut::ReadingFirst);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_chunk_must_be_copied_before_it_is_published() {
    one_after_the_other(1, 1, 2, 3, LeftOut::CopyingFirst);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn the_pipeline_must_be_closed_before_the_sender_is_answered() {
    one_after_the_other(1, 1, 3, 1, LeftOut::ClosingFirst);
}
