//! Who carries the collectives of a communicator across nodes, evenkeel or the host library, where the user
//! wants the faster one (`--nodes auto`).
//!
//! Calls are of one *class* if they are of one kind and of about the same length. For a class at a time both
//! carry calls in turn, in blocks, and each rank measures how long a call takes with all that the program
//! does until the next one: time that a rank does not spend inside a call may have to be spent elsewhere. All
//! members must do the same in each call, so what is done follows from the number of the call alone. At the
//! end of a trial the members add up their times, in the one step for which they wait for each other.
//!
//! Times go in, choices come out. Must never: wait, or read a clock.

use crate::collective::call::{Call, CollectiveKind as Kind};
use std::collections::HashMap;

/// Who carries a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// The host library.
    Library,
    /// evenkeel: the ranks themselves, or the agents.
    Evenkeel,
}

/// What the members do in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This one carries it.
    Use(Carrier),
    /// First they add up these times of all members, in nanoseconds, and pass the sums to
    /// [`Choices::decide`].
    Agree(Times),
}

/// Nanoseconds for a call: the library's, evenkeel's.
pub type Times = [u64; 2];

/// Calls that are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    kind: u32,
    /// Bits of the length; all lengths alike where members have lengths of their own.
    size: u32,
}

/// Calls in a block, and how many at its start are not timed: ranks that ran ahead still work off the block
/// before.
const BLOCK: u64 = 16;
const SETTLING: u64 = 4;
/// Blocks of each of the two.
const BLOCKS: usize = 6;
/// Calls of a class before its first trial: the start of a program is not representative of the rest.
const START: u64 = 8;
/// Calls of a class until the next trial, and how often that is doubled while trials confirm each other.
const FIRST_REST: u64 = 4096;
const LONGEST_REST: u64 = 1 << 22;
/// A trial is given up after so many calls of other classes in succession.
const PATIENCE: u64 = 4096;
/// The other one is chosen if it takes less than this part of the time.
const BETTER: f64 = 0.97;

struct Chosen {
    carrier: Carrier,
    calls: u64,
    next_trial: u64,
    rest: u64,
}

struct Trial {
    class: Class,
    /// The number of its first call in the class.
    first: u64,
    /// When the timed part of the current block began.
    began_ns: u64,
    /// Nanoseconds for a call in the blocks of the library, and of evenkeel.
    times: [Vec<u64>; 2],
    /// Calls of other classes since the last one of this class.
    others: u64,
}

/// The choices of one communicator. All members have the same ones.
#[derive(Default)]
pub struct Choices {
    classes: HashMap<Class, Chosen>,
    trial: Option<Trial>,
}

impl Class {
    /// The class of a call.
    pub fn of(call: &Call) -> Class {
        let is_common = matches!(
            call.kind(),
            Kind::Bcast
                | Kind::Reduce
                | Kind::Allreduce
                | Kind::Gather
                | Kind::Scatter
                | Kind::Allgather
                | Kind::Alltoall
                | Kind::Scan
                | Kind::Exscan
                | Kind::ReduceScatterBlock
        );
        Class { kind: call.kind, size: if is_common { usize::BITS - call.bytes.leading_zeros() } else { 0 } }
    }
}

/// Who carries the calls of a block. The two take turns, and so does who comes first, so that times that grow
/// or shrink over the run favour neither.
fn carrier_in(block: u64) -> Carrier {
    if matches!(block % 4, 0 | 3) { Carrier::Evenkeel } else { Carrier::Library }
}

fn median(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    times[times.len() / 2]
}

