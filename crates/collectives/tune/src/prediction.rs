//! What a model says of candidates, and which of them it leaves.

use evenkeel_engine::collective::call::CollectiveKind;
use evenkeel_model::Parameters;
use evenkeel_schedule::{Rank, Schedule};
use evenkeel_schedule_sim::{
    Machine, NoObserver, SharedCores, VirtualTime, Workload, simulate, time_on_shared_cores,
};

/// Barriers in a row: what the later ones can begin before the earlier ones have ended is part of what
/// they cost.
const BARRIERS: u32 = 20;
/// What is predicted to take so many times as long as the best is not measured. Models of shared memory
/// are off by half (the book's page on models), so twice that is kept.
const FAR_OFF: f64 = 3.0;
/// Orders of ranks on their cores over which a mean is taken.
const ORDERS: u64 = 20;
/// What handing over a core takes where the parameters do not say it: two system calls and cold caches.
const SWITCH_NS: f64 = 1_500.0;

/// Nanoseconds of a barrier by a schedule, simulated on so many cores; None where that cannot be said.
/// One write into shared memory is seen by all, so multicasts are one message. Where ranks share cores
/// only the handing over of cores counts.
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

/// The schedule that the engine's built-in barrier comes to.
pub fn builtin(ranks: u32) -> Schedule {
    evenkeel_engine::collective::builtin::builtin(CollectiveKind::Barrier, ranks, Rank(0), 0)
}

/// Whether each is worth measuring. What nothing is known of is.
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
    fn where_cores_are_shared_a_round_is_a_sweep() {
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
    fn the_model_leaves_out_what_is_far_off() {
        let network = LogGp::logp(100.0, 10.0, 10.0);
        let parameters = Parameters::of_network("n", "", network.into());
        let schedules = ["dissemination", "mcs:n=63", "n-way-dissemination:n=3"]
            .map(|name| Schedule::parse(name, Problem::new(64)).unwrap());
        let predicted = schedules.map(|schedule| predict(&schedule, 64, &parameters));
        // Six rounds of L + 2o, whatever the others are.
        assert_eq!(predicted[0], Some(720.0));
        assert!(predicted[2] < predicted[0] && predicted[1] > predicted[0], "{predicted:?}");
        assert_eq!(
            worth_measuring(&[Some(100.0), Some(299.0), Some(301.0), None]),
            [true, true, false, true]
        );
        assert_eq!(worth_measuring(&[None, None]), [true, true]);
    }
}
