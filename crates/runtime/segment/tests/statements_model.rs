//! Statements of nodes, and the socket that ranks take turns in reading, under loom: every interleaving of a
//! few ranks, every reordering the memory model allows.
//!
//! Run as `board_model.rs`. Each rule has a twin test in which it is left out, and loom must find the error.
#![cfg(loom)]

mod loom_memory;

use evenkeel_segment::datagrams::Datagrams;
use evenkeel_segment::layout::DATAGRAMS_AT;
use evenkeel_segment::statements::{DATA_BYTES, StatementGeometry, Statements};
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};
use loom::thread;
use loom_memory::every_interleaving;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The words that these tests use, by their offsets.
struct Memory(HashMap<usize, AtomicU64>);

impl Words for Memory {
    fn word(&self, offset: usize) -> &AtomicU64 {
        &self.0[&offset]
    }
}

/// Statements with a window of one collective: of two words each, a description and a number.
fn statements(members: usize) -> Statements<Memory> {
    let geometry = StatementGeometry::with(members, 2, 1);
    let words = (0..geometry.total_bytes).step_by(8);
    Statements { memory: Memory(words.map(|at| (at, AtomicU64::new(0))).collect()), geometry }
}

/// Whether anything was wrong in any interleaving. An assertion that fails while other threads have not begun
/// would end the whole test.
#[derive(Clone, Default)]
struct Verdict(Arc<AtomicBool>);

impl Verdict {
    fn expect(&self, condition: bool) {
        self.0.fetch_or(!condition, std::sync::atomic::Ordering::SeqCst);
    }

    fn is_right(&self) -> bool {
        !self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

fn until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

const CONTENT: [[u8; 4]; 2] = [[1; 4], [2; 4]];

fn read(all: &Statements<Memory>, number: u64) -> Option<u8> {
    let mut data = [0; DATA_BYTES];
    let is_there = all.described(number, 1) == Some(number as u32) && all.read(number, 1, 4, &mut data);
    is_there.then_some(data[0])
}

/// Two processes write down what node 1 says in collective 5 and in the one that takes its place, the second
/// one late. `write_late` is how it writes.
fn a_late_writer(write_late: impl Fn(&Statements<Memory>) + Send + Sync + 'static) -> bool {
    let verdict = Verdict::default();
    let seen = verdict.clone();
    every_interleaving(
        2,
        || statements(1),
        move |all, process| match process {
            0 => {
                all.state(5, 1, 5, &CONTENT[0]);
                verdict.expect(read(all, 5) == Some(1));
                all.state(6, 1, 6, &CONTENT[1]);
                for _ in 0..2 {
                    verdict.expect(read(all, 6) == Some(2));
                    thread::yield_now();
                }
            }
            _ => write_late(all),
        },
    );
    seen.is_right()
}

#[test]
fn a_statement_that_is_written_late_replaces_nothing() {
    assert!(a_late_writer(|all| all.state(5, 1, 5, &CONTENT[0])));
}

#[test]
fn storing_without_comparing_loses_a_statement() {
    let is_right = a_late_writer(|all| {
        let at = all.geometry.statement(5, 1);
        for (word, value) in [5, u64::from(u32::from_le_bytes(CONTENT[0]))].into_iter().enumerate() {
            all.memory.word(at + word * 8).store(6 << 32 | value, Ordering::Relaxed);
        }
    });
    assert!(!is_right);
}

/// Three ranks deposit; the last one to arrive sees what all have deposited. `arrive` counts.
fn the_last_of_three(arrive: impl Fn(&Statements<Memory>) -> bool + Send + Sync + 'static) -> bool {
    let verdict = Verdict::default();
    let seen = verdict.clone();
    every_interleaving(
        3,
        || statements(3),
        move |all, me| {
            all.deposit(0, me, 7, &[me as u8 + 1; 4]);
            if arrive(all) {
                for member in 0..3 {
                    let mut data = [0; DATA_BYTES];
                    verdict.expect(all.deposited(0, member, 4, &mut data) == 7);
                    verdict.expect(data[0] == member as u8 + 1);
                }
            }
        },
    );
    seen.is_right()
}

#[test]
fn the_last_rank_to_arrive_sees_all_deposits() {
    assert!(the_last_of_three(|all| all.arrive(0)));
}

#[test]
fn counting_without_publishing_shows_no_deposits() {
    let count = |all: &Statements<Memory>| {
        all.memory.word(all.geometry.slot(0)).fetch_add(1, Ordering::Relaxed) + 1 == 3
    };
    assert!(!the_last_of_three(count));
}

/// Two ranks carry out two collectives, of which the second one takes the place of the first. `leave` says
/// that a rank has finished one.
fn two_in_one_place(leave: impl Fn(&Statements<Memory>, u64) + Send + Sync + 'static) -> bool {
    let verdict = Verdict::default();
    let seen = verdict.clone();
    every_interleaving(
        2,
        || statements(2),
        move |all, me| {
            for number in 0..2 {
                until(|| all.has_room_here(number));
                all.deposit(number, me, number as u32, &[number as u8; 4]);
                if all.arrive(number) {
                    let mut data = [0; DATA_BYTES];
                    for member in 0..2 {
                        verdict.expect(all.deposited(number, member, 4, &mut data) == number as u32);
                        verdict.expect(data[0] == number as u8);
                    }
                }
                leave(all, number);
            }
        },
    );
    seen.is_right()
}

#[test]
fn a_place_is_used_again_when_all_have_left_it() {
    assert!(two_in_one_place(|all, number| {
        all.leave(number);
    }));
}

#[test]
fn a_place_that_is_used_again_too_early_has_wrong_data() {
    let is_right = two_in_one_place(|all, number| {
        // The first rank that leaves makes room.
        let finished = all.geometry.finished();
        all.memory.word(finished).fetch_max(number + 1, Ordering::AcqRel);
    });
    assert!(!is_right);
}

/// The first rank reads, takes what has come for both, and stops reading; the second one waits. `begin` is
/// what it does first. `true` in the word: it has been woken, or reads itself.
fn the_reader_goes(begins_to_wait: bool) {
    every_interleaving(
        2,
        || {
            let at = DATAGRAMS_AT;
            let words = (at..at + 512).step_by(8);
            (Memory(words.map(|at| (at, AtomicU64::new(0))).collect()), AtomicU64::new(0))
        },
        move |(memory, woken), me| {
            let datagrams = Datagrams::new(memory);
            if me == 0 {
                until(|| datagrams.try_read(0));
                if datagrams.stop_reading(0) {
                    woken.store(1, Ordering::SeqCst);
                }
                return;
            }
            if begins_to_wait {
                datagrams.begin_waiting();
            }
            // It tries once, and then sleeps until it is woken.
            if !datagrams.try_read(1) {
                until(|| woken.load(Ordering::SeqCst) == 1);
            } else {
                datagrams.stop_reading(1);
            }
        },
    );
}

#[test]
fn a_reader_that_goes_wakes_a_rank_that_waits() {
    the_reader_goes(true);
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_rank_that_does_not_say_that_it_waits_is_not_woken() {
    the_reader_goes(false);
}
