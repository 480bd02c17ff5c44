//! Whole frames in switches with queues at their outputs.
//!
//! A frame is an event at each line it takes, not a move of each of its bytes: store-and-forward
//! switches with unlimited queues need no more. A line takes one frame after the other and rests for a
//! gap; the node at its end gets the frame when its last byte is there, or its first
//! ([`Line::cut_through`]).

use super::program::{Program, Send};
use evenkeel_route::Random;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// How a message is cut into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// The most bytes of a message in one frame.
    pub payload: u32,
    /// Bytes around them.
    pub overhead: u32,
    /// The least that a frame has, with those.
    pub least: u32,
}

impl Framing {
    /// Bytes on the line of each frame.
    pub fn frames(&self, bytes: u32) -> Vec<u32> {
        let whole = bytes / self.payload;
        let rest = (bytes % self.payload > 0 || bytes == 0).then_some(bytes % self.payload);
        let payloads = (0..whole).map(|_| self.payload).chain(rest);
        payloads.map(|p| (p + self.overhead).max(self.least)).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    Host(u32),
    Switch(u32),
}

/// Which frame is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The one that has waited longest.
    Arrival,
    /// The first of a source drawn by chance from those that have any here: a queue for each connection.
    Connections,
}

/// One direction of a link, with the queue before it.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub to: Node,
    /// It takes so many ticks for so many bytes, or a part of them.
    pub unit_bytes: u32,
    pub unit_ticks: u64,
    pub gap_ticks: u64,
    /// From the last byte's leaving until the node has looked at the frame.
    pub delay_ticks: u64,
    /// The node looks at the frame when its first byte comes. The lines that it goes on by must not be
    /// faster.
    pub cut_through: bool,
    pub order: Order,
}

/// Where a frame to several hosts becomes several frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replicas {
    /// Where their ways part.
    Late,
    /// At the first switch, which takes the whole message in before.
    First,
}

/// A network of lines.
#[derive(Clone, Debug)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// By host: its line into the network.
    pub first: Vec<usize>,
    /// By switch and host: the line that leads to it.
    pub next: Vec<Vec<usize>>,
    pub replicas: Replicas,
    pub framing: Framing,
    pub seed: u64,
}

/// A frame on its way, by its message.
#[derive(Clone, Debug)]
struct Frame {
    message: u32,
    from: u32,
    bytes: u32,
    of: u32,
    to: Vec<u32>,
}

enum Event {
    /// A line may take the next frame.
    Free(usize),
    Arrives(Node, Frame),
}

struct Running<'a> {
    network: &'a Lines,
    events: BinaryHeap<Reverse<(u64, u64)>>,
    /// By the number that is in the heap.
    what: HashMap<u64, Event>,
    count: u64,
    queues: Vec<VecDeque<Frame>>,
    busy: Vec<bool>,
    /// Frames of a message that have come, by message and host (or switch, where copies are made).
    come: HashMap<(u32, u32), Vec<u32>>,
    random: Random,
}

impl Lines {
    /// Runs a program to its end. The last thing is that it has finished, or that nothing is left to happen.
    pub fn run(&self, program: &mut Program) {
        let mut running = Running {
            network: self,
            events: BinaryHeap::new(),
            what: HashMap::new(),
            count: 0,
            queues: vec![VecDeque::new(); self.lines.len()],
            busy: vec![false; self.lines.len()],
            come: HashMap::new(),
            random: Random::new(self.seed),
        };
        loop {
            let event = running.events.peek().map_or(u64::MAX, |e| e.0.0);
            let now = event.min(program.next());
            if now == u64::MAX {
                return;
            }
            let mut sends = Vec::new();
            if program.next() <= event {
                program.act(now, &mut sends);
            } else if let Some(Reverse((_, number))) = running.events.pop() {
                match running.what.remove(&number).expect("what is in the heap is known") {
                    Event::Free(line) => {
                        running.busy[line] = false;
                        running.serve(now, line);
                    }
                    Event::Arrives(Node::Switch(s), frame) => running.forward(now, s, frame),
                    Event::Arrives(Node::Host(h), frame) => {
                        program.piece(now, frame.message);
                        let come = running.come.entry((frame.message, h)).or_default();
                        come.push(frame.bytes);
                        if come.len() as u32 == frame.of {
                            running.come.remove(&(frame.message, h));
                            program.received(now, frame.message, h, &mut sends);
                        }
                    }
                }
            }
            sends.into_iter().for_each(|send| running.send(now, send));
        }
    }
}

impl Running<'_> {
    fn at(&mut self, time: u64, event: Event) {
        self.count += 1;
        self.what.insert(self.count, event);
        self.events.push(Reverse((time, self.count)));
    }

    fn send(&mut self, now: u64, send: Send) {
        let frames = self.network.framing.frames(send.bytes);
        let of = frames.len() as u32;
        for bytes in frames {
            self.enqueue(
                now,
                self.network.first[send.from as usize],
                Frame { message: send.message, from: send.from, bytes, of, to: send.to.clone() },
            );
        }
    }

    fn forward(&mut self, now: u64, switch: u32, frame: Frame) {
        let line_to = |host: u32| self.network.next[switch as usize][host as usize];
        if frame.to.len() > 1 && self.network.replicas == Replicas::First {
            // A number that no host has: the message itself.
            let come = self.come.entry((frame.message, u32::MAX)).or_default();
            come.push(frame.bytes);
            if (come.len() as u32) < frame.of {
                return;
            }
            let sizes = self.come.remove(&(frame.message, u32::MAX)).expect("it was just filled");
            for to in &frame.to {
                for bytes in &sizes {
                    self.enqueue(now, line_to(*to), Frame { bytes: *bytes, to: vec![*to], ..frame.clone() });
                }
            }
            return;
        }
        let mut lines: Vec<usize> = frame.to.iter().map(|to| line_to(*to)).collect();
        lines.sort_unstable();
        lines.dedup();
        for line in lines {
            let to = frame.to.iter().copied().filter(|to| line_to(*to) == line).collect();
            self.enqueue(now, line, Frame { to, ..frame.clone() });
        }
    }

    fn enqueue(&mut self, now: u64, line: usize, frame: Frame) {
        self.queues[line].push_back(frame);
        self.serve(now, line);
    }

    /// A free line takes the next frame.
    fn serve(&mut self, now: u64, line: usize) {
        if self.busy[line] || self.queues[line].is_empty() {
            return;
        }
        let of = &self.network.lines[line];
        let place = match of.order {
            Order::Arrival => 0,
            Order::Connections => {
                let mut seen = vec![false; self.network.first.len()];
                let firsts: Vec<usize> = (0..self.queues[line].len())
                    .filter(|i| !std::mem::replace(&mut seen[self.queues[line][*i].from as usize], true))
                    .collect();
                firsts[self.random.below(firsts.len())]
            }
        };
        let frame = self.queues[line].remove(place).expect("it is in the queue");
        let takes = u64::from(frame.bytes.div_ceil(of.unit_bytes)) * of.unit_ticks;
        self.busy[line] = true;
        self.at(now + takes + of.gap_ticks, Event::Free(line));
        let there = now + of.delay_ticks + if of.cut_through { 0 } else { takes };
        self.at(there, Event::Arrives(of.to, frame));
    }
}
