//! The line that says which call a process is in, under loom: a reader never sees a torn one. Run as
//! `model.rs`.
#![cfg(loom)]

use evenkeel_segment::call_line::{self, CallLine, CurrentCall};
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};

/// Few words of a segment in use: those of the first line of process 0.
struct Line([AtomicU64; 16]);

impl Words for Line {
    fn word(&self, offset: usize) -> &AtomicU64 {
        &self.0[(offset - call_line::offset(0)) / 8]
    }
}

fn call(number: u64) -> CurrentCall {
    CurrentCall { name: number, communicator: number, peer: number as i32, tag: 0, wait: None }
}

/// A writer is in two calls, one after the other, while a reader looks with loads of this order.
fn a_reader_looks(order: Ordering) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let line = loom::sync::Arc::new(Line(std::array::from_fn(|_| AtomicU64::new(0))));
        let written = line.clone();
        let writer = loom::thread::spawn(move || {
            let line = CallLine::new(&*written, 0, false);
            for number in 1..3 {
                assert!(line.begin(&call(number)));
                line.end();
            }
        });
        let mut looks = 0;
        // Each look that fails is repeated by `look` itself; loom explores but a few of them.
        let sight = call_line::look(0, |offset, words| {
            looks += 1;
            // The words that this test writes are enough, and keep the number of states small.
            for i in (0..words.len()).filter(|i| *i < 3) {
                words[i] = line.word(offset + 8 * i).load(order);
            }
            (looks <= 6).then_some(())
        });
        if let Some(found) = sight.and_then(|sight| sight.call) {
            assert_eq!(found.name, found.communicator, "torn");
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_reader_never_sees_a_torn_line() {
    a_reader_looks(Ordering::Acquire);
}

#[test]
#[should_panic(expected = "torn")]
fn with_relaxed_loads_it_does() {
    a_reader_looks(Ordering::Relaxed);
}
