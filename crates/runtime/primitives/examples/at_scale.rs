//! The primitives among many nodes in virtual time: how long an operation takes on a network of given
//! latency, overhead and bandwidth.
//!
//!     at_scale compare|write|transfer NODES FANOUT LATENCY_NS OVERHEAD_NS PS_PER_BYTE [BYTES]
//!
//! * `compare`: a comparison that holds on all nodes, until its caller knows;
//! * `write`: the same with a write, until all nodes have it;
//! * `transfer`: so many bytes to all nodes, until their sender knows that all have them.
//!
//! Prints a line of JSON.
//!
//! A message costs an overhead of its sender's processor, then its bytes on the sender's link; the
//! latency; its bytes on the receiver's link, in the order of sending; and an overhead of the receiver's
//! processor. Processors and links do one thing at a time. Between the links nothing is shared.

use evenkeel_fabric::{Memory, NodeId, WordWrite};
use evenkeel_primitives::{
    Comparison, EventId, Machine, Message, NodeSet, Operation, OperationNumber, Outgoing, Settings,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::time::Duration;

const USAGE: &str =
    "usage: at_scale compare|write|transfer NODES FANOUT LATENCY_NS OVERHEAD_NS PS_PER_BYTE [BYTES]";

const MEMORY_BYTES: usize = 4096;
const ARRIVED: usize = 0;
const RELEASED: usize = 8;

struct Costs {
    latency_ns: u64,
    overhead_ns: u64,
    ps_per_byte: u64,
}

struct Node {
    machine: Machine,
    /// When its processor and its links are free, in nanoseconds.
    processor_free: u64,
    out_free: u64,
    in_free: u64,
    /// When its machine has to act next, as far as that is scheduled.
    scheduled: Option<u64>,
}

enum Occurrence {
    Message(NodeId, Message),
    Tick,
}

/// Something that happens at a node at a moment; ordered by that, and then by when it was scheduled.
struct Scheduled {
    at: u64,
    number: u64,
    node: usize,
    occurrence: Occurrence,
}

impl Scheduled {
    fn key(&self) -> (u64, u64) {
        (self.at, self.number)
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Scheduled) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Scheduled) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Scheduled) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

struct Simulation {
    costs: Costs,
    nodes: Vec<Node>,
    memories: Vec<Memory>,
    schedule: BinaryHeap<Reverse<Scheduled>>,
    /// How many occurrences were scheduled.
    number: u64,
    messages: u64,
}

impl Simulation {
    /// `memories`: one for each node, or one for all, if all nodes have the same bytes anyway.
    fn new(nodes: usize, memories: Vec<Memory>, settings: Settings, costs: Costs) -> Simulation {
        let node = |node| Node {
            machine: Machine::new(NodeId(node as u32), nodes, settings),
            processor_free: 0,
            out_free: 0,
            in_free: 0,
            scheduled: None,
        };
        let nodes = (0..nodes).map(node).collect();
        Simulation { costs, nodes, memories, schedule: BinaryHeap::new(), number: 0, messages: 0 }
    }

    fn schedule(&mut self, at: u64, node: usize, occurrence: Occurrence) {
        self.number += 1;
        self.schedule.push(Reverse(Scheduled { at, number: self.number, node, occurrence }));
    }

    fn send(&mut self, from: usize, mut now: u64, out: Outgoing) {
        for (to, message) in out {
            let link = message.encode().len() as u64 * self.costs.ps_per_byte / 1000;
            let sender = &mut self.nodes[from];
            now = now.max(sender.processor_free) + self.costs.overhead_ns;
            sender.processor_free = now;
            let leaves = now.max(sender.out_free);
            sender.out_free = leaves + link;
            let receiver = &mut self.nodes[to.index()];
            let arrives = (leaves + self.costs.latency_ns).max(receiver.in_free) + link;
            receiver.in_free = arrives;
            self.messages += 1;
            self.schedule(arrives, to.index(), Occurrence::Message(NodeId(from as u32), message));
        }
    }

    fn schedule_tick(&mut self, node: usize) {
        let Some(due) = self.nodes[node].machine.next_due().map(|at| at.as_nanos() as u64) else { return };
        if self.nodes[node].scheduled.is_none_or(|known| due < known) {
            self.nodes[node].scheduled = Some(due);
            self.schedule(due, node, Occurrence::Tick);
        }
    }

