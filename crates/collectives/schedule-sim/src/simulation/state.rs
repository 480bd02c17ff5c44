//! The state of a simulation: the ranks, their flags and counters, and the messages in flight.

use super::error::SimulationError;
use crate::machine::Machine;
use crate::observer::Observer;
use crate::processors::Processors;
use crate::queue::{Event, EventQueue};
use crate::space::{MOST_BYTES, too_many_gib};
use crate::tally::Tally;
use crate::time::VirtualTime;
use crate::workload::{Leaving, Workload};
use evenkeel_schedule::{Round, Schedule};

/// A message in flight, or arriving. 24 bytes: there are as many as messages in flight.
#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) time: VirtualTime,
    pub(super) to: u32,
    /// The index of a word of the receiver. The upper bits hold the [`KIND`] and whether it is
    /// [`WITHIN`].
    pub(super) word: u32,
    /// The value to which a flag is raised, or the value that a counter answers.
    pub(super) value: u32,
    /// The rank whose lateness caused this message. For an addition that wants an answer: the rank that
    /// asks.
    pub(super) origin: u32,
}

impl Event for Message {
    fn time(&self) -> VirtualTime {
        self.time
    }
    fn rank(&self) -> u32 {
        self.to
    }
}

/// The bits of [`Message::word`] that say what the message does.
pub(super) const KIND: u32 = 3 << 30;
pub(super) const RAISE: u32 = 0 << 30;
pub(super) const ADD: u32 = 1 << 30;
pub(super) const COUNT: u32 = 2 << 30;
pub(super) const ANSWER: u32 = 3 << 30;
/// The message comes from another rank of the same node.
pub(super) const WITHIN: u32 = 1 << 29;
/// The bits of [`Message::word`] that are the index.
pub(super) const INDEX: u32 = WITHIN - 1;

/// A word that other ranks write: a flag or a counter.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    /// When the last change could be seen.
    pub(super) seen: VirtualTime,
    pub(super) value: u32,
    /// The rank whose lateness caused the last change. The uppermost bit says that it came from within
    /// the node.
    pub(super) origin: u32,
}

pub(super) const ORIGIN_WITHIN: u32 = 1 << 31;
/// The origin of a change that the rank made itself.
pub(super) const OWN: u32 = u32::MAX;

/// Values of [`RankState::waits`] that are not the index of a word.
pub(super) const NOTHING: u32 = u32::MAX;
pub(super) const AN_ANSWER: u32 = u32::MAX - 1;
/// The rank has completed all calls, or is dead.
pub(super) const OVER: u32 = u32::MAX - 2;

/// The state of a rank: less than a cache line.
#[derive(Clone, Copy)]
pub(super) struct RankState {
    /// The clock of the processor or agent that takes the rank's steps.
    pub(super) clock: VirtualTime,
    /// When its network card takes the next message, and when the next one can arrive.
    pub(super) out_free: VirtualTime,
    pub(super) in_free: VirtualTime,
    /// When the program entered the call.
    pub(super) entered: VirtualTime,
    pub(super) epoch: u32,
    pub(super) round: u32,
    pub(super) step: u32,
    /// The word that it waits for, or [`NOTHING`], [`AN_ANSWER`], [`OVER`].
    pub(super) waits: u32,
    /// The value that the awaited word must reach.
    pub(super) wants: u32,
    pub(super) origin: u32,
}

/// A loop of calls of a schedule, on a machine.
pub(super) struct Simulation<'a, O: Observer> {
    pub(super) schedule: &'a Schedule,
    pub(super) machine: &'a Machine,
    pub(super) workload: &'a Workload,
    pub(super) element_bytes: u64,
    pub(super) processors: Processors,
    pub(super) states: Vec<RankState>,
    pub(super) words: Vec<Word>,
    pub(super) words_per_bank: u32,
    pub(super) words_per_rank: usize,
    pub(super) queue: EventQueue<Message>,
    /// When each rank's last `window` calls were complete and which rank's lateness caused that, by epoch
    /// mod window.
    pub(super) complete: Vec<(VirtualTime, u32)>,
    pub(super) tally: Tally,
    pub(super) observer: &'a mut O,
    pub(super) steps: Round,
}

/// What a rank has besides its words, in bytes: its state, its lateness, its noise and random numbers, and a
/// message in flight, of which there are up to four copies while vectors grow.
const RANK_BYTES: u64 = (size_of::<RankState>() + 16 + 64 + 4 * size_of::<Message>()) as u64;

/// All words that fit into memory can be numbered.
const _: () = assert!(INDEX as u64 * size_of::<Word>() as u64 > MOST_BYTES);

impl<'a, O: Observer> Simulation<'a, O> {
    /// A simulation before any rank has begun, if its parts make sense.
    pub(super) fn new(
        schedule: &'a Schedule,
        element_bytes: u64,
        machine: &'a Machine,
        workload: &'a Workload,
        observer: &'a mut O,
    ) -> Result<Self, SimulationError> {
        let ranks = schedule.problem.ranks;
        let words_per_rank = check(schedule, machine, workload)?;
        let window = match workload.leaving {
            Leaving::Strict => 0,
            Leaving::Bypass { window } => window as usize,
        };
        let resources = &schedule.resources;
        Ok(Simulation {
            schedule,
            machine,
            workload,
            element_bytes,
            processors: Processors::new(workload, ranks),
            states: vec![RankState::IDLE; ranks as usize],
            words: vec![Word::default(); (words_per_rank * u64::from(ranks)) as usize],
            words_per_bank: resources.flags + resources.counters,
            words_per_rank: words_per_rank as usize,
            queue: EventQueue::new(machine.least_latency()),
            complete: vec![(VirtualTime::ZERO, 0); window * ranks as usize],
            tally: Tally::new(ranks, workload.iterations),
            observer,
            steps: Round::new(),
        })
    }

    /// A word of a rank. `word` may have the upper bits of [`Message::word`].
    #[inline]
    pub(super) fn word(&mut self, rank: u32, word: u32) -> &mut Word {
        &mut self.words[rank as usize * self.words_per_rank + (word & INDEX) as usize]
    }
}

impl RankState {
    const IDLE: RankState = RankState {
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
}

/// Whether all this can be simulated. Returns the number of words per rank.
fn check(schedule: &Schedule, machine: &Machine, workload: &Workload) -> Result<u64, SimulationError> {
    let ranks = schedule.problem.ranks;
    if machine.least_latency() == VirtualTime::ZERO {
        return Err(SimulationError::NoLatency);
    }
    workload.noise.check().map_err(SimulationError::Noise)?;
    if let Some((rank, _)) = workload.faults.iter().find(|(rank, _)| *rank >= ranks) {
        return Err(SimulationError::NoRank { rank: *rank, ranks });
    }
    let resources = &schedule.resources;
    let per_rank = (u64::from(resources.flags) + u64::from(resources.counters)) * u64::from(resources.banks);
    let window = match workload.leaving {
        Leaving::Strict => 0,
        Leaving::Bypass { window } => u64::from(window) * size_of::<(VirtualTime, u32)>() as u64,
    };
    let per_rank_bytes = per_rank.saturating_mul(size_of::<Word>() as u64) + RANK_BYTES + window;
    let calls = workload.iterations;
    match too_many_gib(ranks, per_rank_bytes, calls.into()) {
        None => Ok(per_rank),
        Some(gib) => Err(SimulationError::Memory {
            algorithm: schedule.algorithm.name,
            ranks,
            calls,
            per_rank,
            gib,
            most: MOST_BYTES >> 30,
        }),
    }
}
