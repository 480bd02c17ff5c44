//! The simulation itself.
//!
//! A rank runs through its steps on a clock of its own until it must wait for something that has not
//! come by now. Only what comes to a rank from elsewhere is an event: a flag that is raised, a counter
//! that is added to, a counter's answer. Between events a rank's clock may run ahead of the others',
//! since nothing that it does reaches anybody sooner than the least latency.
//!
//! A message costs its sender's processor o_s; the next may follow g after it began; it arrives L after
//! the overhead (and G for each further byte). Arrivals at a rank are g apart. Taking notice of one, in
//! the order of the steps that wait, costs o_r.

mod calls;
mod steps;

use crate::machine::{Machine, WITHIN_NODE};
use crate::observer::{Activity, Observer};
use crate::outcome::{Outcome, Tally};
use crate::processors::Processors;
use crate::queue::{Event, Queue};
use crate::random::{Purpose, sequence};
use crate::time::VirtualTime;
use crate::workload::{Leaving, Workload};
use evenkeel_schedule::{Counter, Flag, Rank, Round, Schedule, Step, flag_value};

/// Something on its way to a rank, or arriving there. 24 bytes: there are as many as messages in flight.
#[derive(Clone, Copy)]
struct Message {
    time: VirtualTime,
    to: u32,
    /// A cell's index, with the kind and the way in the upper bits.
    cell: u32,
    /// What a flag is raised to; what a counter answered.
    value: u32,
    /// Whose lateness this message is due to; of a fetch-and-increment, who asks.
    origin: u32,
}

impl Event for Message {
    fn time(&self) -> VirtualTime {
        self.time
    }
    fn rank(&self) -> u32 {
        self.to
    }
}

const KIND: u32 = 3 << 30;
const RAISE: u32 = 0 << 30;
const ADD: u32 = 1 << 30;
const COUNT: u32 = 2 << 30;
const ANSWER: u32 = 3 << 30;
/// It came from another rank of the node.
const WITHIN: u32 = 1 << 29;
const CELL: u32 = WITHIN - 1;

/// A word that others write: a flag or a counter.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// When the last change was there to be seen.
    seen: VirtualTime,
    value: u32,
    /// Whose lateness the last change is due to; the uppermost bit: it came from within the node.
    origin: u32,
}

const CELL_WITHIN: u32 = 1 << 31;
/// The rank changed it itself.
const OWN: u32 = u32::MAX;

/// What a rank waits for, instead of a cell's index.
const NOTHING: u32 = u32::MAX;
const AN_ANSWER: u32 = u32::MAX - 1;
/// It is through with all calls, or dead.
const OVER: u32 = u32::MAX - 2;

/// The state of a rank: less than a cache line.
#[derive(Clone, Copy)]
struct State {
    /// Of whoever does the steps.
    clock: VirtualTime,
    /// When its network card takes the next message, and when the next can arrive.
    out_free: VirtualTime,
    in_free: VirtualTime,
    /// When the program entered the call.
    entered: VirtualTime,
    epoch: u32,
    round: u32,
    step: u32,
    waits: u32,
    /// The value that the awaited cell must reach.
    wants: u32,
    origin: u32,
}

/// A loop of calls of a schedule, on a machine.
pub struct Simulation<'a, W: Observer> {
    schedule: &'a Schedule,
    machine: &'a Machine,
    workload: &'a Workload,
    element_bytes: u64,
    processors: Processors,
    states: Vec<State>,
    cells: Vec<Cell>,
    cells_per_bank: u32,
    cells_per_rank: usize,
    queue: Queue<Message>,
    /// When each rank's last `window` calls were complete and whose lateness that was due to, by epoch mod
    /// window.
    complete: Vec<(VirtualTime, u32)>,
    tally: Tally,
    observer: &'a mut W,
    steps: Round,
}

/// Why something cannot be simulated.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    #[error(
        "cannot simulate a machine without latency: there would be no order of events. Give every way between ranks a latency of at least a picosecond."
    )]
    NoLatency,
    #[error(
        "cannot simulate {algorithm} with {ranks} ranks: it has {per_rank} flags and counters per rank, {gib} GiB in all, and {most} GiB is the most. Take fewer ranks or another algorithm."
    )]
    Memory { algorithm: &'static str, ranks: u32, per_rank: u64, gib: u64, most: u64 },
    #[error("cannot simulate this noise: {0}. Choose longer intervals or shorter detours.")]
    Noise(String),
    #[error("cannot disturb rank {rank}: there are {ranks} ranks, and the last is {last}. Name one of them.", last = ranks - 1)]
    NoRank { rank: u32, ranks: u32 },
}

const MOST_CELL_BYTES: u64 = 6 << 30;