impl Choices {
    /// The next call is of this class. `first`: who carries such calls until there is a choice. `now_ns`: the
    /// time.
    pub fn next(&mut self, class: Class, first: Carrier, now_ns: u64) -> Step {
        let chosen = self.classes.entry(class).or_insert(Chosen {
            carrier: first,
            calls: 0,
            next_trial: START,
            rest: FIRST_REST,
        });
        let number = chosen.calls;
        chosen.calls += 1;
        if let Some(trial) = self.trial.as_mut().filter(|trial| trial.class != class) {
            trial.others += 1;
            if trial.others > PATIENCE {
                self.trial = None;
            }
        }
        if self.trial.is_none() && number >= chosen.next_trial {
            let times = [Vec::new(), Vec::new()];
            self.trial = Some(Trial { class, first: number, began_ns: 0, times, others: 0 });
        }
        match &mut self.trial {
            Some(trial) if trial.class == class => trial.next(number, now_ns),
            _ => Step::Use(chosen.carrier),
        }
    }

    /// The members have added up their times: who carries the call, and those that follow.
    ///
    /// # Panics
    /// If [`Choices::next`] has not just asked for it.
    pub fn decide(&mut self, [library, evenkeel]: Times) -> Carrier {
        let trial = self.trial.take().expect("a trial has ended");
        let chosen = self.classes.get_mut(&trial.class).expect("it has a class");
        let is_better = |other: u64, present: u64| (other as f64) < BETTER * present as f64;
        let other = match chosen.carrier {
            Carrier::Library => is_better(evenkeel, library).then_some(Carrier::Evenkeel),
            Carrier::Evenkeel => is_better(library, evenkeel).then_some(Carrier::Library),
        };
        chosen.rest = if other.is_some() { FIRST_REST } else { (chosen.rest * 2).min(LONGEST_REST) };
        chosen.carrier = other.unwrap_or(chosen.carrier);
        chosen.next_trial = chosen.calls + chosen.rest;
        chosen.carrier
    }
}