    /// Begins an operation at node 0.
    fn start(&mut self, operation: Operation) -> Result<OperationNumber, Box<dyn Error>> {
        let (memory, set) = (self.memories[0].clone(), NodeSet::all(self.nodes.len()));
        let (number, out) = self.nodes[0].machine.start(Duration::ZERO, &memory, set, operation)?;
        self.send(0, 0, out);
        self.schedule_tick(0);
        Ok(number)
    }

    /// Lets the next thing happen. Returns the node, and when it has acted.
    fn step(&mut self) -> Option<(usize, u64)> {
        let Reverse(Scheduled { at, number, node, occurrence }) = self.schedule.pop()?;
        let memory = self.memories[node.min(self.memories.len() - 1)].clone();
        let receiver = &mut self.nodes[node];
        let (now, out) = match occurrence {
            Occurrence::Message(..) if receiver.processor_free > at => {
                // The processor is busy: the message waits, and keeps its place.
                let later = receiver.processor_free;
                self.schedule.push(Reverse(Scheduled { at: later, number, node, occurrence }));
                return Some((node, at));
            }
            Occurrence::Message(from, message) => {
                let now = at + self.costs.overhead_ns;
                receiver.processor_free = now;
                (now, receiver.machine.receive(Duration::from_nanos(now), &memory, from, message))
            }
            Occurrence::Tick => {
                receiver.scheduled = None;
                (at, receiver.machine.tick(Duration::from_nanos(at), &memory))
            }
        };
        self.send(node, now, out);
        self.schedule_tick(node);
        Some((node, now))
    }

    /// Steps until the operation has its outcome, and, for a write, until all nodes have it. Returns when
    /// that is, in nanoseconds.
    fn run(&mut self, number: OperationNumber, is_write: bool) -> Result<u64, Box<dyn Error>> {
        let nodes = self.nodes.len();
        let (mut outcome, mut is_released, mut last_release) = (None, vec![false; nodes], 0);
        let mut left = if is_write { nodes } else { 0 };
        while outcome.is_none() || left > 0 {
            let (node, now) = self.step().ok_or("nothing is under way, and the operation has not ended")?;
            if outcome.is_none() && node == 0 {
                if let Some(answer) = self.nodes[0].machine.take_outcome(number) {
                    outcome = Some((now, answer.map_err(|error| error.to_string())?));
                }
            }
            if is_write && !is_released[node] && self.memories[node].load(RELEASED) == 1 {
                (is_released[node], left, last_release) = (true, left - 1, now);
            }
        }
        match outcome.expect("the loop has ended") {
            (_, false) => Err("the comparison did not hold".into()),
            (known, true) => Ok(if is_write { last_release } else { known }),
        }
    }
}

fn operation(name: &str, bytes: usize) -> Result<Operation, String> {
    let compare = |write| Operation::Compare {
        variable: ARRIVED,
        comparison: Comparison::GreaterOrEqual,
        value: 1,
        write,
    };
    match name {
        "compare" => Ok(compare(None)),
        "write" => Ok(compare(Some(WordWrite { at: RELEASED, value: 1 }))),
        "transfer" => Ok(Operation::Xfer { at: 0, bytes: vec![7; bytes], event: Some(EventId(1)) }),
        other => Err(format!("{other} is none of compare, write and transfer")),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, numbers) = arguments.split_first().ok_or(USAGE)?;
    let numbers: Vec<u64> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let [nodes, fanout, latency_ns, overhead_ns, ps_per_byte, rest @ ..] = numbers.as_slice() else {
        return Err(USAGE.into());
    };
    let (nodes, bytes) = (*nodes as usize, rest.first().map_or(0, |bytes| *bytes as usize));
    let operation = operation(name, bytes)?;
    let settings = Settings { fanout: *fanout as usize, ..Settings::default() };
    let costs = Costs { latency_ns: *latency_ns, overhead_ns: *overhead_ns, ps_per_byte: *ps_per_byte };
    // In a transfer all nodes get the same bytes at the same place, so one memory stands for all.
    let memories =
        (0..if name == "transfer" { 1 } else { nodes }).map(|_| Memory::new(MEMORY_BYTES.max(bytes)));
    let memories = memories.collect::<Result<Vec<_>, _>>()?;
    memories.iter().for_each(|memory| memory.store(ARRIVED, 1));
    let mut simulation = Simulation::new(nodes, memories, settings, costs);
    let number = simulation.start(operation)?;
    let end = simulation.run(number, name == "write")?;
    println!(
        "{{\"what\": \"{name}\", \"nodes\": {nodes}, \"fanout\": {fanout}, \"bytes\": {bytes}, \
         \"us\": {:.3}, \"messages\": {}}}",
        end as f64 / 1e3,
        simulation.messages
    );
    Ok(())
}
