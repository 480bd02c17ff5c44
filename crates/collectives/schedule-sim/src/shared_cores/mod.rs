//! Ranks that share cores: who waits gives its core away, and what counts is how often that happens.
//!
//! Where there are more ranks than cores, a message that is written is seen at once, compared with the
//! time until its receiver is given a core again. So messages cost nothing here; what costs is each
//! time that a core goes from one rank to the next. Each core goes around its ranks, in an order that
//! nobody chose and that stays the same, as it does where all yield to each other; a rank that is given
//! the core goes on until it has to wait, and gives it away. One that still has to wait has cost as
//! much as one that went on. Nobody is made to give its core away: work that takes longer than the
//! kernel's turns is not cut up here.

mod core;
mod runner;

use crate::outcome::{Outcome, Tally};
use crate::random::{Purpose, sequence};
use crate::time::VirtualTime;
use crate::workload::{Leaving, Workload};
use crate::{Noise, Span};
use core::Core;
use evenkeel_schedule::{Rank, Schedule};
use runner::{Memory, Runner, Stop, Work};

/// The cores, and what they cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedCores {
    /// Of the machine that all ranks are on; at least one.
    pub cores: u32,
    /// What handing a core from one rank to the next takes.
    pub switch: VirtualTime,
    /// How long a rank that has a core for itself takes to see what others have written.
    pub look: VirtualTime,
    /// What moving or combining a byte takes, in picoseconds.
    pub work_per_byte_ps: f64,
}

/// Why ranks that share cores cannot be simulated so.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum SharedCoresError {
    #[error(
        "cannot simulate {0} where ranks share cores: there, only handing over cores and work are counted. Leave it out, or give each rank a core."
    )]
    Unsupported(&'static str),
    #[error(
        "cannot carry the schedule out: no rank can go on. `evenkeel schedule check` says what is wrong with it."
    )]
    Deadlock,
}

/// What there is to be told of ranks that share cores.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedOutcome {
    /// Of all orders together; `end` and `messages` are means over them, and nobody is said to be late.
    pub outcome: Outcome,
    /// When the last core would be through with its ranks' work alone.
    pub time_without_calls: VirtualTime,
}

/// How long so many calls in a row take, until the last rank has left the last one. Rank r is on core r
/// mod cores; the orders of the ranks on their cores are drawn from `order`, and a mean over several is
/// what is to be expected. None if nobody can go on, which no right schedule comes to. Time is linear
/// in calls, ranks and the rounds of the schedule.
///
/// ```
/// use evenkeel_schedule::{Problem, Schedule};
/// use evenkeel_schedule_sim::{SharedCores, VirtualTime, time_on_shared_cores};
/// let schedule = Schedule::parse("central-counter", Problem::new(16)).unwrap();
/// let cores = SharedCores { cores: 1, switch: VirtualTime::from_ns(1000.0), look: VirtualTime::from_ns(100.0), work_per_byte_ps: 0.0 };
/// // Whoever completes the count goes on at once: 15 switches a barrier, and all leave the last one.
/// assert_eq!(time_on_shared_cores(&schedule, &cores, 100, 1), Ok(VirtualTime::from_ns(1000.0 * (100.0 * 15.0 + 15.0) + 100.0)));
/// ```
pub fn time_on_shared_cores(
    schedule: &Schedule,
    cores: &SharedCores,
    calls: u32,
    order: u64,
) -> Result<VirtualTime, SharedCoresError> {
    let workload = Workload { iterations: calls, ..Workload::default() };
    run(schedule, 1, cores, &workload, order, &mut Told::default())
        .map(|run| run.end)
        .ok_or(SharedCoresError::Deadlock)
}

