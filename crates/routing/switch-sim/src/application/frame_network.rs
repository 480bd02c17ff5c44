//! A network of switches that queue whole frames at their outputs.
//!
//! A frame causes one event per line, not one per byte, which suffices for store-and-forward switches with
//! unlimited queues. A line transmits one frame after the other, with a gap between them. The node at its
//! end receives a frame when its last byte has arrived or, with [`Line::cut_through`], its first.

use super::framing::Framing;
use super::program::{Message, Program};
use evenkeel_route::Random;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// The node at the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// A host.
    Host(u32),
    /// A switch.
    Switch(u32),
}

/// Which frame of a queue is transmitted next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueDiscipline {
    /// The frame that has waited longest.
    Fifo,
    /// The first frame of a random source among those with frames in the queue, as if each source had its
    /// own queue.
    PerSource,
}

/// One direction of a link, and the queue before it.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The node at its end.
    pub to: LineEnd,
    /// The line transmits units of this size. A part of a unit takes as long as a whole one.
    pub unit_bytes: u32,
    /// Time to transmit a unit.
    pub unit_ticks: u64,
    /// Gap after a frame.
    pub gap_ticks: u64,
    /// Time from the departure of the last byte until the node has processed the frame.
    pub delay_ticks: u64,
    /// Whether the node processes a frame when its first byte arrives. The following lines must not be
    /// faster.
    pub cut_through: bool,
    /// Which frame is next.
    pub discipline: QueueDiscipline,
}

/// Where a frame to several hosts is replicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replication {
    /// At the switches where the paths to the hosts separate.
    AtBranch,
    /// At the first switch, after it has received the whole message.
    AtFirstSwitch,
}

/// A network of lines and switches.
#[derive(Clone, Debug)]
pub struct FrameNetwork {
    /// All lines.
    pub lines: Vec<Line>,
    /// By host: its line into the network.
    pub first: Vec<usize>,
    /// By switch and host: the line towards the host.
    pub next: Vec<Vec<usize>>,
    /// Where frames to several hosts are replicated.
    pub replication: Replication,
    /// How messages are divided into frames.
    pub framing: Framing,
    /// Seed of the random choices.
    pub seed: u64,
}

/// A frame on its way.
#[derive(Clone, Debug)]
struct Frame {
    /// The number of its message.
    message: u32,
    from: u32,
    bytes: u32,
    /// Frames of the whole message.
    frame_count: u32,
    to: Vec<u32>,
}

enum Event {
    /// A line may transmit the next frame.
    LineIsFree(usize),
    FrameArrives(LineEnd, Frame),
}

/// Stands for the first switch among hosts.
const FIRST_SWITCH: u32 = u32::MAX;

/// A frame network at work.
struct FrameSimulation<'a> {
    network: &'a FrameNetwork,
    /// Time and number of each event.
    times: BinaryHeap<Reverse<(u64, u64)>>,
    /// The events, by number.
    events: HashMap<u64, Event>,
    event_count: u64,
    /// By line.
    queues: Vec<VecDeque<Frame>>,
    is_busy: Vec<bool>,
    /// The sizes of the frames that have arrived, by message and host. [`FIRST_SWITCH`] stands for the
    /// switch that replicates messages.
    arrived: HashMap<(u32, u32), Vec<u32>>,
    random: Random,
}

impl FrameNetwork {
    /// Runs a program until nothing is left to happen. The program is finished then, unless it waits for a
    /// message that no host sends.
    pub fn run(&self, program: &mut Program) {
        let mut simulation = FrameSimulation {
            network: self,
            times: BinaryHeap::new(),
            events: HashMap::new(),
            event_count: 0,
            queues: vec![VecDeque::new(); self.lines.len()],
            is_busy: vec![false; self.lines.len()],
            arrived: HashMap::new(),
            random: Random::new(self.seed),
        };
        loop {
            let event = simulation.times.peek().map_or(u64::MAX, |e| e.0.0);
            let now = event.min(program.next_time());
            if now == u64::MAX {
                return;
            }
            let mut messages = Vec::new();
            if program.next_time() <= event {
                program.generate(now, &mut messages);
            } else if let Some(Reverse((_, number))) = simulation.times.pop() {
                let event = simulation.events.remove(&number).expect("every event has a time");
                simulation.happen(now, event, program, &mut messages);
            }
            messages.into_iter().for_each(|message| simulation.send(now, message));
        }
    }
}

