//! Statements of nodes, the socket that ranks take turns in reading, and what they read for each other, under
//! loom: every interleaving of a few ranks, every reordering the memory model allows.
//!
//! Run as `board_model.rs`. Each rule has a twin test in which it is left out, and loom must find the error.
#![cfg(loom)]

mod loom_memory;

use evenkeel_segment::datagrams::{Datagrams, Thread};
use evenkeel_segment::layout::{DATAGRAMS_AT, HEAD_BYTES, LINE, PAGE};
use evenkeel_segment::statements::{DATA_BYTES, StatementGeometry, Statements};
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};
use evenkeel_segment::unclaimed::{Place, Unclaimed};
use evenkeel_segment::waiters::Kind;
use loom::thread;
use loom_memory::every_interleaving;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The words that these tests use, by their offsets.
struct Memory(HashMap<usize, AtomicU64>);

impl Memory {
    fn at(offset: usize, bytes: usize) -> Memory {
        let words = (offset..offset + bytes).step_by(8);
        Memory(words.map(|at| (at, AtomicU64::new(0))).collect())
    }
}

impl Words for Memory {
    fn word(&self, offset: usize) -> &AtomicU64 {
        &self.0[&offset]
    }
}

/// Statements with a window of one collective: of two words each, a description and a number.
fn statements(members: usize) -> Statements<Memory> {
    let geometry = StatementGeometry::with(members, 2, 1);
    Statements { memory: Memory::at(0, geometry.total_bytes), geometry }
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

fn thread_of(me: usize) -> Thread {
    Thread::new(me, 1)
}

/// The first rank reads, takes what has come for both, and goes; the second one waits. It tries once to read,
/// and then sleeps until it is woken.
fn the_reader_goes(begins_to_wait: bool) {
    every_interleaving(
        2,
        || (Memory::at(DATAGRAMS_AT, PAGE), AtomicU64::new(0)),
        move |(memory, woken), me| {
            let datagrams = Datagrams::new(memory);
            if me == 0 {
                datagrams.begin_waiting();
                until(|| datagrams.try_read(thread_of(0)));
                if datagrams.end_waiting(thread_of(0)) {
                    woken.store(1, Ordering::SeqCst);
                }
                return;
            }
            if begins_to_wait {
                datagrams.begin_waiting();
            }
            if !datagrams.try_read(thread_of(1)) {
                until(|| woken.load(Ordering::SeqCst) == 1);
            }
            datagrams.stop_reading(thread_of(1));
            if begins_to_wait {
                datagrams.end_waiting_awake();
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

/// The reader goes, and wakes one of two ranks that sleep. The one has what it waits for, and goes, too,
/// perhaps woken; then the other one has to be woken. `go` is how the one goes: whether it wakes another.
fn the_woken_rank_goes(go: impl Fn(&Datagrams<'_, Memory>) -> bool + Send + Sync + 'static) {
    every_interleaving(
        3,
        || (Memory::at(DATAGRAMS_AT, PAGE), AtomicU64::new(0)),
        move |(memory, wake_ups), me| {
            let datagrams = Datagrams::new(memory);
            let take = || wake_ups.compare_exchange(1, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok();
            datagrams.begin_waiting();
            let wakes = match me {
                0 => datagrams.try_read(thread_of(0)) && datagrams.end_waiting(thread_of(0)),
                1 => {
                    take();
                    go(&datagrams)
                }
                _ => {
                    if !datagrams.try_read(thread_of(2)) {
                        until(take);
                    }
                    false
                }
            };
            if wakes {
                wake_ups.store(1, Ordering::SeqCst);
            }
        },
    );
}

#[test]
fn a_rank_that_was_woken_to_read_and_goes_wakes_another_one() {
    the_woken_rank_goes(|datagrams| datagrams.end_waiting(thread_of(1)));
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_rank_that_keeps_its_wake_up_leaves_another_one_asleep() {
    the_woken_rank_goes(|datagrams| {
        datagrams.end_waiting_awake();
        false
    });
}

/// A reader falls asleep at the socket while another rank, which need not be the reader, takes what has come
/// for it. It must see that, or be woken. `is_there` is how the other one asks whether there is anyone to
/// wake.
fn the_reader_sleeps(is_there: impl Fn(&Datagrams<'_, Memory>, Kind) -> bool + Send + Sync + 'static) {
    every_interleaving(
        2,
        || (Memory::at(DATAGRAMS_AT, PAGE), [0, 1].map(|_| AtomicU64::new(0))),
        move |(memory, [come, nudge]), me| {
            let (datagrams, kind) = (Datagrams::new(memory), Kind::from_number(3));
            if me == 0 {
                if datagrams.try_read(thread_of(0)) {
                    if datagrams.fall_asleep(thread_of(0), kind) && come.load(Ordering::Acquire) == 0 {
                        until(|| nudge.load(Ordering::Relaxed) == 1);
                    }
                    datagrams.wake_up(thread_of(0), kind);
                }
            } else {
                come.store(1, Ordering::Release);
                if is_there(&datagrams, kind) {
                    nudge.store(1, Ordering::Relaxed);
                }
            }
        },
    );
}

#[test]
fn a_reader_that_sleeps_at_the_socket_is_woken_or_has_seen_what_was_taken_for_it() {
    the_reader_sleeps(|datagrams, kind| datagrams.sleep_at_socket(kind.into()));
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn without_a_fence_a_reader_that_sleeps_is_overlooked() {
    the_reader_sleeps(|datagrams, _| datagrams.any_at_socket());
}

/// Unclaimed datagrams, of which one is kept.
fn unclaimed() -> Unclaimed<Memory> {
    Unclaimed::with(Memory::at(HEAD_BYTES, PAGE), 1)
}

/// A rank writes a datagram when its place has been used again; `write` is how. Who reads finds the later
/// one, and all of it.
fn a_late_datagram(write: impl Fn(&Unclaimed<Memory>) + Send + Sync + 'static) -> bool {
    let verdict = Verdict::default();
    let seen = verdict.clone();
    every_interleaving(
        2,
        || {
            let all = unclaimed();
            assert_eq!(all.claim(), 0);
            all
        },
        move |all, me| {
            if me == 1 {
                return write(all);
            }
            let mut found = Vec::new();
            all.leave(Kind::from_number(0), &[2; 8]);
            for _ in 0..2 {
                verdict.expect(all.read(1, &mut found) == Place::Datagram && found == [2; 8]);
                verdict.expect(all.read(0, &mut found) == Place::Gone);
                thread::yield_now();
            }
        },
    );
    seen.is_right()
}

#[test]
fn a_datagram_that_is_left_late_replaces_nothing() {
    assert!(a_late_datagram(|all| all.write(0, Kind::from_number(0), &[1; 8])));
}

#[test]
fn storing_a_late_datagram_mixes_two() {
    let is_right = a_late_datagram(|all| {
        let first = HEAD_BYTES + LINE + Kind::COUNT * 8;
        all.memory.word(first + 8).store(1 << 32 | 7, Ordering::Relaxed);
    });
    assert!(!is_right);
}

/// A rank leaves a datagram while another one reads what there is. If that one finds all of it, it knows of
/// what the first one has done before.
#[test]
fn a_datagram_is_found_whole_or_not_at_all() {
    let verdict = Verdict::default();
    let seen = verdict.clone();
    every_interleaving(
        2,
        || (unclaimed(), AtomicU64::new(0)),
        move |(all, before), me| {
            let mut found = Vec::new();
            if me == 1 {
                before.store(1, Ordering::Relaxed);
                all.leave(Kind::from_number(0), &[3; 8]);
            } else if all.end() == 1 && all.read(0, &mut found) == Place::Datagram {
                verdict.expect(found == [3; 8] && before.load(Ordering::Relaxed) == 1);
            }
        },
    );
    assert!(seen.is_right());
}
