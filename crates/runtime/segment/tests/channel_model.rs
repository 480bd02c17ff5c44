//! Channels under loom: records through the smallest ring, more of them than it holds.
//!
//! Run as `board_model.rs`. The first word of a line is a header at one time and payload at another: in this
//! model both go to one atomic word, so that what is left of an old record could be taken for a header.
//! All other payload is in cells whose every access loom checks.
#![cfg(loom)]

use evenkeel_segment::channel::{Bytes, Reader, Record, Writer, notify};
use evenkeel_segment::eventcount::{self, Fencing, Futex};
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use std::collections::VecDeque;

const LINE: usize = 64;
const RING: usize = 4 * LINE;
/// Where the eventcount's block begins; the ring lies in front of it.
const EVENTCOUNT: usize = LINE + RING;

struct Memory {
    /// First words of lines: of the reader's line, the ring, and the eventcount's block.
    words: Vec<AtomicU64>,
    /// The other seven words of each line.
    cells: Vec<UnsafeCell<u64>>,
    asleep: Mutex<()>,
    woken: Condvar,
}

// SAFETY: the cells are what the protocol under test must protect; loom checks each access.
unsafe impl Sync for Memory {}
// SAFETY: as above.
unsafe impl Send for Memory {}

#[derive(Clone)]
struct Shared {
    memory: Arc<Memory>,
    base: usize,
}

impl Words for Shared {
    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!((self.base + offset) % LINE == 0, "only first words of lines are atomic");
        &self.memory.words[(self.base + offset) / LINE]
    }
}

impl Bytes for Shared {
    /// The offset itself: the model has no addresses.
    fn byte(&self, offset: usize) -> *mut u8 {
        offset as *mut u8
    }

    unsafe fn put(&self, offset: usize, part: &[u8]) {
        for (i, eight) in part.chunks(8).enumerate() {
            let (at, word) = (offset + 8 * i, u64::from_ne_bytes(eight.try_into().expect("whole words")));
            if at % LINE == 0 {
                self.word(at).store(word, Ordering::Relaxed);
            } else {
                // SAFETY: the access is what is under test; loom checks it.
                self.memory.cells[at / 8].with_mut(|p| unsafe { *p = word });
            }
        }
    }
}

impl Shared {
    fn get(&self, at: usize) -> u64 {
        if at % LINE == 0 {
            self.word(at).load(Ordering::Relaxed)
        } else {
            // SAFETY: as above.
            self.memory.cells[at / 8].with(|p| unsafe { *p })
        }
    }
}

const EVENTCOUNT_AT: usize = LINE;

impl Futex for Shared {
    fn wait(&self, seen: u64, _timeout_ns: u64) {
        let guard = self.memory.asleep.lock().unwrap();
        if self.word(EVENTCOUNT_AT).load(Ordering::SeqCst) == seen {
            // There is no timeout: a lost wake-up must show as a deadlock
            drop(self.memory.woken.wait(guard).unwrap());
        }
    }

    fn wake_all(&self) {
        let _guard = self.memory.asleep.lock().unwrap();
        self.memory.woken.notify_all();
    }

    fn membarrier(&self) {
        unreachable!("the model uses fences on both sides")
    }
}

/// Words of the payload of record `n`.
fn payload(n: u64) -> [u64; 2] {
    [n, n + 1000]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    ZeroingAhead,
    ReadingBeforeAdvancing,
    Notifying,
}

fn check(ring: &Shared, record: Record, n: u64) {
    assert_eq!((record.kind, record.bytes), (1 + n as u8, 16));
    for (i, &word) in payload(n).iter().enumerate() {
        assert_eq!(ring.get(record.payload as usize + 8 * i), word);
    }
}

impl Memory {
    fn new() -> Memory {
        let lines = (EVENTCOUNT + 4 * LINE) / LINE;
        Memory {
            words: (0..lines).map(|_| AtomicU64::new(0)).collect(),
            cells: (0..lines * 8).map(|_| UnsafeCell::new(0)).collect(),
            asleep: Mutex::new(()),
            woken: Condvar::new(),
        }
    }
}

fn write(records: u64, ring: Shared, eventcount: &Shared, left_out: LeftOut) {
    let mut writer = Writer::new(ring, RING, Fencing::Both);
    writer.forgets_to_clear = left_out == LeftOut::ZeroingAhead;
    for n in 0..records {
        let bytes: Vec<u8> = payload(n).iter().flat_map(|w| w.to_ne_bytes()).collect();
        while !writer.write(1 + n as u8, &[&bytes[..8], &bytes[8..]]) {
            thread::yield_now();
        }
        if left_out != LeftOut::Notifying {
            notify(eventcount, Fencing::Both);
        }
    }
}

/// Passes `records` from one thread to the other. `sleeps`: the reader sleeps until a record comes.
fn pass(records: u64, sleeps: bool, left_out: LeftOut) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2); // with three the check takes many minutes
    builder.max_branches = 100_000;
    builder.check(move || {
        let memory = Arc::new(Memory::new());
        let (ring, eventcount) =
            (Shared { memory: memory.clone(), base: 0 }, Shared { memory, base: EVENTCOUNT });
        let (theirs, their_eventcount) = (ring.clone(), eventcount.clone());
        let other = thread::spawn(move || write(records, theirs, &their_eventcount, left_out));
        let mut reader = Reader::new(ring.clone(), RING);
        let mut unread = VecDeque::new();
        for n in 0..records {
            let record = loop {
                match reader.next() {
                    Some(record) => break record,
                    None if sleeps => eventcount::sleep_unless(&eventcount, Fencing::Both, u64::MAX, || {
                        reader.next().is_some()
                    }),
                    None => thread::yield_now(),
                }
            };
            unread.push_back((record, n));
            if left_out != LeftOut::ReadingBeforeAdvancing || unread.len() > 3 {
                let (record, n) = unread.pop_front().unwrap();
                check(&ring, record, n);
            }
            reader.advance(record);
        }
        assert!(reader.next().is_none());
        other.join().unwrap();
    });
}

#[test]
fn records_come_as_they_were_written() {
    pass(6, false, LeftOut::Nothing);
}

#[test]
#[should_panic(expected = "left == right")]
fn without_zeroing_an_old_record_is_taken_for_a_header() {
    pass(6, false, LeftOut::ZeroingAhead);
}

#[test]
#[should_panic(expected = "Concurrent read and write accesses")]
fn a_record_that_is_read_after_advancing_is_overwritten() {
    pass(6, false, LeftOut::ReadingBeforeAdvancing);
}

#[test]
fn a_sleeping_reader_is_woken() {
    pass(2, true, LeftOut::Nothing);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_a_notification_it_sleeps_on() {
    pass(2, true, LeftOut::Notifying);
}