/// Runs a loop of work and calls on shared cores, under so many orders of ranks (at least one): the
/// ones that seeds from the workload's on draw. Everybody begins at the same time, undisturbed, and
/// stays in a call until its own steps are done. `progress` is told the share done.
pub fn simulate_shared(
    schedule: &Schedule,
    element_bytes: u64,
    cores: &SharedCores,
    workload: &Workload,
    orders: u32,
    progress: &mut dyn FnMut(f64),
) -> Result<SharedOutcome, SharedCoresError> {
    let beyond = [
        (workload.noise != Noise::None, "noise"),
        (workload.skew != Span::NONE, "skew"),
        (!workload.faults.is_empty(), "slow, stalled or dead ranks"),
        (workload.leaving != Leaving::Strict, "leaving at once"),
    ];
    if let Some((_, what)) = beyond.into_iter().find(|(asked, _)| *asked) {
        return Err(SharedCoresError::Unsupported(what));
    }
    let orders = orders.max(1);
    let mut tally = Tally::new(schedule.problem.ranks, workload.iterations * orders);
    let (mut ends, mut alone) = (0u128, VirtualTime::ZERO);
    for order in 0..orders {
        let mut told = Told { tally: Some(&mut tally), before: u64::from(order * workload.iterations) };
        let run = run(
            schedule,
            element_bytes,
            cores,
            workload,
            workload.seed.wrapping_add(order.into()),
            &mut told,
        )
        .ok_or(SharedCoresError::Deadlock)?;
        ends += u128::from(run.end.ps());
        alone = run.alone;
        tally.messages += run.messages;
        progress(f64::from(order + 1) / f64::from(orders));
    }
    let end = VirtualTime::from_ps((ends / u128::from(orders)) as u64);
    tally.messages /= u64::from(orders);
    Ok(SharedOutcome { outcome: Outcome { end, ..tally.outcome() }, time_without_calls: alone })
}

/// Whom to tell of calls, if anybody, and how many calls there were in the orders before.
#[derive(Default)]
struct Told<'a> {
    tally: Option<&'a mut Tally>,
    before: u64,
}

struct Run {
    end: VirtualTime,
    alone: VirtualTime,
    messages: u64,
}

/// One order; None if nobody can go on.
fn run(
    schedule: &Schedule,
    element_bytes: u64,
    shared: &SharedCores,
    workload: &Workload,
    order: u64,
    told: &mut Told,
) -> Option<Run> {
    let ranks = schedule.problem.ranks;
    let number = shared.cores.max(1);
    let work =
        Work { compute: workload.compute, per_element_ps: element_bytes as f64 * shared.work_per_byte_ps };
    let mut memory = Memory::new(schedule);
    let mut runners: Vec<Runner> =
        (0..ranks).map(|rank| Runner::new(schedule, Rank(rank), work, workload.seed)).collect();
    let mut cores: Vec<Core> = (0..number)
        .map(|core| {
            Core::new((core..ranks).step_by(number as usize).collect(), sequence(order, core, Purpose::Order))
        })
        .collect();
    let mut entered = vec![VirtualTime::ZERO; ranks as usize];
    let mut computed = vec![VirtualTime::ZERO; number as usize];
    let (mut left, mut end) = (ranks, VirtualTime::ZERO);
    while left > 0 {
        let core =
            (0..cores.len()).filter(|core| !cores[*core].is_empty()).min_by_key(|core| cores[*core].clock)?;
        let rank = cores[core].turn();
        let mut moved = false;
        let over = loop {
            let now = cores[core].clock;
            match runners[rank as usize].go(workload.iterations.into(), &mut memory) {
                Stop::Works(length) => {
                    if !runners[rank as usize].is_inside() {
                        computed[core] += length;
                    }
                    cores[core].work(rank, length);
                    break None;
                }
                Stop::Enters(call) => {
                    entered[rank as usize] = now;
                    told.enters(call, now);
                }
                Stop::Leaves(call) => told.leaves(call, entered[rank as usize], now, rank),
                Stop::Waits { moved: any } => {
                    moved |= any;
                    break Some(false);
                }
                Stop::Over => break Some(true),
            }
            moved = true;
        };
        if moved || over != Some(false) {
            cores.iter_mut().for_each(Core::wake);
        }
        let Some(over) = over else { continue };
        let each = if cores[core].is_single() { shared.look } else { shared.switch };
        cores[core].clock += each;
        if over {
            left -= 1;
            end = end.max(cores[core].clock);
            cores[core].remove(rank);
            continue;
        }
        cores[core].has_waited();
        if cores[core].all_wait() {
            // Nothing can happen here before it happens elsewhere.
            let others = || (0..cores.len()).filter(|other| *other != core && !cores[*other].is_empty());
            if others().all(|other| cores[other].all_wait()) {
                return None;
            }
            let until =
                others().filter(|other| !cores[*other].all_wait()).map(|other| cores[other].clock).min()?;
            cores[core].idle_until(until, each);
        }
    }
    Some(Run { end, alone: computed.into_iter().max()?, messages: memory.messages })
}

