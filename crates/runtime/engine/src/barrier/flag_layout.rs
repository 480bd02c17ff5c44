//! Where the flags and counters of a schedule lie, and which schedules the engine can run.

use evenkeel_schedule::{Counter, Flag, Rank, RankSet, Schedule, Step};
use evenkeel_segment::FlagGeometry;
use std::collections::{HashMap, HashSet};
use thiserror::Error;

/// The most flags and counters that a rank may have. More do not fit beside a communicator's own block.
const MOST_WORDS: u32 = 500;

/// Why the engine cannot run a schedule.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UnsupportedScheduleError {
    /// Some steps move data.
    #[error("it moves data, and the engine runs schedules of barriers only")]
    Data,
    /// A flag is raised more than once in an epoch, or epochs alternate between banks of flags.
    #[error(
        "it raises flags several times in an epoch or alternates between banks of flags; barriers do neither"
    )]
    Turns,
    /// Some ranks wait for a counter that other ranks use to elect the last to arrive.
    #[error("ranks wait for a counter that elects the last rank to arrive, and counting there wakes no rank")]
    CountedAndAwaited,
    /// A rank needs this many flags and counters.
    #[error("a rank needs {0} flags and counters, and the engine supports at most {MOST_WORDS}")]
    TooManyFlags(u32),
}

/// Where flags lie: how many words there are, and which flags of different ranks share a word.
pub struct FlagLayout {
    /// The number of words and how they are arranged.
    pub geometry: FlagGeometry,
    /// The first rank of the set, for each flag that is only ever raised for a whole set of ranks at once.
    homes: HashMap<(Rank, Flag), Rank>,
}

impl FlagLayout {
    /// Derives the layout from the steps of all ranks. Every rank derives the same one.
    pub fn of(schedule: &Schedule) -> Result<FlagLayout, UnsupportedScheduleError> {
        let resources = schedule.resources;
        let words = resources.flags.saturating_add(resources.counters);
        if words > MOST_WORDS {
            return Err(UnsupportedScheduleError::TooManyFlags(words));
        }
        if resources.turns != 1 || resources.banks != 1 {
            return Err(UnsupportedScheduleError::Turns);
        }
        let raises = Raises::of(schedule)?;
        if !raises.counted.is_disjoint(&raises.awaited) {
            return Err(UnsupportedScheduleError::CountedAndAwaited);
        }
        // A set shares one word only if the flags of all its members are always raised together.
        let sets = &raises.sets;
        let is_one =
            |set: RankSet, slot: Flag| set.iter().all(|rank| sets.get(&(rank, slot)) == Some(&Some(set)));
        let homes = sets.iter().filter_map(|((rank, slot), set)| {
            set.filter(|set| is_one(*set, *slot)).map(|set| ((*rank, *slot), set.first))
        });
        let homes = homes.collect();
        let geometry = FlagGeometry::new(
            schedule.problem.ranks as usize,
            resources.flags as usize,
            resources.counters as usize,
        );
        Ok(FlagLayout { geometry, homes })
    }

    pub(super) fn flag(&self, rank: Rank, slot: Flag) -> u32 {
        let home = self.homes.get(&(rank, slot)).copied().unwrap_or(rank);
        self.geometry.flag(home.0 as usize, slot.0 as usize) as u32
    }

    pub(super) fn counter(&self, rank: Rank, counter: Counter) -> u32 {
        self.geometry.counter(rank.0 as usize, counter.0 as usize) as u32
    }
}

/// How the steps of all ranks use flags and counters.
#[derive(Default)]
struct Raises {
    /// The set of ranks for which a flag is always raised at once. `None` if it is raised in different
    /// ways, or for one rank.
    sets: HashMap<(Rank, Flag), Option<RankSet>>,
    /// Counters that elect the last rank to arrive.
    counted: HashSet<(Rank, Counter)>,
    /// Counters for which ranks wait.
    awaited: HashSet<(Rank, Counter)>,
}

impl Raises {
    fn of(schedule: &Schedule) -> Result<Raises, UnsupportedScheduleError> {
        let mut raises = Raises::default();
        for rank in (0..schedule.problem.ranks).map(Rank) {
            for (_, step) in schedule.program(rank) {
                raises.add(rank, step)?;
            }
        }
        Ok(raises)
    }

    fn add(&mut self, rank: Rank, step: Step) -> Result<(), UnsupportedScheduleError> {
        match step {
            Step::Put { to, flag, .. } => self.add_raise(to, flag, None),
            Step::Multicast { to, flag, .. } => {
                to.iter().for_each(|rank| self.add_raise(rank, flag, Some(to)));
            }
            Step::Count { at, counter, .. } => _ = self.counted.insert((at, counter)),
            Step::AwaitCount { counter, previous: false, .. } => _ = self.awaited.insert((rank, counter)),
            Step::Wait { turn: 1, .. } | Step::Add { .. } => {}
            Step::Wait { .. } | Step::AwaitCount { .. } => return Err(UnsupportedScheduleError::Turns),
            Step::Send { .. } | Step::Share { .. } | Step::Combine { .. } | Step::Copy { .. } => {
                return Err(UnsupportedScheduleError::Data);
            }
        }
        Ok(())
    }

    fn add_raise(&mut self, to: Rank, slot: Flag, set: Option<RankSet>) {
        self.sets
            .entry((to, slot))
            .and_modify(|known| *known = known.filter(|k| Some(*k) == set))
            .or_insert(set);
    }
}
