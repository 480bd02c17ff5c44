//! The primitives' protocol among many nodes in virtual time: what an operation takes on a network of
//! given latency, overhead and bandwidth.
//!
//!     at_scale compare|write|transfer NODES FANOUT LATENCY_NS OVERHEAD_NS PS_PER_BYTE [BYTES]
//!
//! `compare`: a comparison that holds on all nodes, until its caller knows; `write`: the same with a
//! write, until all nodes have it; `transfer`: so many bytes to all nodes, until their sender knows
//! that all have them. Prints a line of JSON.
//!
//! What a message costs: an overhead of its sender's processor, then its bytes on the sender's link;
//! the latency; its bytes on the receiver's link, in the order of sending; an overhead of the
//! receiver's processor. Processors and links do one thing at a time; between the links nothing is in
//! the way.

use evenkeel_fabric::{Memory, NodeId};
use evenkeel_primitives::{Comparison, EventId, Machine, Message, NodeSet, Operation, Settings};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::time::Duration;

const WORDS: usize = 4096;
const ARRIVED: usize = 0;
const RELEASED: usize = 8;

struct Costs {
    latency_ns: u64,
    overhead_ns: u64,
    ps_per_byte: u64,
}

struct Node {
    machine: Machine,
    processor_free: u64,
    out_free: u64,
    in_free: u64,
    /// When it is looked after next, if at all.
    alarm: Option<u64>,
}

enum What {
    Message(NodeId, Message),
    Alarm,
}

/// When, in which order of sending, at which node.
struct Due(u64, u64, usize, What);

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

struct Job {
    costs: Costs,
    nodes: Vec<Node>,
    memories: Vec<Memory>,
    due: BinaryHeap<Reverse<Due>>,
    sent: u64,
    messages: u64,
}

impl Job {
    fn send(&mut self, from: usize, mut now: u64, out: Vec<(NodeId, Message)>) {
        for (to, message) in out {
            let link = message.encode().len() as u64 * self.costs.ps_per_byte / 1000;
            let sender = &mut self.nodes[from];
            now = now.max(sender.processor_free) + self.costs.overhead_ns;
            sender.processor_free = now;
            let leaves = now.max(sender.out_free);
            sender.out_free = leaves + link;
            let receiver = &mut self.nodes[to.index()];
            let arrived = (leaves + self.costs.latency_ns).max(receiver.in_free) + link;
            receiver.in_free = arrived;
            self.sent += 1;
            self.messages += 1;
            self.due.push(Reverse(Due(
                arrived,
                self.sent,
                to.index(),
                What::Message(NodeId(from as u32), message),
            )));
        }
    }

    fn watch(&mut self, node: usize) {
        let Some(alarm) = self.nodes[node].machine.alarm().map(|at| at.as_nanos() as u64) else { return };
        if self.nodes[node].alarm.is_none_or(|known| alarm < known) {
            self.nodes[node].alarm = Some(alarm);
            self.sent += 1;
            self.due.push(Reverse(Due(alarm, self.sent, node, What::Alarm)));
        }
    }

    /// Brings the next thing to its node; which node, and when it has acted on it.
    fn step(&mut self) -> Option<(usize, u64)> {
        let Reverse(Due(at, order, node, what)) = self.due.pop()?;
        let memory = self.memories[node.min(self.memories.len() - 1)].clone();
        let it = &mut self.nodes[node];
        let (now, out) = match what {
            // The processor is busy: the message waits, in its place.
            What::Message(from, message) if it.processor_free > at => {
                let later = it.processor_free;
                self.due.push(Reverse(Due(later, order, node, What::Message(from, message))));
                return Some((node, at));
            }
            What::Message(from, message) => {
                let now = at + self.costs.overhead_ns;
                it.processor_free = now;
                (now, it.machine.receive(Duration::from_nanos(now), &memory, from, message))
            }
            What::Alarm => {
                it.alarm = None;
                (at, it.machine.tick(Duration::from_nanos(at), &memory))
            }
        };
        self.send(node, now, out);
        self.watch(node);
        Some((node, now))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (what, numbers) = arguments.split_first().ok_or(
        "usage: at_scale compare|write|transfer NODES FANOUT LATENCY_NS OVERHEAD_NS PS_PER_BYTE [BYTES]",
    )?;
    let numbers: Vec<u64> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let [nodes, fanout, latency_ns, overhead_ns, ps_per_byte, rest @ ..] = numbers.as_slice() else {
        return Err("too few numbers".into());
    };
    let (nodes, bytes) = (*nodes as usize, rest.first().map_or(0, |bytes| *bytes as usize));
    let settings = Settings { fanout: *fanout as usize, ..Settings::default() };
    // All nodes get the same bytes at the same place: one memory stands for all of theirs.
    let memories = if what == "transfer" { 1 } else { nodes };
    let mut job = Job {
        costs: Costs { latency_ns: *latency_ns, overhead_ns: *overhead_ns, ps_per_byte: *ps_per_byte },
        nodes: (0..nodes)
            .map(|node| Node {
                machine: Machine::new(NodeId(node as u32), nodes, settings),
                processor_free: 0,
                out_free: 0,
                in_free: 0,
                alarm: None,
            })
            .collect(),
        memories: (0..memories).map(|_| Memory::new(WORDS.max(bytes))).collect::<Result<_, _>>()?,
        due: BinaryHeap::new(),
        sent: 0,
        messages: 0,
    };
    let compare = |write| Operation::Compare {
        variable: ARRIVED,
        comparison: Comparison::GreaterOrEqual,
        value: 1,
        write,
    };
    let operation = match what.as_str() {
        "compare" => compare(None),
        "write" => compare(Some((RELEASED, 1))),
        "transfer" => Operation::Xfer { at: 0, bytes: vec![7; bytes], event: Some(EventId(1)) },
        other => return Err(format!("{other} is none of compare, write and transfer").into()),
    };
    job.memories.iter().for_each(|memory| memory.store(ARRIVED, 1));
    let memory = job.memories[0].clone();
    let (number, out) =
        job.nodes[0].machine.start(Duration::ZERO, &memory, NodeSet::all(nodes), operation)?;
    job.send(0, 0, out);
    job.watch(0);
    let (mut outcome, mut released, mut last) = (None, vec![false; nodes], 0);
    let mut left = if what == "write" { nodes } else { 0 };
    while outcome.is_none() || left > 0 {
        let (node, now) = job.step().ok_or("nothing goes on any more, and the operation has not ended")?;
        if outcome.is_none() && node == 0 {
            if let Some(answer) = job.nodes[0].machine.outcome(number) {
                outcome = Some((now, answer.map_err(|fault| fault.to_string())?));
            }
        }
        if what == "write" && !released[node] && job.memories[node].load(RELEASED) == 1 {
            (released[node], left, last) = (true, left - 1, now);
        }
    }
    let (known, held) = outcome.expect("just seen");
    if !held {
        return Err("the comparison did not hold".into());
    }
    let end = if what == "write" { last } else { known };
    println!(
        "{{\"what\": \"{what}\", \"nodes\": {nodes}, \"fanout\": {fanout}, \"bytes\": {bytes}, \"us\": {:.3}, \"messages\": {}}}",
        end as f64 / 1e3,
        job.messages
    );
    Ok(())
}
