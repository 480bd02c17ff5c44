//! All calls of all ranks, under one order of the ranks on their cores.

use super::core::Core;
use super::memory::SharedMemory;
use super::rank::{Pause, RankProgress, Work};
use crate::random::{RandomStream, stream};
use crate::tally::Tally;
use crate::time::VirtualTime;
use crate::workload::Workload;
use evenkeel_schedule::{Rank, Schedule};

/// The cores that ranks share, and what they cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedCores {
    /// The number of cores of the machine that all ranks are on, at least 1.
    pub cores: u32,
    /// What a switch of a core from one rank to the next takes.
    pub switch: VirtualTime,
    /// How long a rank that has a core for itself takes to see what other ranks have written.
    pub look: VirtualTime,
    /// What moving or combining a byte takes, in picoseconds.
    pub work_per_byte_ps: f64,
}

/// Reports calls to a tally that covers several orders.
#[derive(Default)]
pub struct CallLog<'a> {
    /// None: the calls are not counted.
    pub tally: Option<&'a mut Tally>,
    /// The number of calls in the previous orders.
    pub previous_calls: u64,
}

impl CallLog<'_> {
    fn enters(&mut self, call: u64, now: VirtualTime) {
        if let Some(tally) = &mut self.tally {
            tally.enters((self.previous_calls + call) as u32, now);
        }
    }

    fn leaves(&mut self, call: u64, entered: VirtualTime, now: VirtualTime, rank: u32) {
        if let Some(tally) = &mut self.tally {
            tally.done((self.previous_calls + call) as u32, now);
            tally.leaves(entered, now, rank, rank);
        }
    }
}

/// What one order took.
pub struct OrderResult {
    /// When the last rank left its last call.
    pub end: VirtualTime,
    /// When the last core would be done with the computing of its ranks alone.
    pub time_without_calls: VirtualTime,
    /// Messages of all ranks.
    pub messages: u64,
}

/// Why a turn of a rank on its core ended.
#[derive(PartialEq)]
enum TurnEnd {
    Works,
    Waits,
    Done,
}

/// The state of one order.
pub struct Order<'a, 'b> {
    shared: &'a SharedCores,
    calls: u64,
    memory: SharedMemory<'a>,
    ranks: Vec<RankProgress>,
    cores: Vec<Core>,
    entered: Vec<VirtualTime>,
    /// For each core, the time that its ranks have computed.
    computed: Vec<VirtualTime>,
    log: CallLog<'b>,
}

impl<'a, 'b> Order<'a, 'b> {
    /// All ranks before their first call. `order` is the seed of the order of ranks. Rank r is on core r
    /// mod cores.
    pub fn new(
        schedule: &'a Schedule,
        element_bytes: u64,
        shared: &'a SharedCores,
        workload: &Workload,
        order: u64,
        log: CallLog<'b>,
    ) -> Order<'a, 'b> {
        let ranks = schedule.problem.ranks;
        let cores = shared.cores.max(1);
        let per_element_ps = element_bytes as f64 * shared.work_per_byte_ps;
        let work = Work { compute: workload.compute, per_element_ps };
        let core = |core| {
            let random = stream(order, core, RandomStream::Order);
            Core::new((core..ranks).step_by(cores as usize).collect(), random)
        };
        Order {
            shared,
            calls: workload.iterations.into(),
            memory: SharedMemory::new(schedule),
            ranks: (0..ranks)
                .map(|rank| RankProgress::new(schedule, Rank(rank), work, workload.seed))
                .collect(),
            cores: (0..cores).map(core).collect(),
            entered: vec![VirtualTime::ZERO; ranks as usize],
            computed: vec![VirtualTime::ZERO; cores as usize],
            log,
        }
    }

    /// Runs all calls. None if no rank can continue.
    pub fn run(mut self) -> Option<OrderResult> {
        let (mut left, mut end) = (self.ranks.len(), VirtualTime::ZERO);
        while left > 0 {
            let core = self.occupied().min_by_key(|core| self.cores[*core].clock)?;
            let rank = self.cores[core].turn();
            let (turn_end, moved) = self.take_turn(core, rank);
            if moved || turn_end != TurnEnd::Waits {
                self.cores.iter_mut().for_each(Core::wake);
            }
            if turn_end == TurnEnd::Works {
                continue;
            }
            let each = if self.cores[core].is_single() { self.shared.look } else { self.shared.switch };
            self.cores[core].clock += each;
            if turn_end == TurnEnd::Done {
                left -= 1;
                end = end.max(self.cores[core].clock);
                self.cores[core].remove(rank);
            } else {
                self.cores[core].count_idle_turn();
                if self.cores[core].all_wait() {
                    self.idle(core, each)?;
                }
            }
        }
        let time_without_calls = self.computed.into_iter().max()?;
        Some(OrderResult { end, time_without_calls, messages: self.memory.messages })
    }

    /// The cores that have ranks.
    fn occupied(&self) -> impl Iterator<Item = usize> {
        (0..self.cores.len()).filter(|core| !self.cores[*core].is_empty())
    }

    /// Lets a rank continue until its turn ends. Returns also whether anything happened.
    fn take_turn(&mut self, core: usize, rank: u32) -> (TurnEnd, bool) {
        let mut moved = false;
        let now = self.cores[core].clock;
        let me = rank as usize;
        loop {
            match self.ranks[me].advance(self.calls, &mut self.memory) {
                Pause::Works(length) => {
                    if !self.ranks[me].is_inside() {
                        self.computed[core] += length;
                    }
                    self.cores[core].work(rank, length);
                    return (TurnEnd::Works, moved);
                }
                Pause::Entered(call) => {
                    self.entered[me] = now;
                    self.log.enters(call, now);
                }
                Pause::Left(call) => self.log.leaves(call, self.entered[me], now, rank),
                Pause::Waits { moved: any } => return (TurnEnd::Waits, moved || any),
                Pause::Done => return (TurnEnd::Done, moved),
            }
            moved = true;
        }
    }

    /// All ranks of a core wait. Nothing can happen on it before something happens on another core. None
    /// if all ranks of all cores wait.
    fn idle(&mut self, core: usize, each: VirtualTime) -> Option<()> {
        let active = self.occupied().filter(|other| *other != core && !self.cores[*other].all_wait());
        let until = active.map(|other| self.cores[other].clock).min()?;
        self.cores[core].idle_until(until, each);
        Some(())
    }
}
