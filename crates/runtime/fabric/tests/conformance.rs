//! What every wire promises, tested with every wire there is.

use evenkeel_fabric::segment_wire::bytes_needed;
use evenkeel_fabric::tls::{self, TlsWire};
use evenkeel_fabric::ucx::{UcxError, UcxWire, UnconnectedWire, library, open};
use evenkeel_fabric::virtual_network::{Faults, VirtualNetwork};
use evenkeel_fabric::{Atomic, Event, NodeId, SegmentWire, Ticket, Wire, WireError, WordWrite};
use evenkeel_secret::{JobSecret, SECRET_BYTES};
use evenkeel_segment::Segment;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

const MEMORY: usize = 1 << 16;
/// Only ends a test that hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// Wires over UCX within this process; None, with the reason printed, where there is no UCX.
fn over_ucx(nodes: usize, settings: &[(&str, &str)]) -> Option<Vec<UcxWire>> {
    if let Err(error @ (UcxError::NoLibrary(_) | UcxError::TooOld(_))) = library() {
        println!("skipped: {error}");
        return None;
    }
    let unconnected: Vec<_> = (0..nodes).map(|_| open(nodes, MEMORY, settings).unwrap()).collect();
    let addresses: Vec<_> = unconnected.iter().map(|end| end.address().to_vec()).collect();
    let connect =
        |(node, end): (usize, UnconnectedWire)| end.connect(NodeId(node as u32), &addresses).unwrap();
    Some(unconnected.into_iter().enumerate().map(connect).collect())
}

fn in_a_segment(nodes: usize) -> Vec<SegmentWire> {
    let segment = Arc::new(Segment::create(bytes_needed(nodes, MEMORY).unwrap(), 1).unwrap());
    (0..nodes as u32)
        .map(|node| SegmentWire::new(Arc::clone(&segment), NodeId(node), nodes, MEMORY).unwrap())
        .collect()
}

fn over_tls(nodes: usize) -> Vec<TlsWire> {
    let network = "127.0.0.1".parse().unwrap();
    let opened: Vec<_> = (0..nodes).map(|_| tls::open(&network, &(0..=0), MEMORY).unwrap()).collect();
    let addresses: Vec<_> = opened.iter().map(|end| end.address().to_vec()).collect();
    let secret = JobSecret::new([5; SECRET_BYTES]);
    let connect = |(node, end): (usize, tls::UnconnectedWire)| {
        end.connect(NodeId(node as u32), &secret, &addresses).unwrap()
    };
    opened.into_iter().enumerate().map(connect).collect()
}

/// Lets all wires act in turns until `is_enough` of an event.
fn drive<W: Wire>(wires: &mut [W], mut is_enough: impl FnMut(NodeId, Event) -> bool) {
    let end = Instant::now() + PATIENCE;
    loop {
        for wire in wires.iter_mut() {
            while let Some(event) = wire.poll() {
                if is_enough(wire.node(), event) {
                    return;
                }
            }
            wire.wait(Duration::from_micros(100));
        }
        assert!(Instant::now() < end, "an event did not come");
    }
}

fn complete<W: Wire>(wires: &mut [W], ticket: Ticket) -> u64 {
    let mut result = 0;
    drive(wires, |_, event| match event {
        Event::Completed { ticket: completed, fetched } if completed == ticket => {
            result = fetched;
            true
        }
        other => panic!("unexpected: {other:?}"),
    });
    result
}

fn messages<W: Wire>(mut wires: Vec<W>) {
    for (number, length) in [0, 1, 1000, 70_000, 3_000_000].into_iter().enumerate() {
        for (from, to) in [(0, 1), (2, 0), (1, 1)] {
            let sent: Vec<u8> = (0..length).map(|i| (i * 7 + number) as u8).collect();
            // Whole, and in two parts: with a head of no bytes, of some, and of more than UCX's header takes.
            for head in [None, Some(0), Some(40), Some(64), Some(65), Some(900)] {
                match head {
                    None => wires[from].send(NodeId(to), &sent).unwrap(),
                    Some(head) => {
                        let (head, data) = sent.split_at(length.min(head));
                        wires[from].send_parts(NodeId(to), head.to_vec(), data.to_vec().into()).unwrap();
                    }
                }
                drive(&mut wires, |node, event| {
                    assert_eq!(node, NodeId(to));
                    assert!(
                        event == Event::Message { from: NodeId(from as u32), bytes: sent.clone() },
                        "{length} bytes, {head:?} of them as head, are not the same"
                    );
                    true
                });
            }
        }
    }
}

fn puts<W: Wire>(mut wires: Vec<W>) {
    for (round, length) in [0, 1, 8, 5000, MEMORY - 64].into_iter().enumerate() {
        for to in 0..2 {
            let sent: Vec<u8> = (0..length).map(|i| (i * 3 + round) as u8).collect();
            let flag = round as u64 + 100;
            let ticket = wires[0].put(NodeId(to), 64, &sent, Some(WordWrite { at: 8, value: flag })).unwrap();
            assert_eq!(complete(&mut wires, ticket), 0);
            let memory = wires[to as usize].memory();
            assert_eq!(memory.load(8), flag);
            assert!(memory.bytes(64, length) == sent, "{length} bytes are not the same");
            assert_eq!(memory.load(0), 0, "the word beside was touched");
        }
    }
    let ticket = wires[1].put(NodeId(0), 3, b"odd", None).unwrap();
    complete(&mut wires, ticket);
    assert_eq!(wires[0].memory().bytes(3, 3), b"odd");
}

