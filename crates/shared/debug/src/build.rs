//! Makes a [`Run`] of the files of its ranks, which are read one after the other: the calls of a file take
//! 32 bytes in memory, those of a run 20.

use crate::functions::Function;
use crate::messages::{Message, Messages, OTHER_LANE};
use crate::run::{Communicator, Lane, Place, Process, Run};
use evenkeel_trace::format::Ending;
use evenkeel_trace::times::clock;
use evenkeel_trace::times::communicators::Communicators;
use evenkeel_trace::times::file::{Module, Site, Times};
use evenkeel_trace::times::format::Start;
use evenkeel_trace::times::messages::Matching;
use evenkeel_trace::times::shape::{Envelope, FAILED, Role, Shape};
use std::collections::HashMap;
use std::hash::Hash;

/// No machine runs for longer than these 36 years. Files may say anything, and nothing must overflow.
const LATEST_NS: u64 = 1 << 60;

/// Collects ranks.
#[derive(Default)]
pub struct RunBuilder {
    run: Run,
    starts: Vec<Start>,
    communicators: Communicators,
    matching: Matching,
    numbers: Numbers,
    /// Of ranks with several threads: where the calls of the file went.
    scattered: HashMap<u32, Vec<Place>>,
    /// By rank: its first lane.
    first_lanes: Vec<u32>,
}

/// What is numbered anew, because ranks number it each for themselves.
#[derive(Default)]
struct Numbers {
    functions: HashMap<String, u32>,
    modules: HashMap<(String, u64, u64), u32>,
    sites: HashMap<(Option<u32>, u64), u32>,
    shapes: HashMap<Shape, u32>,
}

fn number<K: Hash + Eq>(known: &mut HashMap<K, u32>, key: K, add: impl FnOnce()) -> u32 {
    let next = known.len() as u32;
    *known.entry(key).or_insert_with(|| {
        add();
        next
    })
}

impl RunBuilder {
    /// Adds the next rank.
    pub fn add(&mut self, times: &Times) {
        let rank = self.starts.len();
        self.communicators.add(times);
        self.matching.read(rank, times, &self.communicators);
        self.starts.push(times.start.clone());
        self.add_communicators(rank, times);
        let remark = match (&times.open, times.live.ending) {
            (_, Ending::NoRoom) => format!("there was no more room after {} calls", times.live.calls),
            (Some(open), _) => format!("it ended in {}", open.name),
            _ => String::new(),
        };
        let (host, process) = (times.start.host_name.clone(), times.start.process);
        self.run.processes.push(Process { host, process, remark });
        let shapes = self.shapes(rank, times);
        self.add_calls(rank as u32, times, &shapes);
    }

    fn add_communicators(&mut self, rank: usize, times: &Times) {
        for (number, comm) in times.comms.iter().enumerate() {
            let global = self.communicators.number(rank, number as u32) as usize;
            if self.run.communicators.len() <= global {
                self.run.communicators.resize_with(global + 1, Communicator::default);
            }
            let known = &mut self.run.communicators[global];
            if known.members.is_empty() {
                known.members.clone_from(&comm.members);
                known.remote.clone_from(&comm.remote);
            }
        }
    }

    /// The numbers in the run of a rank's shapes.
    fn shapes(&mut self, rank: usize, times: &Times) -> Vec<u32> {
        let functions: Vec<u32> = times.functions.iter().map(|name| self.function(name)).collect();
        let modules: Vec<u32> = times.modules.iter().map(|module| self.module(module)).collect();
        let site = |site: &Site| (site.module.map(|module| modules[module as usize]), site.offset);
        let sites: Vec<u32> = times.sites.iter().map(|it| self.site(site(it))).collect();
        let comm = |comm: u32| self.communicators.number(rank, comm);
        let renumbered = |shape: &Shape| Shape {
            function: functions[shape.function as usize],
            site: sites[shape.site as usize],
            comm: shape.comm.map(comm),
            ..*shape
        };
        let all: Vec<Shape> = times.shapes.iter().map(renumbered).collect();
        all.into_iter().map(|shape| self.shape(shape)).collect()
    }

    fn function(&mut self, name: &str) -> u32 {
        let run = &mut self.run;
        number(&mut self.numbers.functions, name.to_string(), || {
            run.functions.push(name.to_string());
            run.meanings.push(Function::of(name));
        })
    }

    fn module(&mut self, module: &Module) -> u32 {
        let key = (module.path.clone(), module.size, module.changed_ns);
        number(&mut self.numbers.modules, key, || self.run.modules.push(module.clone()))
    }

    fn site(&mut self, site: (Option<u32>, u64)) -> u32 {
        let (module, offset) = site;
        number(&mut self.numbers.sites, site, || self.run.sites.push(Site { module, offset }))
    }

    fn shape(&mut self, shape: Shape) -> u32 {
        number(&mut self.numbers.shapes, shape, || self.run.shapes.push(shape))
    }