/// Runs it. `progress` is told the share done, now and then. Time and memory are linear in ranks and in
/// messages.
pub fn simulate<W: Observer>(
    schedule: &Schedule,
    element_bytes: u64,
    machine: &Machine,
    workload: &Workload,
    observer: &mut W,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, SimulationError> {
    let mut simulation = Simulation::new(schedule, element_bytes, machine, workload, observer)?;
    let ranks = schedule.problem.ranks;
    for rank in 0..ranks {
        let skew = workload.skew.draw(&mut sequence(workload.seed, rank, Purpose::Skew));
        let mut state = simulation.states[rank as usize];
        let enters = simulation.enter(rank, &mut state, skew);
        simulation.states[rank as usize] = state;
        if enters {
            simulation.go(rank);
        }
    }
    let mut arrivals = Vec::new();
    let mut told = 0;
    while simulation.queue.next_window(&mut arrivals) {
        for message in &arrivals {
            simulation.arrive(message);
        }
        simulation.tally.messages += arrivals.len() as u64;
        if simulation.tally.messages - told > 1 << 18 {
            told = simulation.tally.messages;
            progress(
                simulation.tally.calls as f64 / (u64::from(ranks) * u64::from(workload.iterations)) as f64,
            );
        }
    }
    for rank in 0..ranks {
        simulation.run_ahead(rank);
    }
    Ok(simulation.tally.outcome())
}

impl<'a, W: Observer> Simulation<'a, W> {
    fn new(
        schedule: &'a Schedule,
        element_bytes: u64,
        machine: &'a Machine,
        workload: &'a Workload,
        observer: &'a mut W,
    ) -> Result<Self, SimulationError> {
        let ranks = schedule.problem.ranks;
        if machine.least_latency() == VirtualTime::ZERO {
            return Err(SimulationError::NoLatency);
        }
        if let Some(why) = workload.noise.trouble() {
            return Err(SimulationError::Noise(why));
        }
        if let Some((rank, _)) = workload.faults.iter().find(|(rank, _)| *rank >= ranks) {
            return Err(SimulationError::NoRank { rank: *rank, ranks });
        }
        let resources = &schedule.resources;
        let per_rank =
            (u64::from(resources.flags) + u64::from(resources.counters)) * u64::from(resources.banks);
        let bytes = per_rank * u64::from(ranks) * size_of::<Cell>() as u64;
        if bytes > MOST_CELL_BYTES || per_rank > u64::from(CELL) {
            return Err(SimulationError::Memory {
                algorithm: schedule.algorithm.name,
                ranks,
                per_rank,
                gib: bytes >> 30,
                most: MOST_CELL_BYTES >> 30,
            });
        }
        let window = match workload.leaving {
            Leaving::Strict => 0,
            Leaving::Bypass { window } => window as usize,
        };
        let idle = State {
            clock: VirtualTime::ZERO,
            out_free: VirtualTime::ZERO,
            in_free: VirtualTime::ZERO,
            entered: VirtualTime::ZERO,
            epoch: 0,
            round: 0,
            step: 0,
            waits: NOTHING,
            wants: 0,
            origin: 0,
        };
        Ok(Simulation {
            schedule,
            machine,
            workload,
            element_bytes,
            processors: Processors::new(workload, ranks),
            states: vec![idle; ranks as usize],
            cells: vec![Cell::default(); (per_rank * u64::from(ranks)) as usize],
            cells_per_bank: resources.flags + resources.counters,
            cells_per_rank: per_rank as usize,
            queue: Queue::new(machine.least_latency()),
            complete: vec![(VirtualTime::ZERO, 0); window * ranks as usize],
            tally: Tally::new(ranks, workload.iterations),
            observer,
            steps: Round::new(),
        })
    }

    /// What comes to a rank, comes.
    fn arrive(&mut self, message: &Message) {
        let rank = message.to as usize;
        let state = &mut self.states[rank];
        let way = usize::from(message.cell & WITHIN != 0);
        if message.cell & KIND == ANSWER {
            state.clock = state.clock.max(message.time);
            state.wants = u32::from(message.value == state.wants);
            self.go(message.to);
            return;
        }
        let seen = message.time.max(state.in_free);
        state.in_free = seen + self.machine.links[way].cost(1).gap;
        let index = message.cell & CELL;
        let cell = &mut self.cells[rank * self.cells_per_rank + index as usize];
        if message.cell & KIND == RAISE {
            // A flag never falls. If it is raised again before the rank has looked, it is the later time that
            // is kept, which matters only while arrivals queue up.
            cell.value = cell.value.max(message.value);
        } else {
            cell.value += 1;
        }
        cell.seen = seen;
        if message.cell & KIND == COUNT {
            let link = &self.machine.links[way];
            let time = seen + link.cost(1).latency;
            self.queue.push(Message {
                time,
                to: message.origin,
                cell: ANSWER | message.cell & WITHIN,
                value: cell.value,
                origin: message.to,
            });
            self.observer.message(message.to, message.origin, seen, time);
        } else {
            cell.origin = message.origin | if way == WITHIN_NODE { CELL_WITHIN } else { 0 };
        }
        if state.waits == index && cell.value >= state.wants {
            self.go(message.to);
        }
    }

    /// Goes on with a rank's steps until it waits, is through with all calls, or dies.
    fn go(&mut self, rank: u32) {
        let mut steps = std::mem::take(&mut self.steps);
        let mut state = self.states[rank as usize];
        let rounds = self.schedule.rounds();
        let bank = |epoch: u32| self.schedule.bank(u64::from(epoch));
        let (mut base, mut uses) = (0, 0);
        let mut stale = true;
        // Messages of the current run that are still to be sent, and how many it has.
        let mut burst = 0_u8;
        loop {
            if stale {
                let (bank, n) = bank(state.epoch);
                (base, uses) = (bank as u32 * self.cells_per_bank, n);
                self.schedule.round(Rank(rank), state.round, &mut steps);
                stale = false;
            }
            let Some(step) = steps.steps.get(state.step as usize) else {
                (state.round, state.step, stale) = (state.round + 1, 0, true);
                if state.round < rounds {
                    continue;
                }
                let left = self.leave(rank, &state);
                if !self.enter(rank, &mut state, left) {
                    break;
                }
                continue;
            };
            let flag_word = |flag: &Flag| base + flag.0;
            let counter = |counter: &Counter| base + self.schedule.resources.flags + counter.0;
            let value = |turn: &u16| flag_value(uses, self.schedule.resources.turns, *turn) as u32;
            if !is_message(step) {
                burst = 0;
            } else if burst == 0 {
                burst =
                    steps.steps[state.step as usize..].iter().take_while(|s| is_message(s)).count().min(255)
                        as u8;
            }
            let elements = |n: u32| u64::from(n) * self.element_bytes;
            match step {
                Step::Put { to, flag, turn } => {
                    self.send(rank, &mut state, to.0, RAISE | flag_word(flag), value(turn), 0, burst)
                }
                Step::Send { to, flag, turn, is_repeat: true, length, .. } if self.machine.repeats => {
                    self.repeat(
                        rank,
                        &mut state,
                        to.0,
                        RAISE | flag_word(flag),
                        value(turn),
                        elements(*length),
                    );
                }
                Step::Send { to, flag, turn, length, .. } => self.send(
                    rank,
                    &mut state,
                    to.0,
                    RAISE | flag_word(flag),
                    value(turn),
                    elements(*length),
                    burst,
                ),
                Step::Multicast { to, flag, turn } => {
                    let mut had = [false; 2];
                    for to in to.iter() {
                        let way = self.machine.way(rank, to.0);
                        if to.0 != rank
                            && self.machine.multicast[way]
                            && std::mem::replace(&mut had[way], true)
                        {
                            let link = &self.machine.links[way];
                            let time = state.clock + link.cost(1).latency;
                            self.post(rank, &state, to.0, RAISE | flag_word(flag), value(turn), time);
                        } else {
                            self.send(rank, &mut state, to.0, RAISE | flag_word(flag), value(turn), 0, burst);
                        }
                    }
                }
                Step::Share { length, .. } => self.share(rank, &mut state, elements(*length)),
                Step::Add { at, counter: of } => {
                    self.send(rank, &mut state, at.0, ADD | counter(of), 0, 0, burst)
                }
                Step::Count { at, counter: which, of, otherwise } => {
                    if state.waits == AN_ANSWER {
                        let cost = *self.machine.links[self.machine.way(rank, at.0)].cost(1);
                        self.work(rank, &mut state, Activity::Receive, cost.receive);
                        state.waits = NOTHING;
                        if state.wants == 0 {
                            (state.round, state.step, stale) = (*otherwise, 0, true);
                            continue;
                        }
                    } else {
                        self.send(rank, &mut state, at.0, COUNT | counter(which), 0, 0, 1);
                        state.wants = (uses * u64::from(*of)) as u32;
                        if state.waits != OVER {
                            state.waits = AN_ANSWER;
                            break;
                        }
                    }
                }
                Step::Wait { flag, turn } => self.wait(rank, &mut state, flag_word(flag), value(turn)),
                Step::AwaitCount { counter: which, of, previous } => {
                    let times = uses - u64::from(*previous);
                    self.wait(rank, &mut state, counter(which), (times * u64::from(*of)) as u32);
                }
                Step::Combine { length, .. } | Step::Copy { length, .. } => {
                    let work = VirtualTime::from_ps(
                        (elements(*length) as f64 * self.machine.work_per_byte_ps).round() as u64,
                    );
                    self.work(rank, &mut state, Activity::Combine, work);
                }
            }
            if state.waits != NOTHING {
                break;
            }
            state.step += 1;
        }
        self.states[rank as usize] = state;
        self.steps = steps;
    }
}

/// Whether a step sends one message of a run of messages.
fn is_message(step: &Step) -> bool {
    matches!(step, Step::Put { .. } | Step::Send { .. } | Step::Add { .. })
}
