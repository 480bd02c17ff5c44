//! The same job over every wire in real time, each node a thread: barriers, contests, data with events.
//! (Virtual time: `semantics.rs`, `linearizability.rs`.)

use evenkeel_fabric::segment_wire::bytes_needed;
use evenkeel_fabric::ucx::{UcxError, UcxWire, library, open};
use evenkeel_fabric::{NodeId, SegmentWire, Wire, WordWrite};
use evenkeel_primitives::{Comparison, Domain, EventId, NodeSet, Settings};
use evenkeel_segment::Segment;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const NODES: usize = 4;
const MEMORY: usize = 1 << 20;
const ROUNDS: u64 = 20;
const ARRIVED: usize = 0;
const CONTEST: usize = 8;
const DATA: usize = 64;
const LENGTH: usize = 40_000;
const RECEIVED: EventId = EventId(7);
/// Only ends a test that hangs.
const PATIENCE: Duration = Duration::from_secs(300);

fn in_a_segment() -> Vec<SegmentWire> {
    let segment = Arc::new(Segment::create(bytes_needed(NODES, MEMORY).unwrap(), 1).unwrap());
    (0..NODES as u32)
        .map(|node| SegmentWire::new(Arc::clone(&segment), NodeId(node), NODES, MEMORY).unwrap())
        .collect()
}

fn over_ucx() -> Option<Vec<UcxWire>> {
    if let Err(error @ (UcxError::NoLibrary(_) | UcxError::TooOld(_))) = library() {
        println!("skipped: {error}");
        return None;
    }
    let unconnected: Vec<_> = (0..NODES)
        .map(|_| open(NODES, MEMORY, &[("TLS", "tcp,self"), ("NET_DEVICES", "lo")]).unwrap())
        .collect();
    let addresses: Vec<_> = unconnected.iter().map(|end| end.address().to_vec()).collect();
    Some(
        unconnected
            .into_iter()
            .enumerate()
            .map(|(node, end)| end.connect(NodeId(node as u32), &addresses).unwrap())
            .collect(),
    )
}

fn barrier<W: Wire>(domain: &mut Domain<W, impl Fn() -> Duration>, epoch: u64) {
    let all = NodeSet::all(NODES);
    domain.set(ARRIVED, epoch);
    while !domain.compare_and_write(&all, ARRIVED, Comparison::GreaterOrEqual, epoch, None).unwrap().unwrap()
    {
        domain.serve(Duration::from_millis(1));
    }
}

/// One node's part; returns the rounds in which it won. `finished` counts the nodes that need no other one.
fn play<W: Wire>(wire: W, finished: &AtomicUsize) -> Vec<u64> {
    let start = Instant::now();
    // Threads of a busy machine may be slow, and no node fails here.
    let settings = Settings { limit: PATIENCE, fanout: 2, ..Settings::default() };
    let mut domain = Domain::new(wire, settings, move || start.elapsed());
    let (all, me) = (NodeSet::all(NODES), u64::from(domain.node().0));
    let mut won = Vec::new();
    for round in 0..ROUNDS {
        barrier(&mut domain, 2 * round + 1);
        // From the last round's winner to this round's: each value differs from all earlier ones.
        let seen = u64::from_ne_bytes(domain.read(CONTEST, 8, PATIENCE).unwrap().try_into().unwrap());
        barrier(&mut domain, 2 * round + 2);
        let mine = (round + 1) * 100 + me;
        if domain
            .compare_and_write(
                &all,
                CONTEST,
                Comparison::Equal,
                seen,
                Some(WordWrite { at: CONTEST, value: mine }),
            )
            .unwrap()
            .unwrap()
        {
            won.push(round);
        }
        if round % NODES as u64 == me {
            domain.xfer_and_signal(&all, DATA, &[round as u8 + 1; LENGTH], None, Some(RECEIVED)).unwrap();
        }
        assert_eq!(domain.wait_event(RECEIVED, PATIENCE), Ok(true));
        assert_eq!(domain.read(DATA, LENGTH, PATIENCE).unwrap(), [round as u8 + 1; LENGTH]);
    }
    barrier(&mut domain, 2 * ROUNDS + 1);
    assert_eq!(domain.test_event(RECEIVED), Ok(false), "a signal too many");
    // The other nodes may not have heard yet that all have arrived.
    finished.fetch_add(1, Ordering::SeqCst);
    while finished.load(Ordering::SeqCst) < NODES && start.elapsed() < PATIENCE {
        domain.serve(Duration::from_millis(1));
    }
    won
}

fn play_all<W: Wire + Send>(wires: Vec<W>) {
    let finished = AtomicUsize::new(0);
    let mut won: Vec<u64> = std::thread::scope(|scope| {
        let finished = &finished;
        let threads: Vec<_> =
            wires.into_iter().map(|wire| scope.spawn(move || play(wire, finished))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    won.sort_unstable();
    assert_eq!(won, (0..ROUNDS).collect::<Vec<_>>(), "one winner in each round");
}

#[test]
fn primitives_in_a_segment() {
    play_all(in_a_segment());
}

#[test]
fn primitives_over_ucx() {
    if let Some(wires) = over_ucx() {
        play_all(wires);
    }
}
