//! The primitives between processes, over UCX. Each node of a job runs this program once, on any host.
//!
//!     across_hosts NODE NODES FOLDER SECONDS LIMIT_MS
//!
//! Addresses are exchanged as files in a folder that all nodes see; it must be empty. All nodes meet at a
//! barrier, compete for a variable, and receive 4 MiB in chunks. Then node 1 asks all nodes again and
//! again whether they are there, for so many seconds or until one has failed. A node that is silent for
//! longer than the limit has failed.

use evenkeel_fabric::ucx::{UcxWire, open};
use evenkeel_fabric::{NodeId, Wire, WordWrite};
use evenkeel_primitives::{Comparison, Domain, EventId, NodeSet, OperationError, Settings};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

mod exchange;

const ARRIVED: usize = 0;
const WINNER: usize = 8;
const STOP: usize = 16;
const DATA: usize = 64;
const CHUNK: usize = 512 * 1024;
const CHUNKS: usize = 8;
const RECEIVED: EventId = EventId(1);
const SENT: EventId = EventId(2);
const PATIENCE: Duration = Duration::from_secs(300);

struct Node<C: Fn() -> Duration> {
    domain: Domain<UcxWire, C>,
    all: NodeSet,
    epoch: u64,
}

impl<C: Fn() -> Duration> Node<C> {
    fn run(&mut self, seconds: u64) -> Result<(), Box<dyn Error>> {
        self.barrier()?;
        self.compete()?;
        self.send()?;
        self.barrier()?;
        println!("watching");
        if self.domain.node() == NodeId(1) {
            let living = self.watch(seconds)?;
            self.stop(&living)
        } else {
            self.answer(seconds);
            Ok(())
        }
    }

    /// Waits until all nodes have come here. Epochs are compared with >=, so nothing has to be cleared.
    fn barrier(&mut self) -> Result<(), Box<dyn Error>> {
        self.epoch += 1;
        self.domain.set(ARRIVED, self.epoch);
        while !self.domain.compare_and_write(
            &self.all,
            ARRIVED,
            Comparison::GreaterOrEqual,
            self.epoch,
            None,
        )?? {
            self.domain.serve(Duration::from_millis(1));
        }
        Ok(())
    }

    fn compete(&mut self) -> Result<(), Box<dyn Error>> {
        let mine = u64::from(self.domain.node().0) + 1;
        let won = self.domain.compare_and_write(
            &self.all,
            WINNER,
            Comparison::Equal,
            0,
            Some(WordWrite { at: WINNER, value: mine }),
        )??;
        self.barrier()?;
        let bytes = self.domain.read(WINNER, 8, PATIENCE).ok_or("in doubt")?;
        println!("won {won} winner {}", u64::from_ne_bytes(bytes.try_into().expect("8 bytes")) - 1);
        Ok(())
    }

    /// Node 1 sends some chunks to all nodes, each when the last one has arrived everywhere.
    fn send(&mut self) -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        if self.domain.node() == NodeId(1) {
            for chunk in 0..CHUNKS {
                let bytes: Vec<u8> = (0..CHUNK).map(|i| (i * 31 + chunk) as u8).collect();
                self.domain.xfer_and_signal(
                    &self.all,
                    DATA + chunk * CHUNK,
                    &bytes,
                    Some(SENT),
                    Some(RECEIVED),
                )?;
                if !self.domain.wait_event(SENT, PATIENCE)? {
                    return Err("a chunk did not arrive in time".into());
                }
            }
            println!("sent {} bytes in {:?}", CHUNKS * CHUNK, start.elapsed());
        }
        for chunk in 0..CHUNKS {
            if !self.domain.wait_event(RECEIVED, PATIENCE)? {
                return Err("a chunk was not received in time".into());
            }
            let bytes = self.domain.read(DATA + chunk * CHUNK, CHUNK, PATIENCE).ok_or("in doubt")?;
            if !bytes.iter().enumerate().all(|(i, &byte)| byte == (i * 31 + chunk) as u8) {
                return Err(format!("chunk {chunk} is not what was sent").into());
            }
        }
        println!("received all");
        Ok(())
    }

    /// Answers node 1 until it says stop, or the time is up.
    fn answer(&mut self, seconds: u64) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(seconds + 10)
            && self.domain.read(STOP, 8, Duration::ZERO).is_none_or(|bytes| bytes == [0; 8])
        {
            self.domain.serve(Duration::from_millis(200));
        }
        // A node that is above others in the tree stays until they have heard it, too.
        let end = Instant::now() + Duration::from_millis(500);
        while Instant::now() < end {
            self.domain.serve(Duration::from_millis(50));
        }
    }

    /// Asks all nodes again and again until the time is up or one has failed. Returns the living nodes.
    fn watch(&mut self, seconds: u64) -> Result<NodeSet, Box<dyn Error>> {
        let start = Instant::now();
        let (mut longest, mut rounds, mut last_good) = (Duration::ZERO, 0, Instant::now());
        let mut living = self.all.clone();
        while start.elapsed() < Duration::from_secs(seconds) {
            let asked = Instant::now();
            match self.domain.compare_and_write(&self.all, STOP, Comparison::Equal, 0, None)? {
                Ok(_) => {
                    longest = longest.max(asked.elapsed());
                    rounds += 1;
                    last_good = Instant::now();
                }
                Err(OperationError { node, .. }) => {
                    println!(
                        "lost node {} {} ms after it was heard last",
                        node.0,
                        last_good.elapsed().as_millis()
                    );
                    living = self.all.iter().filter(|&other| other != node).collect();
                    break;
                }
            }
            self.domain.serve(Duration::from_millis(20));
        }
        println!("rounds {rounds} longest {} ms", longest.as_millis());
        Ok(living)
    }

    /// Tells the living nodes to stop.
    fn stop(&mut self, living: &NodeSet) -> Result<(), Box<dyn Error>> {
        // If the lost node was the sequencer, the next one has to take over first, and may have carried this
        // operation out when it is asked again.
        let end = Instant::now() + PATIENCE;
        while self.domain.compare_and_write(
            living,
            STOP,
            Comparison::LessOrEqual,
            1,
            Some(WordWrite { at: STOP, value: 1 }),
        )? != Ok(true)
        {
            if Instant::now() > end {
                return Err("no node took over".into());
            }
            self.domain.serve(Duration::from_millis(20));
        }
        println!("stopped {} nodes", living.len());
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [node, nodes, folder, seconds, limit_ms] = arguments.as_slice() else {
        return Err("usage: across_hosts NODE NODES FOLDER SECONDS LIMIT_MS".into());
    };
    let settings = Settings { limit: Duration::from_millis(limit_ms.parse()?), ..Settings::default() };
    let (node, nodes) = (node.parse()?, nodes.parse()?);
    let unconnected = open(nodes as usize, DATA + CHUNKS * CHUNK, &[])?;
    let addresses = exchange::exchange(Path::new(folder), node, nodes, unconnected.address())?;
    let wire = unconnected.connect(NodeId(node), &addresses)?;
    let all = NodeSet::all(wire.nodes());
    let start = Instant::now();
    let mut node = Node { domain: Domain::new(wire, settings, move || start.elapsed()), all, epoch: 0 };
    let seconds = seconds.parse()?;
    let result = node.run(seconds);
    if let Err(error) = &result {
        eprintln!("{}: {error}", node.domain.node()); // before UCX is closed, which may take a while
    }
    result
}
