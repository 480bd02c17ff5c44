//! The predicted times of candidates, and which candidates are worth measuring.

use evenkeel_engine::collective::call::CollectiveKind;
use evenkeel_model::Parameters;
use evenkeel_schedule::{Rank, Schedule};
use evenkeel_schedule_sim::{
    Machine, NoObserver, SharedCores, VirtualTime, Workload, simulate, time_on_shared_cores,
};

/// Consecutive barriers in a simulation. A barrier can begin at some ranks before the previous one has
/// ended at others, and that is part of its cost.
const BARRIERS: u32 = 20;
/// A candidate that is predicted to take more than so many times as long as the best is not measured.
/// Models of shared memory are off by half (the book's page on models), so the factor allows for twice
/// that.
const FAR_OFF: f64 = 3.0;
/// The prediction on shared cores is a mean over so many orders of the ranks on their cores.
const ORDERS: u64 = 20;
/// The time of a context switch if the parameters do not have one: two system calls and cold caches.
const SWITCH_NS: f64 = 1_500.0;

/// The nanoseconds of a barrier that a schedule executes on so many cores, from a simulation. None if it
/// cannot be simulated with these parameters.
///
/// All ranks see one write into shared memory, so a multicast is one message. If ranks share cores, only
/// context switches count.
pub fn predict(schedule: &Schedule, cores: usize, parameters: &Parameters) -> Option<f64> {
    if schedule.problem.ranks as usize > cores {
        return on_shared_cores(schedule, cores, parameters);
    }
    let machine = Machine { multicast: [true; 2], ..Machine::new(parameters).ok()? };
    let workload = Workload { iterations: BARRIERS, ..Workload::default() };
    let outcome = simulate(schedule, 1, &machine, &workload, &mut NoObserver, &mut |_| {}).ok()?;
    Some(outcome.end.ns() / f64::from(BARRIERS))
}

fn on_shared_cores(schedule: &Schedule, cores: usize, parameters: &Parameters) -> Option<f64> {
    let switch = parameters.node.as_ref().and_then(|node| node.switch_ns).unwrap_or(SWITCH_NS);
    let look = parameters.node.as_ref().map_or(SWITCH_NS, |node| node.model.latency_ns(1));
    let cores = SharedCores {
        cores: cores as u32,
        switch: VirtualTime::from_ns(switch),
        look: VirtualTime::from_ns(look),
        work_per_byte_ps: 0.0,
    };
    let times: Result<Vec<VirtualTime>, _> =
        (0..ORDERS).map(|order| time_on_shared_cores(schedule, &cores, BARRIERS, order)).collect();
    let sum: f64 = times.ok()?.iter().map(|time| time.ns()).sum();
    Some(sum / (ORDERS as f64 * f64::from(BARRIERS)))
}

/// The schedule that has the same steps as the engine's built-in barrier.
pub fn builtin(ranks: u32) -> Schedule {
    evenkeel_engine::collective::builtin::builtin(CollectiveKind::Barrier, ranks, Rank(0), 0)
}

/// For each prediction, whether the candidate is worth measuring. A candidate without a prediction is.
pub fn worth_measuring(predicted: &[Option<f64>]) -> Vec<bool> {
    let best = predicted.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    predicted.iter().map(|ns| ns.is_none_or(|ns| ns <= FAR_OFF * best)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::LogGp;
    use evenkeel_schedule::Problem;

    #[test]
    fn on_shared_cores_each_round_runs_all_ranks_once() {
        let parameters = evenkeel_model::builtin::find("two-core-vm").unwrap();
        let of =
            |name: &str| predict(&Schedule::parse(name, Problem::new(16)).unwrap(), 2, &parameters).unwrap();
        let builtin = predict(&builtin(16), 2, &parameters).unwrap();
        let switch = parameters.node.as_ref().unwrap().switch_ns.unwrap();
        assert!((7.0..8.5).contains(&(builtin / switch)), "eight ranks on each core: {builtin}");
        assert!((0.95..1.05).contains(&(of("n-way-dissemination:n=15") / builtin)));
        assert!((1.5..2.0).contains(&(of("n-way-dissemination:n=3") / builtin)));
        assert!((2.2..2.8).contains(&(of("dissemination") / builtin)));
    }

    #[test]
    fn candidates_that_are_predicted_to_be_far_slower_are_not_measured() {
        let network = LogGp::logp(100.0, 10.0, 10.0);
        let parameters = Parameters::of_network("n", "", network.into());
        let schedules = ["dissemination", "mcs:n=63", "n-way-dissemination:n=3"]
            .map(|name| Schedule::parse(name, Problem::new(64)).unwrap());
        let predicted = schedules.map(|schedule| predict(&schedule, 64, &parameters));
        // Six rounds of L + 2o each.
        assert_eq!(predicted[0], Some(720.0));
        assert!(predicted[2] < predicted[0] && predicted[1] > predicted[0], "{predicted:?}");
        assert_eq!(
            worth_measuring(&[Some(100.0), Some(299.0), Some(301.0), None]),
            [true, true, false, true]
        );
        assert_eq!(worth_measuring(&[None, None]), [true, true]);
    }
}
