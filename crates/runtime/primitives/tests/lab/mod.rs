//! A job of several nodes in virtual time: clients that call at random, random faults, and a history of
//! all of it.
#![allow(dead_code, reason = "each test uses some of it")]

pub mod calls;
pub mod history;

use evenkeel_fabric::virtual_network::{Faults, Liveness, VirtualNetwork, VirtualWire};
use evenkeel_fabric::{Event, NodeId, Wire, WordWrite};
use evenkeel_primitives::{
    Comparison, Machine, Message, NodeSet, Operation, OperationNumber, Outcome, Outgoing, Settings,
};
use history::{Answer, Call, Entry};
use std::collections::HashMap;
use std::time::Duration;

pub const WORDS: usize = 3;
const BYTES: usize = WORDS * 8;

/// splitmix64, for what clients do and which faults happen. The network has random numbers of its own.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

pub fn settings() -> Settings {
    Settings {
        limit: Duration::from_millis(50),
        resend: Duration::from_millis(2),
        fanout: 2,
        ..Settings::default()
    }
}

struct Client {
    random: Random,
    calls_left: usize,
    next: Duration,
    /// The entry of the read that waits.
    reading: Option<usize>,
    open: HashMap<OperationNumber, usize>,
}

impl Client {
    /// When it makes its next call, unless it has to wait for an answer first.
    fn next_call(&self) -> Option<Duration> {
        (self.calls_left > 0 && self.reading.is_none() && self.open.len() < 2).then_some(self.next)
    }
}

/// Several nodes, their network and their clients.
pub struct Job {
    pub network: VirtualNetwork,
    pub wires: Vec<VirtualWire>,
    pub machines: Vec<Machine>,
    pub history: Vec<Entry>,
    clients: Vec<Client>,
    values: u64,
}

impl Job {
    pub fn new(nodes: usize, settings: Settings, faults: Faults, seed: u64, calls: usize) -> Job {
        Job::with_memory(BYTES, nodes, settings, faults, seed, calls)
    }

    pub fn with_memory(
        bytes: usize,
        nodes: usize,
        settings: Settings,
        faults: Faults,
        seed: u64,
        calls: usize,
    ) -> Job {
        let (network, wires) = VirtualNetwork::new(nodes, bytes, faults, seed);
        let client = |node| Client {
            random: Random(seed * 1000 + node as u64),
            calls_left: calls,
            next: Duration::ZERO,
            reading: None,
            open: HashMap::new(),
        };
        let machines = (0..nodes).map(|node| Machine::new(NodeId(node as u32), nodes, settings)).collect();
        Job {
            network,
            wires,
            machines,
            history: Vec::new(),
            clients: (0..nodes).map(client).collect(),
            values: 0,
        }
    }

    pub fn nodes(&self) -> usize {
        self.machines.len()
    }

    fn is_running(&self, node: usize) -> bool {
        self.network.liveness(NodeId(node as u32)) == Liveness::Running
    }

    fn send(&mut self, node: usize, out: Outgoing) {
        for (to, message) in out {
            self.wires[node].send(to, &message.encode()).unwrap();
        }
    }

    pub fn start(&mut self, node: usize, set: &[usize], operation: Operation) -> OperationNumber {
        let set: NodeSet = set.iter().map(|&node| NodeId(node as u32)).collect();
        let memory = self.wires[node].memory().clone();
        let (number, out) = self.machines[node].start(self.network.now(), &memory, set, operation).unwrap();
        self.send(node, out);
        number
    }

    /// Runs the job until a moment.
    pub fn run(&mut self, until: Duration) {
        self.run_with(until, true);
    }

    /// The same, but leaves outcomes to the caller, who takes them from the machines.
    pub fn run_leaving_outcomes(&mut self, until: Duration) {
        self.run_with(until, false);
    }

    fn run_with(&mut self, until: Duration, take_outcomes: bool) {
        loop {
            for node in 0..self.nodes() {
                self.act(node);
                if take_outcomes {
                    self.record_outcomes(node);
                }
            }
            let due = |node: &usize| self.machines[*node].next_due();
            let client = |node: &usize| self.clients[*node].next_call();
            let running: Vec<usize> = (0..self.nodes()).filter(|&node| self.is_running(node)).collect();
            let due = running.iter().filter_map(due).chain(running.iter().filter_map(client));
            let Some(next) = due.chain(self.network.next_arrival()).min().filter(|&next| next <= until)
            else {
                return self.network.advance_to(until);
            };
            if self.network.next_arrival().is_some_and(|arrival| arrival <= next.max(self.network.now())) {
                self.network.step();
            } else {
                self.network.advance_to(next);
            }
        }
    }

