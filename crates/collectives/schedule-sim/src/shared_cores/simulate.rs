//! A loop of calls on shared cores, under several orders of ranks.

use super::error::SharedCoresError;
use super::order::{CallLog, Order, SharedCores};
use crate::noise::Noise;
use crate::outcome::Outcome;
use crate::space::{MOST_BYTES, too_many_gib};
use crate::span::Span;
use crate::tally::Tally;
use crate::time::VirtualTime;
use crate::workload::{Leaving, Workload};
use evenkeel_schedule::Schedule;

/// What a simulation of ranks that share cores found.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedOutcome {
    /// The outcome of all orders together. `end` and `messages` are means over the orders, and no rank is
    /// named as late.
    pub outcome: Outcome,
    /// When the last core would be done with the work of its ranks alone.
    pub time_without_calls: VirtualTime,
}

/// How long so many consecutive calls take, until the last rank has left the last one. Rank r is on core
/// r mod cores. The orders of the ranks on their cores are drawn from the seed `order`; a mean over
/// several orders is the expected time. The time of the simulation is linear in calls, ranks and rounds
/// of the schedule.
///
/// ```
/// use evenkeel_schedule::{Problem, Schedule};
/// use evenkeel_schedule_sim::{SharedCores, VirtualTime, time_on_shared_cores};
/// let schedule = Schedule::parse("central-counter", Problem::new(16)).unwrap();
/// let ns = VirtualTime::from_ns;
/// let cores = SharedCores { cores: 1, switch: ns(1000.0), look: ns(100.0), work_per_byte_ps: 0.0 };
/// // The rank that completes the count continues at once: 15 switches for each barrier, and 15 until all
/// // ranks have left the last one.
/// let expected = ns(1000.0 * (100.0 * 15.0 + 15.0) + 100.0);
/// assert_eq!(time_on_shared_cores(&schedule, &cores, 100, 1), Ok(expected));
/// ```
pub fn time_on_shared_cores(
    schedule: &Schedule,
    cores: &SharedCores,
    calls: u32,
    order: u64,
) -> Result<VirtualTime, SharedCoresError> {
    let workload = Workload { iterations: calls, ..Workload::default() };
    let result = Order::new(schedule, 1, cores, &workload, order, CallLog::default()).run();
    result.map(|result| result.end).ok_or(SharedCoresError::Deadlock)
}

/// Simulates a loop of work and calls on shared cores under so many orders of ranks (at least one), drawn
/// from consecutive seeds beginning with that of the workload. All ranks begin at the same time,
/// undisturbed, and stay in a call until their own steps are done. `progress` is called with the share
/// that is done.
pub fn simulate_shared(
    schedule: &Schedule,
    element_bytes: u64,
    cores: &SharedCores,
    workload: &Workload,
    orders: u32,
    progress: &mut dyn FnMut(f64),
) -> Result<SharedOutcome, SharedCoresError> {
    check(workload)?;
    let orders = orders.max(1);
    let calls = u64::from(workload.iterations) * u64::from(orders);
    let per_rank = u64::from(schedule.resources.flags) + u64::from(schedule.resources.counters);
    let per_rank_bytes = per_rank * u64::from(schedule.resources.banks) * size_of::<u64>() as u64;
    if let Some(gib) = too_many_gib(schedule.problem.ranks, per_rank_bytes, calls) {
        return Err(SharedCoresError::Memory { calls, gib, most: MOST_BYTES >> 30 });
    }
    let mut tally = Tally::new(schedule.problem.ranks, calls as u32);
    let (mut ends, mut time_without_calls) = (0u128, VirtualTime::ZERO);
    for order in 0..orders {
        let previous_calls = u64::from(order * workload.iterations);
        let log = CallLog { tally: Some(&mut tally), previous_calls };
        let seed = workload.seed.wrapping_add(order.into());
        let result = Order::new(schedule, element_bytes, cores, workload, seed, log)
            .run()
            .ok_or(SharedCoresError::Deadlock)?;
        ends += u128::from(result.end.ps());
        time_without_calls = result.time_without_calls;
        tally.messages += result.messages;
        progress(f64::from(order + 1) / f64::from(orders));
    }
    let end = VirtualTime::from_ps((ends / u128::from(orders)) as u64);
    tally.messages /= u64::from(orders);
    Ok(SharedOutcome { outcome: Outcome { end, ..tally.outcome() }, time_without_calls })
}

