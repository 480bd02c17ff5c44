//! A put's flag is never visible before its data. One thread puts again and again; another looks at flag and
//! data at any moment.

use evenkeel_fabric::segment_wire::bytes_needed;
use evenkeel_fabric::ucx::{UcxError, library, open};
use evenkeel_fabric::{Event, NodeId, SegmentWire, Wire, WordWrite};
use evenkeel_segment::Segment;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const MEMORY: usize = 1 << 16;
const LENGTH: usize = 20_000;
const PUTS: u8 = 200;

/// Puts 1, 2, …, each into all bytes and then into the flag. So no byte is ever below a flag that was
/// seen before the byte was read.
fn flags_come_last<W: Wire + Send>(mut from: W, to: W) {
    let (over, looks) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let (over, looks) = (&over, &looks);
        let reader = scope.spawn(move || {
            let mut to = to;
            while !over.load(Ordering::Relaxed) {
                assert_eq!(to.poll(), None);
                let flag = to.memory().load(0);
                let least = to.memory().bytes(64, LENGTH).into_iter().min().unwrap();
                assert!(u64::from(least) >= flag, "{least} is there, and the flag says {flag}");
                looks.fetch_add(usize::from(flag > 0 && flag < u64::from(PUTS)), Ordering::Relaxed);
            }
        });
        for value in 1..=PUTS {
            let ticket = from
                .put(NodeId(1), 64, &[value; LENGTH], Some(WordWrite { at: 0, value: value.into() }))
                .unwrap();
            while from.poll() != Some(Event::Completed { ticket, fetched: 0 }) && !reader.is_finished() {
                std::thread::yield_now();
            }
            // On a busy machine the reader may not have run yet.
            while value == PUTS / 2 && looks.load(Ordering::Relaxed) == 0 && !reader.is_finished() {
                std::thread::yield_now();
            }
        }
        over.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
}

#[test]
fn in_a_segment() {
    let segment = Arc::new(Segment::create(bytes_needed(2, MEMORY).unwrap(), 1).unwrap());
    let wire = |node| SegmentWire::new(Arc::clone(&segment), NodeId(node), 2, MEMORY).unwrap();
    flags_come_last(wire(0), wire(1));
}

#[test]
fn over_ucx() {
    if let Err(error @ (UcxError::NoLibrary(_) | UcxError::TooOld(_))) = library() {
        return println!("skipped: {error}");
    }
    let (a, b) = (open(2, MEMORY, &[]).unwrap(), open(2, MEMORY, &[]).unwrap());
    let addresses = [a.address().to_vec(), b.address().to_vec()];
    flags_come_last(a.connect(NodeId(0), &addresses).unwrap(), b.connect(NodeId(1), &addresses).unwrap());
}
