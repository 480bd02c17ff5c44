//! Memory of a block under loom. Used by more than one test.

use evenkeel_segment::eventcount::Futex;
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// A block's control words, and a futex made of condition variables, by what threads sleep for: for what is
/// announced to all, for room, for either.
pub struct Model {
    words: Vec<AtomicU64>,
    asleep: Mutex<()>,
    woken: Condvar,
    woken_for_room: Condvar,
    woken_for_either: Condvar,
}

impl Model {
    pub fn new(bytes: usize) -> Model {
        Model {
            words: (0..bytes / 64 * 2).map(|_| AtomicU64::new(0)).collect(),
            asleep: Mutex::new(()),
            woken: Condvar::new(),
            woken_for_room: Condvar::new(),
            woken_for_either: Condvar::new(),
        }
    }
}

impl Words for Model {
    fn word(&self, offset: usize) -> &AtomicU64 {
        &self.words[offset / 64 * 2 + (offset / 8 % 8).min(1)] // no line has more than two words in use
    }
}

const EVENTCOUNT_AT: usize = 64;
const FOR_ROOM: u32 = 1 << 31;

impl Model {
    fn wait_at(&self, condition: &Condvar, seen: u64) {
        // As in the kernel, comparing and going to sleep are one step for threads that wake. There is no
        // timeout: a lost wake-up must show as a deadlock.
        let guard = self.asleep.lock().unwrap();
        if self.word(EVENTCOUNT_AT).load(Ordering::SeqCst) == seen {
            drop(condition.wait(guard).unwrap());
        }
    }
}

impl Futex for Model {
    fn wait(&self, seen: u64, _timeout_ns: u64) {
        self.wait_at(&self.woken_for_either, seen);
    }

    fn wake_all(&self) {
        self.wake(i32::MAX as u32, u32::MAX);
    }

    fn wait_as(&self, bits: u32, seen: u64, _timeout_ns: u64) {
        let condition = match (bits & FOR_ROOM != 0, bits & !FOR_ROOM != 0) {
            (true, true) => &self.woken_for_either,
            (true, false) => &self.woken_for_room,
            _ => &self.woken,
        };
        self.wait_at(condition, seen);
    }

    fn wake(&self, _most: u32, bits: u32) {
        let _guard = self.asleep.lock().unwrap();
        if bits & FOR_ROOM != 0 {
            self.woken_for_room.notify_all();
        }
        if bits & !FOR_ROOM != 0 {
            self.woken.notify_all();
        }
        self.woken_for_either.notify_all();
    }

    fn membarrier(&self) {
        unreachable!("the model uses fences on both sides; membarrier is their stand-in on hot paths")
    }
}

/// Every interleaving of what these ranks do with what `make` makes, as far as the checker can go.
pub fn every_interleaving<T: Send + Sync + 'static>(
    ranks: usize,
    make: impl Fn() -> T + Send + Sync + 'static,
    body: impl Fn(&T, usize) + Send + Sync + 'static,
) {
    let mut builder = loom::model::Builder::new();
    // Three ranks with three preemptions take many minutes.
    builder.preemption_bound = Some(if ranks > 2 { 2 } else { 3 });
    builder.max_branches = 100_000;
    let body = std::sync::Arc::new(body);
    builder.check(move || {
        let shared = Arc::new(make());
        let others: Vec<_> = (1..ranks)
            .map(|rank| {
                let (shared, body) = (shared.clone(), body.clone());
                thread::spawn(move || body(&shared, rank))
            })
            .collect();
        body(&shared, 0);
        for other in others {
            other.join().unwrap();
        }
    });
}