/// Whether the workload has only what is simulated here.
fn check(workload: &Workload) -> Result<(), SharedCoresError> {
    let unsupported = [
        (workload.noise != Noise::None, "noise"),
        (workload.skew != Span::NONE, "skew"),
        (!workload.faults.is_empty(), "slow, stalled or dead ranks"),
        (workload.leaving != Leaving::Strict, "leaving at once"),
    ];
    match unsupported.into_iter().find(|(is_asked, _)| *is_asked) {
        Some((_, what)) => Err(SharedCoresError::Unsupported(what)),
        None => Ok(()),
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
    fn a_barrier_without_answers_takes_one_sweep_and_others_one_for_each_round() {
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
        // A check-in followed by a release takes two sweeps, or little more than one sweep if the
        // check-in has one level.
        assert!(switches("combining-tree", 16, 2) > 1.9 * switches("combining-tree:n=16", 16, 2));
        assert!(switches("mcs:release=binomial", 16, 2) > switches("mcs", 16, 2));
    }

    #[test]
    fn every_schedule_completes() {
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
    fn a_core_does_the_work_of_its_ranks_one_after_the_other() {
        let workload = Workload {
            iterations: 10,
            compute: Span::fixed(VirtualTime::from_ns(50_000.0)),
            ..Workload::default()
        };
        for (ranks, number, on_the_fullest) in [(4, 1, 4.0), (5, 2, 3.0), (16, 2, 8.0)] {
            let found = outcome("central-counter", ranks, number, &workload, 3).unwrap();
            assert_eq!(found.time_without_calls.ns(), 10.0 * on_the_fullest * 50_000.0);
            // A switch for each rank and call, and never more than one further sweep.
            let over = (found.outcome.end - found.time_without_calls).ns() / 10.0 / 1000.0;
            assert!(
                over >= on_the_fullest - 1.0 && over <= 2.0 * on_the_fullest + 1.0,
                "{ranks} ranks on {number}: {over} switches a call"
            );
            assert_eq!((found.outcome.calls.len(), found.outcome.stuck), (30, 0));
            // The first rank to enter waits while the others on its core work.
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
    fn calls_without_work_take_as_long_as_in_time_on_shared_cores() {
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
    fn moving_data_takes_time_of_the_core_that_moves_it() {
        let workload = Workload::default();
        let found = outcome("bcast-flat", 3, 1, &workload, 1).unwrap();
        // The root copies twice, each of the other ranks once: four times 8 kB at 0.1 ns for each byte,
        // and some switches.
        let over = found.outcome.end.ns() - 4.0 * 800.0;
        assert!((2_000.0..=6_000.0).contains(&over), "{over}");
    }

    #[test]
    fn a_core_whose_ranks_wait_idles_until_something_happens() {
        // One rank works for a long time while fifteen ranks look for its signal thousands of times.
        let workload =
            Workload { iterations: 2, compute: "pareto:1.2:5ms".parse().unwrap(), ..Workload::default() };
        let found = outcome("dissemination", 16, 2, &workload, 2).unwrap();
        assert!(found.outcome.end >= found.time_without_calls && found.outcome.stuck == 0);
        // A rank with a core for itself looks every ten nanoseconds.
        let found = outcome("dissemination", 3, 2, &workload, 1).unwrap();
        assert!(found.outcome.end >= found.time_without_calls);
    }

    #[test]
    fn an_unsupported_workload_is_refused() {
        let skewed = Workload { skew: Span::fixed(VirtualTime::from_ns(1.0)), ..Workload::default() };
        assert_eq!(outcome("dissemination", 4, 2, &skewed, 1), Err(SharedCoresError::Unsupported("skew")));
        let early = Workload { leaving: Leaving::Bypass { window: 1 }, ..Workload::default() };
        assert_eq!(
            outcome("dissemination", 4, 2, &early, 1),
            Err(SharedCoresError::Unsupported("leaving at once"))
        );
    }

    #[test]
    fn a_schedule_in_which_no_rank_can_continue_is_a_deadlock() {
        let cores = SharedCores {
            cores: 2,
            switch: VirtualTime::from_ns(1000.0),
            look: VirtualTime::from_ns(10.0),
            work_per_byte_ps: 0.0,
        };
        let stuck = Schedule::new(&STUCK, Problem::new(3), &[]).unwrap();
        assert_eq!(time_on_shared_cores(&stuck, &cores, 1, 1), Err(SharedCoresError::Deadlock));
    }

    /// Every rank waits for a flag that no rank raises.
    static STUCK: Algorithm = Algorithm {
        name: "stuck",
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
