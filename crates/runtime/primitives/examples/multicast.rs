//! Large data from one node to all others, over UCX: each node of a job runs this once, on whatever
//! host. The last node sends.
//!
//!     multicast NODE NODES FOLDER BYTES
//!
//! Addresses are exchanged as files in a folder that all nodes see; it must be empty. All meet at a
//! barrier; then the last node sends so many bytes to the others and says how long it took until its
//! local event: everybody has them then. Afterwards all look whether they are right.

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
    let sends = domain.node() == NodeId(nodes as u32 - 1);
    // As memory that is in use: pages that nobody has touched would be made while they are written.
    (DATA..DATA + bytes).step_by(4096).for_each(|at| domain.set(at, 0));
    let expected: Vec<u8> = (0..bytes).map(|i| (i * 31 >> 4) as u8).collect();
    // Once with a little: connections are made when they are first used.
    for (length, counts) in [(WARM.min(bytes), false), (bytes, true)] {
        barrier(domain)?;
        let start = Instant::now();
        if sends {
            domain.xfer_and_signal(&others, DATA, &expected[..length], Some(SENT), Some(RECEIVED))?;
        }
        if !domain.wait_event(if sends { SENT } else { RECEIVED }, PATIENCE)? {
            return Err("the data did not arrive in time".into());
        }
        if sends && counts {
            println!("sent {length} bytes in {:.6} s", start.elapsed().as_secs_f64());
        }
        // Looking at it is this program's matter, and would take the others' time where nodes share cores:
        // not before all have it.
        barrier(domain)?;
        if !sends && domain.read(DATA, length, PATIENCE).ok_or("in doubt")? != expected[..length] {
            return Err("what came is not what was sent".into());
        }
    }
    if !sends {
        println!("received all");
    }
    barrier(domain)?;
    // The others may not have heard yet that all have come.
    let end = Instant::now() + Duration::from_millis(300);
    while Instant::now() < end {
        domain.serve(Duration::from_millis(20));
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [node, nodes, folder, bytes] = arguments.as_slice() else {
        return Err("usage: multicast NODE NODES FOLDER BYTES".into());
    };
    let (node, nodes, bytes): (u32, usize, usize) = (node.parse()?, nodes.parse()?, bytes.parse()?);
    let opened = open(nodes, DATA + bytes, &[])?;
    let addresses = exchange::exchange(Path::new(folder), node, nodes as u32, opened.address())?;
    let wire = opened.connect(NodeId(node), &addresses)?;
    let start = Instant::now();
    let mut domain = Domain::new(wire, Settings::default(), move || start.elapsed());
    let result = run(&mut domain, nodes, bytes);
    if let Err(error) = &result {
        eprintln!("{}: {error}", domain.node()); // before UCX is closed, which can take a while
    }
    result
}