    fn add_calls(&mut self, rank: u32, times: &Times, shapes: &[u32]) {
        let first = self.run.lanes.len();
        let clock = times.clock();
        let ns = |ticks: u64| clock.ns(ticks).min(LATEST_NS) as i64;
        let starts = ns(times.start.before_init.ticks);
        let threads = times.calls.iter().map(|call| call.thread).max().unwrap_or(0);
        for thread in 0..=threads {
            let calls = times.calls.iter().filter(|call| call.thread == thread).count() + 1;
            let (begin, end, shape) =
                (Vec::with_capacity(calls), Vec::with_capacity(calls), Vec::with_capacity(calls));
            self.run.lanes.push(Lane { rank, thread, starts, begin, end, shape, is_open: false });
        }
        self.first_lanes.push(first as u32);
        let mut places = Vec::new();
        for call in &times.calls {
            let number = first as u32 + call.thread;
            let lane = &mut self.run.lanes[number as usize];
            let place = Place { lane: number, call: lane.calls() as u32 };
            // The clock of one lane never goes back: what is computed from several moments may, by rounding.
            let begin = ns(call.entry).max(lane.ends());
            lane.begin.push(begin);
            lane.end.push(ns(call.exit).max(begin));
            lane.shape.push(shapes[call.shape as usize]);
            if threads > 0 {
                places.push(place);
            }
            let name = times.name(call);
            let shape = times.shape(call);
            let comm = match shape.role {
                Role::Collective => shape.comm,
                // All processes of the world call it, and no library returns before they have.
                _ if name == "MPI_Finalize" && !times.comms.is_empty() => Some(0),
                _ => None,
            };
            if let Some(comm) = comm.filter(|_| shape.marks & FAILED == 0) {
                let comm = self.communicators.number(rank as usize, comm);
                self.run.collectives.push(comm, rank, place);
            }
        }
        if threads > 0 {
            self.scattered.insert(rank, places);
        }
        self.add_open_call(first, times, ns);
    }

    /// The call that the rank never left. When the run ended is not known before all ranks are.
    fn add_open_call(&mut self, lane: usize, times: &Times, ns: impl Fn(u64) -> i64) {
        let Some(open) = &times.open else { return };
        let function = self.function(&open.name);
        let first = Envelope { peer: open.peer, tag: open.tag, bytes: None };
        let site = self.site((None, 0));
        let shape = self.shape(Shape { function, site, first, ..Shape::default() });
        let lane = &mut self.run.lanes[lane];
        let begin = ns(open.entry).max(lane.ends());
        lane.begin.push(begin);
        lane.end.push(begin);
        lane.shape.push(shape);
        lane.is_open = true;
    }

    /// The run, when all ranks are there.
    pub fn finish(mut self) -> Run {
        self.set_clocks();
        for number in 0..self.run.communicators.len() {
            self.run.communicators[number].name = self.communicators.name(number as u32).to_string();
        }
        let lanes = self.run.lanes.len();
        let place = |scattered: &HashMap<u32, Vec<Place>>, rank: u32, call: u32| match scattered.get(&rank) {
            Some(places) => places[call as usize],
            None => Place { lane: self.first_lanes[rank as usize], call },
        };
        let mut all = Vec::with_capacity(self.matching.count());
        std::mem::take(&mut self.matching).pairs(|message| {
            let at = |it: evenkeel_trace::times::messages::Place| place(&self.scattered, it.rank, it.call);
            let (taken, posted) = (at(message.taken), at(message.posted));
            let posted = if posted.lane == taken.lane { posted.call } else { OTHER_LANE };
            all.push(Message { sent: at(message.sent), taken, posted, bytes: message.bytes });
        });
        self.run.messages = Messages::new(all, lanes);
        self.run
    }

    /// One clock for all: that of the first host, from the start of the first rank.
    fn set_clocks(&mut self) {
        let (offsets, hosts) = clock::offsets(self.starts.iter());
        self.run.hosts = hosts;
        let furthest = 2 * LATEST_NS as i64;
        let offsets: Vec<i64> = offsets.iter().map(|offset| (*offset).clamp(-furthest, furthest)).collect();
        let shifted = |lane: &Lane| lane.starts + offsets[lane.rank as usize];
        let begins = self.run.lanes.iter().map(shifted).min().unwrap_or(0);
        for lane in &mut self.run.lanes {
            let shift = |at: i64| at + offsets[lane.rank as usize] - begins;
            lane.starts = shift(lane.starts);
            for at in lane.begin.iter_mut().chain(&mut lane.end) {
                *at = shift(*at);
            }
        }
        let length = self.run.length();
        for lane in &mut self.run.lanes {
            if let Some(end) = lane.end.last_mut().filter(|_| lane.is_open) {
                *end = length.max(*end);
            }
        }
    }
}

/// The run of these ranks.
pub fn run(ranks: &[Times]) -> Run {
    let mut builder = RunBuilder::default();
    for times in ranks {
        builder.add(times);
    }
    builder.finish()
}
