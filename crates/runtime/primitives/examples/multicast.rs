//! Large data from one node to all others, over UCX. Each node of a job runs this program once, on any
//! host. The last node sends.
//!
//!     multicast NODE NODES FOLDER BYTES
//!
//! Addresses are exchanged as files in a folder that all nodes see; it must be empty. All nodes meet at a
//! barrier. Then the last node sends so many bytes to the others, and prints how long it took until its
//! local event, at which all nodes have them. Afterwards all nodes compare the bytes.

use evenkeel_fabric::ucx::open;
use evenkeel_fabric::{NodeId, Wire};
use evenkeel_primitives::{Comparison, Domain, EventId, NodeSet, Settings};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

mod exchange;

const ARRIVED: usize = 0;
const DATA: usize = 64;
const RECEIVED: EventId = EventId(1);
const SENT: EventId = EventId(2);
const PATIENCE: Duration = Duration::from_secs(40);
const WARM: usize = 256 * 1024;

fn run<W: Wire>(
    domain: &mut Domain<W, impl Fn() -> Duration>,
    nodes: usize,
    bytes: usize,
) -> Result<(), Box<dyn Error>> {
    let all = NodeSet::all(nodes);
    let mut epoch = 0;
    let mut barrier = |domain: &mut Domain<W, _>| -> Result<(), Box<dyn Error>> {
        epoch += 1;
        domain.set(ARRIVED, epoch);
        while !domain.compare_and_write(&all, ARRIVED, Comparison::GreaterOrEqual, epoch, None)?? {
            domain.serve(Duration::from_millis(1));
        }
        Ok(())
    };
    let others = NodeSet::all(nodes - 1);
    let is_sender = domain.node() == NodeId(nodes as u32 - 1);
    // As memory in use: pages that were never touched would be made while data arrive.
    (DATA..DATA + bytes).step_by(4096).for_each(|at| domain.set(at, 0));
    let expected: Vec<u8> = (0..bytes).map(|i| ((i * 31) >> 4) as u8).collect();
    // Once with little data, since connections are made when they are first used.
    for (length, counts) in [(WARM.min(bytes), false), (bytes, true)] {
        barrier(domain)?;
        let start = Instant::now();
        if is_sender {
            domain.xfer_and_signal(&others, DATA, &expected[..length], Some(SENT), Some(RECEIVED))?;
        }
        if !domain.wait_event(if is_sender { SENT } else { RECEIVED }, PATIENCE)? {
            return Err("the data did not arrive in time".into());
        }
        if is_sender && counts {
            println!("sent {length} bytes in {:.6} s", start.elapsed().as_secs_f64());
        }
        // Comparing would take other nodes' time where nodes share cores, so it waits until all have the
        // data.
        barrier(domain)?;
        if !is_sender && domain.read(DATA, length, PATIENCE).ok_or("in doubt")? != expected[..length] {
            return Err("the data that arrived are not those that were sent".into());
        }
    }
    if !is_sender {
        println!("received all");
    }
    barrier(domain)
}

/// The other nodes may not have heard yet that all have arrived.
fn serve_for_a_while<W: Wire>(domain: &mut Domain<W, impl Fn() -> Duration>) {
    let end = Instant::now() + Duration::from_millis(300);
    while Instant::now() < end {
        domain.serve(Duration::from_millis(20));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [node, nodes, folder, bytes] = arguments.as_slice() else {
        return Err("usage: multicast NODE NODES FOLDER BYTES".into());
    };
    let (node, nodes, bytes): (u32, usize, usize) = (node.parse()?, nodes.parse()?, bytes.parse()?);
    let unconnected = open(nodes, DATA + bytes, &[])?;
    let addresses = exchange::exchange(Path::new(folder), node, nodes as u32, unconnected.address())?;
    let wire = unconnected.connect(NodeId(node), &addresses)?;
    let start = Instant::now();
    let mut domain = Domain::new(wire, Settings::default(), move || start.elapsed());
    let result = run(&mut domain, nodes, bytes).map(|()| serve_for_a_while(&mut domain));
    if let Err(error) = &result {
        eprintln!("{}: {error}", domain.node()); // before UCX is closed, which may take a while
    }
    result
}