impl FrameSimulation<'_> {
    fn schedule(&mut self, time: u64, event: Event) {
        self.event_count += 1;
        self.events.insert(self.event_count, event);
        self.times.push(Reverse((time, self.event_count)));
    }

    fn happen(&mut self, now: u64, event: Event, program: &mut Program, messages: &mut Vec<Message>) {
        match event {
            Event::LineIsFree(line) => {
                self.is_busy[line] = false;
                self.transmit(now, line);
            }
            Event::FrameArrives(LineEnd::Switch(s), frame) => self.forward(now, s, frame),
            Event::FrameArrives(LineEnd::Host(h), frame) => {
                program.frame_arrived(now, frame.message);
                let arrived = self.arrived.entry((frame.message, h)).or_default();
                arrived.push(frame.bytes);
                if arrived.len() as u32 == frame.frame_count {
                    self.arrived.remove(&(frame.message, h));
                    program.message_arrived(now, frame.message, h, messages);
                }
            }
        }
    }

    fn send(&mut self, now: u64, message: Message) {
        let frames = self.network.framing.frames(message.bytes);
        let frame_count = frames.len() as u32;
        let line = self.network.first[message.from as usize];
        for bytes in frames {
            let (number, from, to) = (message.number, message.from, message.to.clone());
            self.enqueue(now, line, Frame { message: number, from, bytes, frame_count, to });
        }
    }

    fn forward(&mut self, now: u64, switch: u32, frame: Frame) {
        let line_to = |host: u32| self.network.next[switch as usize][host as usize];
        if frame.to.len() > 1 && self.network.replication == Replication::AtFirstSwitch {
            let key = (frame.message, FIRST_SWITCH);
            let arrived = self.arrived.entry(key).or_default();
            arrived.push(frame.bytes);
            if (arrived.len() as u32) < frame.frame_count {
                return;
            }
            let sizes = self.arrived.remove(&key).expect("it was just filled");
            for to in &frame.to {
                for bytes in &sizes {
                    let copy = Frame { bytes: *bytes, to: vec![*to], ..frame.clone() };
                    self.enqueue(now, line_to(*to), copy);
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
        self.transmit(now, line);
    }

    /// Transmits the next frame of a line, if the line is free and has one.
    fn transmit(&mut self, now: u64, line: usize) {
        if self.is_busy[line] || self.queues[line].is_empty() {
            return;
        }
        let of = &self.network.lines[line];
        let index = match of.discipline {
            QueueDiscipline::Fifo => 0,
            QueueDiscipline::PerSource => {
                let mut seen = vec![false; self.network.first.len()];
                let firsts: Vec<usize> = (0..self.queues[line].len())
                    .filter(|i| !std::mem::replace(&mut seen[self.queues[line][*i].from as usize], true))
                    .collect();
                firsts[self.random.below(firsts.len())]
            }
        };
        let frame = self.queues[line].remove(index).expect("the frame is in the queue");
        let duration = u64::from(frame.bytes.div_ceil(of.unit_bytes)) * of.unit_ticks;
        self.is_busy[line] = true;
        self.schedule(now + duration + of.gap_ticks, Event::LineIsFree(line));
        let arrival = now + of.delay_ticks + if of.cut_through { 0 } else { duration };
        self.schedule(arrival, Event::FrameArrives(of.to, frame));
    }
}