impl Trial {
    /// Call `number` of the class.
    fn next(&mut self, number: u64, now_ns: u64) -> Step {
        self.others = 0;
        let (block, at) = ((number - self.first) / BLOCK, (number - self.first) % BLOCK);
        if at == SETTLING {
            self.began_ns = now_ns;
        }
        if at == 0 && block > 0 {
            let time = now_ns.saturating_sub(self.began_ns) / (BLOCK - SETTLING);
            self.times[usize::from(carrier_in(block - 1) == Carrier::Evenkeel)].push(time);
        }
        if block == 2 * BLOCKS as u64 {
            let [library, evenkeel] = &mut self.times;
            return Step::Agree([median(library), median(evenkeel)]);
        }
        Step::Use(carrier_in(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    fn class(kind: Kind, bytes: usize) -> Class {
        Class::of(&Call { bytes, ..Call::empty(kind) })
    }

    /// A rank, and how long its calls take: the library's, and evenkeel's.
    struct Rank {
        choices: Choices,
        now_ns: u64,
        ns: Times,
    }

    impl Rank {
        fn new(ns: Times) -> Rank {
            Rank { choices: Choices::default(), now_ns: 1, ns }
        }

        fn take(&mut self, carrier: Carrier) {
            self.now_ns += self.ns[usize::from(carrier == Carrier::Evenkeel)];
        }
    }

    /// The ranks make calls of one class. Returns who carried each.
    fn calls(ranks: &mut [Rank], class: Class, first: Carrier, count: usize) -> Vec<Carrier> {
        (0..count)
            .map(|_| {
                let steps: Vec<Step> =
                    ranks.iter_mut().map(|rank| rank.choices.next(class, first, rank.now_ns)).collect();
                let sums = steps.iter().fold([0, 0], |[a, b], step| match step {
                    Step::Agree([c, d]) => [a + c, b + d],
                    Step::Use(_) => [a, b],
                });
                let carriers: Vec<Carrier> = ranks
                    .iter_mut()
                    .zip(&steps)
                    .map(|(rank, step)| match step {
                        Step::Use(carrier) => *carrier,
                        Step::Agree(_) => rank.choices.decide(sums),
                    })
                    .collect();
                assert!(carriers.iter().all(|carrier| *carrier == carriers[0]), "{carriers:?}");
                ranks.iter_mut().for_each(|rank| rank.take(carriers[0]));
                carriers[0]
            })
            .collect()
    }

    #[test]
    fn the_faster_one_is_chosen_whoever_comes_first() {
        let barrier = class(Kind::Barrier, 0);
        for first in [Carrier::Library, Carrier::Evenkeel] {
            for (ns, faster) in [([100, 50], Carrier::Evenkeel), ([50, 100], Carrier::Library)] {
                let mut ranks = [Rank::new(ns), Rank::new(ns)];
                let carriers = calls(&mut ranks, barrier, first, 2000);
                assert!(carriers[..START as usize].iter().all(|carrier| *carrier == first));
                let trial = START as usize..(START + 2 * BLOCKS as u64 * BLOCK) as usize;
                let by_evenkeel = carriers[trial.clone()].iter().filter(|c| **c == Carrier::Evenkeel).count();
                assert_eq!(by_evenkeel, trial.len() / 2);
                assert!(carriers[trial.end..].iter().all(|carrier| *carrier == faster));
            }
        }
    }

    #[test]
    fn all_members_together_count() {
        // Evenkeel is better for one of three, and worse on the whole.
        let mut ranks = [[100, 50], [100, 140], [100, 140]].map(Rank::new);
        let last = calls(&mut ranks, class(Kind::Bcast, 8), Carrier::Evenkeel, 1000).pop();
        assert_eq!(last, Some(Carrier::Library));
    }

    #[test]
    fn members_that_do_not_add_up_their_times_do_not_agree() {
        let barrier = class(Kind::Barrier, 0);
        let decide = |ns: Times| {
            let mut rank = Rank::new(ns);
            *calls(std::slice::from_mut(&mut rank), barrier, Carrier::Evenkeel, 1000).last().unwrap()
        };
        assert_eq!([[100, 50], [100, 140]].map(decide), [Carrier::Evenkeel, Carrier::Library]);
        let mut together = [[100, 50], [100, 140]].map(Rank::new);
        calls(&mut together, barrier, Carrier::Evenkeel, 1000); // which asserts that they agree
    }

    #[test]
    fn what_changes_later_is_noticed() {
        let (mut ranks, reduce) = ([Rank::new([100, 50])], class(Kind::Reduce, 64));
        assert_eq!(calls(&mut ranks, reduce, Carrier::Library, 1000).pop(), Some(Carrier::Evenkeel));
        ranks[0].ns = [100, 300];
        let carriers = calls(&mut ranks, reduce, Carrier::Library, 3 * FIRST_REST as usize);
        assert_eq!(carriers.last(), Some(&Carrier::Library));
        assert!(carriers.iter().filter(|carrier| **carrier == Carrier::Library).count() > 4000);
    }

    #[test]
    fn a_trial_costs_less_and_less() {
        let mut ranks = [Rank::new([100, 50])];
        let carriers = calls(&mut ranks, class(Kind::Barrier, 0), Carrier::Evenkeel, 300_000);
        let by_library = carriers.iter().filter(|carrier| **carrier == Carrier::Library).count();
        assert!(by_library < 8 * BLOCKS * BLOCK as usize, "{by_library}");
    }

    #[test]
    fn classes_are_tried_one_after_another_and_a_class_that_ends_holds_up_no_other() {
        let classes = [8, 16, 1 << 20].map(|bytes| class(Kind::Allreduce, bytes));
        assert!(classes[0] != classes[1] && class(Kind::Allreduce, 15) == class(Kind::Allreduce, 8));
        assert_eq!(class(Kind::Allgatherv, 5), class(Kind::Allgatherv, 500));
        let (mut ranks, mut random) = ([Rank::new([100, 50]), Rank::new([90, 60])], Random::new(1));
        // The first class ends in the middle of its trial.
        calls(&mut ranks, classes[0], Carrier::Library, 50);
        let mut last = [Carrier::Library; 2];
        for _ in 0..3 * PATIENCE {
            let which = random.below(2);
            last[which] = calls(&mut ranks, classes[1 + which], Carrier::Library, 1)[0];
        }
        assert_eq!(last, [Carrier::Evenkeel; 2]);
    }
}