fn atomics<W: Wire>(mut wires: Vec<W>) {
    let all = [
        (Atomic::Add(5), 5),
        (Atomic::Swap(12), 12),
        (Atomic::CompareSwap { expected: 12, new: 7 }, 7),
        (Atomic::CompareSwap { expected: 12, new: 99 }, 7),
        (Atomic::And(6), 6),
        (Atomic::Or(9), 15),
        (Atomic::Xor(5), 10),
        (Atomic::Add(u64::MAX), 9),
    ];
    for from in [1, 2] {
        wires[2].memory().store(16, 0);
        let mut before = 0;
        for (what, after) in all {
            let ticket = wires[from].atomic(NodeId(2), 16, what).unwrap();
            assert_eq!(complete(&mut wires, ticket), before, "{what:?}");
            assert_eq!(wires[2].memory().load(16), after, "{what:?}");
            before = after;
        }
    }
    // All at once: no addition is lost, and each fetches another old value.
    let mut open = HashSet::new();
    for wire in &mut wires {
        for _ in 0..50 {
            open.insert((wire.node(), wire.atomic(NodeId(0), 24, Atomic::Add(1)).unwrap()));
        }
    }
    let mut old = HashSet::new();
    drive(&mut wires, |node, event| {
        let Event::Completed { ticket, fetched } = event else { panic!("unexpected: {event:?}") };
        assert!(open.remove(&(node, ticket)) && old.insert(fetched));
        open.is_empty()
    });
    assert_eq!((wires[0].memory().load(24), old.len()), (150, 150));
}

fn invalid_arguments<W: Wire>(mut wires: Vec<W>) {
    let wire = &mut wires[0];
    assert_eq!(wire.send(NodeId(3), b""), Err(WireError::NoSuchNode(NodeId(3), 3)));
    assert!(matches!(wire.put(NodeId(1), MEMORY - 1, b"ab", None), Err(WireError::OutOfRange { .. })));
    assert!(matches!(wire.put(NodeId(1), usize::MAX, b"ab", None), Err(WireError::OutOfRange { .. })));
    let flag = Some(WordWrite { at: MEMORY - 4, value: 1 });
    assert!(matches!(wire.put(NodeId(1), 0, b"ab", flag), Err(WireError::OutOfRange { .. })));
    assert_eq!(wire.atomic(NodeId(1), 12, Atomic::Add(1)), Err(WireError::Misaligned(12)));
    assert_eq!(wire.poll(), None);
    wire.wait(Duration::from_millis(2));
    assert_eq!(wire.poll(), None);
}

/// Many messages at once, both ways, of all sizes: every message arrives once (these networks duplicate
/// nothing), and none is mixed up with another.
fn many_messages_at_once<W: Wire>(mut wires: Vec<W>) {
    let mut expected: HashMap<(NodeId, Vec<u8>), usize> = HashMap::new();
    for number in 0..300_usize {
        let (from, to) = (number % 3, (number / 3) % 3);
        let bytes: Vec<u8> = (0..(number * number) % 30_000).map(|i| (i ^ number) as u8).collect();
        wires[from].send(NodeId(to as u32), &bytes).unwrap();
        *expected.entry((NodeId(to as u32), bytes)).or_default() += 1;
    }
    let mut left = 300;
    drive(&mut wires, |node, event| {
        let Event::Message { bytes, .. } = event else { panic!("unexpected: {event:?}") };
        let count = expected.get_mut(&(node, bytes)).expect("a message that was sent");
        assert!(*count > 0);
        (*count, left) = (*count - 1, left - 1);
        left == 0
    });
}

macro_rules! of_every_wire {
    ($($test:ident),*) => {$(mod $test {
        #[test]
        fn in_virtual_time() {
            super::$test(super::VirtualNetwork::new(3, super::MEMORY, super::Faults::none(), 1).1);
        }

        #[test]
        fn in_a_segment() {
            super::$test(super::in_a_segment(3));
        }

        #[test]
        fn over_tls() {
            super::$test(super::over_tls(3));
        }

        /// Over whatever UCX chooses here.
        #[test]
        fn over_ucx() {
            let Some(wires) = super::over_ucx(3, &[]) else { return };
            super::$test(wires);
        }

        #[test]
        fn over_ucx_tcp() {
            let tcp = [("TLS", "tcp,self"), ("NET_DEVICES", "lo")];
            let Some(wires) = super::over_ucx(3, &tcp) else { return };
            super::$test(wires);
        }
    })*};
}

of_every_wire!(messages, puts, atomics, invalid_arguments, many_messages_at_once);