impl Told<'_> {
    fn enters(&mut self, call: u64, now: VirtualTime) {
        if let Some(tally) = &mut self.tally {
            tally.enters((self.before + call) as u32, now);
        }
    }

    fn leaves(&mut self, call: u64, entered: VirtualTime, now: VirtualTime, rank: u32) {
        if let Some(tally) = &mut self.tally {
            tally.done((self.before + call) as u32, now);
            tally.leaves(entered, now, rank, rank);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_schedule::{Algorithm, Collective, CombiningOrder, Flag, Problem, Resources, algorithms};

    const CALLS: u32 = 50;

    fn switches(name: &str, ranks: u32, cores: u32) -> f64 {
        let schedule = Schedule::parse(name, Problem::new(ranks)).unwrap();
        let cores = SharedCores {
            cores,
            switch: VirtualTime::from_ns(1000.0),
            look: VirtualTime::from_ns(10.0),
            work_per_byte_ps: 0.0,
        };
        let one = |seed| {
            time_on_shared_cores(&schedule, &cores, CALLS, seed).unwrap().ns() / 1000.0 / f64::from(CALLS)
        };
        (0..20).map(one).sum::<f64>() / 20.0
    }

    #[test]
    fn who_needs_no_answer_takes_one_sweep_and_rounds_take_one_each() {
        for ranks in [4, 8, 16] {
            let sweep = f64::from(ranks / 2);
            for one in ["central-counter", "climbing-tree:n=2"] {
                let took = switches(one, ranks, 2);
                assert!(took <= sweep && took > sweep - 2.0, "{one}, {ranks} ranks: {took}");
            }
            let all = format!("n-way-dissemination:n={}", ranks - 1);
            assert!(switches(&all, ranks, 2) <= sweep + 1.0);
        }
        assert!(switches("dissemination", 16, 2) > 1.5 * switches("central-counter", 16, 2));
        // What is known at one place first, and then told, takes two sweeps, or a little more than one if
        // there is one level.
        assert!(switches("combining-tree", 16, 2) > 1.9 * switches("combining-tree:n=16", 16, 2));
        assert!(switches("mcs:release=binomial", 16, 2) > switches("mcs", 16, 2));
    }

    #[test]
    fn every_schedule_comes_to_its_end() {
        for algorithm in algorithms::ALL {
            for (ranks, cores) in [(1, 1), (2, 1), (5, 2), (9, 4), (8, 8)] {
                let schedule = Schedule::new(algorithm, Problem::new(ranks).with_elements(8), &[]).unwrap();
                let cores = SharedCores {
                    cores,
                    switch: VirtualTime::from_ns(1000.0),
                    look: VirtualTime::from_ns(10.0),
                    work_per_byte_ps: 0.0,
                };
                assert!(
                    time_on_shared_cores(&schedule, &cores, 4, 1).is_ok(),
                    "{algorithm:?}, {ranks} ranks"
                );
            }
        }
    }

    fn cores(number: u32) -> SharedCores {
        SharedCores {
            cores: number,
            switch: VirtualTime::from_ns(1000.0),
            look: VirtualTime::from_ns(10.0),
            work_per_byte_ps: 100.0,
        }
    }

    fn outcome(
        name: &str,
        ranks: u32,
        number: u32,
        workload: &Workload,
        orders: u32,
    ) -> Result<SharedOutcome, SharedCoresError> {
        let schedule = Schedule::parse(name, Problem::new(ranks).with_elements(1000)).unwrap();
        simulate_shared(&schedule, 8, &cores(number), workload, orders, &mut |_| {})
    }

    #[test]
    fn a_core_is_through_with_the_work_of_its_ranks_one_after_the_other() {
        let workload = Workload {
            iterations: 10,
            compute: Span::fixed(VirtualTime::from_ns(50_000.0)),
            ..Workload::default()
        };
        for (ranks, number, on_the_fullest) in [(4, 1, 4.0), (5, 2, 3.0), (16, 2, 8.0)] {
            let found = outcome("central-counter", ranks, number, &workload, 3).unwrap();
            assert_eq!(found.time_without_calls.ns(), 10.0 * on_the_fullest * 50_000.0);
            // A switch for each rank and call, and never more than another sweep.
            let over = (found.outcome.end - found.time_without_calls).ns() / 10.0 / 1000.0;
            assert!(
                over >= on_the_fullest - 1.0 && over <= 2.0 * on_the_fullest + 1.0,
                "{ranks} ranks on {number}: {over} switches a call"
            );
            assert_eq!((found.outcome.calls.len(), found.outcome.stuck), (30, 0));
            // The first to enter waits while the others of its core work.
            assert!(found.outcome.held.max.ns() >= (on_the_fullest - 1.0) * 50_000.0);
            assert!(
                found
                    .outcome
                    .calls
                    .iter()
                    .all(|call| call.ranks_done == ranks && call.first_done >= call.last_entered)
            );
        }
    }

    #[test]
    fn calls_without_work_take_what_they_take_by_themselves() {
        let schedule = Schedule::parse("dissemination", Problem::new(13)).unwrap();
        let workload = Workload { iterations: CALLS, ..Workload::default() };
        let ends = (0..4)
            .map(|seed| time_on_shared_cores(&schedule, &cores(2), CALLS, seed + workload.seed).unwrap().ps())
            .sum::<u64>()
            / 4;
        let found = outcome("dissemination", 13, 2, &workload, 4).unwrap();
        assert_eq!((found.outcome.end.ps(), found.time_without_calls), (ends, VirtualTime::ZERO));
        assert_eq!(found.outcome.messages, u64::from(CALLS) * 13 * 4, "four rounds of thirteen flags");
    }

    #[test]
    fn data_takes_the_time_of_the_core_that_moves_it() {
        let workload = Workload::default();
        let found = outcome("bcast-flat", 3, 1, &workload, 1).unwrap();
        // The root copies twice, each of the others once: four times 8 kB at a tenth of a nanosecond a byte;
        // and some switches.
        let over = found.outcome.end.ns() - 4.0 * 800.0;
        assert!((2_000.0..=6_000.0).contains(&over), "{over}");
    }

    #[test]
    fn a_core_that_waits_goes_around_until_there_is_something_to_see() {
        // One rank works for long while fifteen on the other core look for it, thousands of times.
        let workload =
            Workload { iterations: 2, compute: "pareto:1.2:5ms".parse().unwrap(), ..Workload::default() };
        let found = outcome("dissemination", 16, 2, &workload, 2).unwrap();
        assert!(found.outcome.end >= found.time_without_calls && found.outcome.stuck == 0);
        // With a core for itself a rank looks every ten nanoseconds.
        let found = outcome("dissemination", 3, 2, &workload, 1).unwrap();
        assert!(found.outcome.end >= found.time_without_calls);
    }

    #[test]
    fn what_is_not_counted_is_refused() {
        let skewed = Workload { skew: Span::fixed(VirtualTime::from_ns(1.0)), ..Workload::default() };
        assert_eq!(outcome("dissemination", 4, 2, &skewed, 1), Err(SharedCoresError::Unsupported("skew")));
        let early = Workload { leaving: Leaving::Bypass { window: 1 }, ..Workload::default() };
        assert_eq!(
            outcome("dissemination", 4, 2, &early, 1),
            Err(SharedCoresError::Unsupported("leaving at once"))
        );
    }

    #[test]
    fn where_nobody_can_go_on_there_is_no_time() {
        let cores = SharedCores {
            cores: 2,
            switch: VirtualTime::from_ns(1000.0),
            look: VirtualTime::from_ns(10.0),
            work_per_byte_ps: 0.0,
        };
        let lonely = Schedule::new(&LONELY, Problem::new(3), &[]).unwrap();
        assert_eq!(time_on_shared_cores(&lonely, &cores, 1, 1), Err(SharedCoresError::Deadlock));
    }

    /// Everybody waits for a flag that nobody raises.
    static LONELY: Algorithm = Algorithm {
        name: "lonely",
        collective: Collective::Barrier,
        order: CombiningOrder::Nothing,
        about: "",
        source: "",
        cost: "",
        parameters: &[],
        resources: |_| Resources::flags(1, 1),
        round: |_, _, _, out| out.wait(Flag(0)),
    };
}