    /// Does everything that a node can do at this moment, except for taking outcomes.
    fn act(&mut self, node: usize) {
        if !self.is_running(node) {
            return;
        }
        let now = self.network.now();
        let memory = self.wires[node].memory().clone();
        while let Some(event) = self.wires[node].poll() {
            let Event::Message { from, bytes } = event else { continue };
            let out = self.machines[node].receive(
                now,
                &memory,
                from,
                Message::decode(&bytes).expect("a message that was sent"),
            );
            self.send(node, out);
        }
        if self.machines[node].next_due().is_some_and(|due| due <= now) {
            let out = self.machines[node].tick(now, &memory);
            self.send(node, out);
        }
        self.finish_read(node);
        if self.clients[node].next_call().is_some_and(|next| next <= now) {
            self.call(node);
        }
    }

    fn record_outcomes(&mut self, node: usize) {
        let now = self.network.now();
        for (number, outcome) in self.machines[node].take_outcomes() {
            if let Some(entry) = self.clients[node].open.remove(&number) {
                self.history[entry].returned = Some(now);
                self.history[entry].answer = answer(&self.history[entry].call, &outcome);
                if self.history[entry].answer == Answer::Unknown {
                    // Each such call doubles the number of possible histories.
                    self.clients[node].calls_left = 0;
                }
            }
        }
    }

    /// Ends a read that waits, if the word can be read.
    fn finish_read(&mut self, node: usize) {
        let Some(entry) = self.clients[node].reading else { return };
        let Call::Read { word, .. } = self.history[entry].call else { unreachable!() };
        if self.machines[node].is_readable(&(word * 8..word * 8 + 8)) {
            self.history[entry].answer = Answer::Value(self.wires[node].memory().load(word * 8));
            self.history[entry].returned = Some(self.network.now());
            self.clients[node].reading = None;
        }
    }

    pub fn begin_read(&mut self, node: usize, word: usize) {
        self.clients[node].reading = Some(self.history.len());
        self.record(Call::Read { node, word });
        self.finish_read(node);
    }

    fn record(&mut self, call: Call) {
        self.history.push(Entry {
            called: self.network.now(),
            returned: None,
            call,
            answer: Answer::Unknown,
        });
    }

    /// A random call of a node's client.
    fn call(&mut self, node: usize) {
        let nodes = self.nodes() as u64;
        let now = self.network.now();
        let random = &mut self.clients[node].random;
        let next = now + Duration::from_micros(random.below(4000));
        let kind = random.below(10);
        let word = random.below(WORDS as u64) as usize;
        let mut set: Vec<usize> = (0..nodes as usize).filter(|_| random.below(3) > 0).collect();
        if set.is_empty() {
            set.push(random.below(nodes) as usize);
        }
        let (comparison, other, near) =
            (Comparison::ALL[random.below(6) as usize], random.below(WORDS as u64) as usize, random.below(3));
        self.clients[node].next = next;
        self.clients[node].calls_left -= 1;
        if kind < 4 {
            return self.begin_read(node, word);
        }
        self.values += 1;
        let value = self.values;
        let (call, operation) = if kind < 6 {
            let operation =
                Operation::Xfer { at: word * 8, bytes: value.to_ne_bytes().to_vec(), event: None };
            (Call::Xfer { set: set.clone(), word, value }, operation)
        } else {
            let write = (kind < 9).then_some((other, value));
            let compared = self.wires[node].memory().load(word * 8) + near - near.min(1);
            let operation = Operation::Compare {
                variable: word * 8,
                comparison,
                value: compared,
                write: write.map(|(word, value)| WordWrite { at: word * 8, value }),
            };
            (Call::Compare { set: set.clone(), word, comparison, value: compared, write }, operation)
        };
        let entry = self.history.len();
        self.record(call);
        let number = self.start(node, &set, operation);
        self.clients[node].open.insert(number, entry);
    }

    /// How many operations of running nodes have not returned.
    pub fn unanswered(&self) -> usize {
        (0..self.nodes())
            .filter(|&node| self.is_running(node))
            .map(|node| self.clients[node].open.len() + usize::from(self.clients[node].reading.is_some()))
            .sum()
    }
}

fn answer(call: &Call, outcome: &Outcome) -> Answer {
    match (outcome, call) {
        (Ok(_), Call::Xfer { .. }) => Answer::Done,
        (Ok(held), _) => Answer::Held(*held),
        (Err(error), _) if error.undone => Answer::Undone,
        (Err(_), _) => Answer::Unknown,
    }
}
