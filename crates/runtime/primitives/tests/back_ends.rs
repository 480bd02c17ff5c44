//! The same job on every back end that runs by itself, each node a thread: barriers, contests, data
//! with events. (Virtual time: `semantics.rs`, `linearizability.rs`.)

use evenkeel_fabric::segment_wire::bytes_needed;
use evenkeel_fabric::ucx::{UcxError, UcxWire, library, open};
use evenkeel_fabric::{NodeId, SegmentWire, Wire};
use evenkeel_primitives::{Comparison, Domain, EventId, NodeSet, Settings};
use evenkeel_segment::Segment;
use std::sync::Arc;
use std::time::{Duration, Instant};

const NODES: usize = 4;
const MEMORY: usize = 1 << 20;
const ROUNDS: u64 = 20;
const ARRIVED: usize = 0;
const CONTEST: usize = 8;
const DATA: usize = 64;
const LENGTH: usize = 40_000;
const CAME: EventId = EventId(7);
const PATIENCE: Duration = Duration::from_secs(30);

fn in_a_segment() -> Vec<SegmentWire> {
    let segment = Arc::new(Segment::create(bytes_needed(NODES, MEMORY).unwrap(), 1).unwrap());
    (0..NODES as u32)
        .map(|node| SegmentWire::new(Arc::clone(&segment), NodeId(node), NODES, MEMORY).unwrap())
        .collect()
}

fn over_ucx() -> Option<Vec<UcxWire>> {
    if let Err(error @ (UcxError::NoLibrary(_) | UcxError::TooOld(_))) = library() {
        println!("not tested here: {error}");
        return None;
    }
    let opened: Vec<_> = (0..NODES)
        .map(|_| open(NODES, MEMORY, &[("TLS", "tcp,self"), ("NET_DEVICES", "lo")]).unwrap())
        .collect();
    let addresses: Vec<_> = opened.iter().map(|end| end.address().to_vec()).collect();
    Some(
        opened
            .into_iter()
            .enumerate()
            .map(|(node, end)| end.connect(NodeId(node as u32), &addresses).unwrap())
            .collect(),
    )
}

/// Returns in which rounds this node won.
fn node<W: Wire>(wire: W) -> Vec<u64> {
    let start = Instant::now();
    // Threads of a busy machine may be slow: nobody here is ever dead.
    let settings = Settings { limit: PATIENCE, fanout: 2, ..Settings::default() };
    let mut domain = Domain::new(wire, settings, move || start.elapsed());
    let (all, me) = (NodeSet::all(NODES), u64::from(domain.node().0));
    let barrier = |domain: &mut Domain<W, _>, epoch: u64| {
        domain.set(ARRIVED, epoch);
        while !domain
            .compare_and_write(&all, ARRIVED, Comparison::GreaterOrEqual, epoch, None)
            .unwrap()
            .unwrap()
        {
            domain.serve(Duration::from_millis(1));
        }
    };
    let mut won = Vec::new();
    for round in 0..ROUNDS {
        barrier(&mut domain, 2 * round + 1);
        // From the last round's winner to this one's: each value is unlike all before it.
        let seen = u64::from_ne_bytes(domain.read(CONTEST, 8, PATIENCE).unwrap().try_into().unwrap());
        barrier(&mut domain, 2 * round + 2);
        let mine = (round + 1) * 100 + me;
        if domain
            .compare_and_write(&all, CONTEST, Comparison::Equal, seen, Some((CONTEST, mine)))
            .unwrap()
            .unwrap()
        {
            won.push(round);
        }
        if round % NODES as u64 == me {
            domain.xfer_and_signal(&all, DATA, &[round as u8 + 1; LENGTH], None, Some(CAME)).unwrap();
        }
        assert_eq!(domain.wait_event(CAME, PATIENCE), Ok(true));
        assert_eq!(domain.read(DATA, LENGTH, PATIENCE).unwrap(), [round as u8 + 1; LENGTH]);
    }
    barrier(&mut domain, 2 * ROUNDS + 1);
    assert_eq!(domain.test_event(CAME), Ok(false), "a signal too many");
    // The others may not have heard yet that all have come.
    let end = Instant::now() + Duration::from_millis(300);
    while Instant::now() < end {
        domain.serve(Duration::from_millis(20));
    }
    won
}

fn job<W: Wire + Send>(wires: Vec<W>) {
    let mut won: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = wires.into_iter().map(|wire| scope.spawn(|| node(wire))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    won.sort_unstable();
    assert_eq!(won, (0..ROUNDS).collect::<Vec<_>>(), "one winner in each round");
}

#[test]
fn segment() {
    job(in_a_segment());
}

#[test]
fn fabric() {
    if let Some(wires) = over_ucx() {
        job(wires);
    }
}
