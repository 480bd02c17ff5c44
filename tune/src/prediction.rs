//! What a model says of candidates, and which of them it leaves.

use evenkeel_model::Parameters;
use evenkeel_schedule::Schedule;
use evenkeel_simulate::{Machine, Nobody, Workload, simulate};

/// Barriers in a row: what the later ones can begin before the earlier ones have ended is part of what they cost.
const BARRIERS: u32 = 20;
/// What is predicted to take so many times as long as the best is not measured. Models of shared memory are off by half
/// (the book's page on models), so twice that is kept.
const FAR_OFF: f64 = 3.0;

/// Nanoseconds of a barrier by each schedule, simulated, where every rank has a core of its own; None where that cannot be said.
/// One write into shared memory is seen by all, so multicasts are one message.
pub fn predict(schedules: &[Schedule], parameters: &Parameters) -> Vec<Option<f64>> {
    let Ok(machine) = Machine::new(parameters) else { return vec![None; schedules.len()] };
    let machine = Machine { multicast: [true; 2], ..machine };
    let workload = Workload { iterations: BARRIERS, ..Workload::default() };
    let one = |schedule: &Schedule| {
        let outcome = simulate(schedule, 1, &machine, &workload, &mut Nobody, &mut |_| {}).ok()?;
        Some(outcome.end.ns() / f64::from(BARRIERS))
    };
    schedules.iter().map(one).collect()
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
    fn the_model_leaves_out_what_is_far_off() {
        let network = LogGp::logp(100.0, 10.0, 10.0);
        let parameters = Parameters::of_network("n", "", network.into());
        let schedules = ["dissemination", "mcs:n=63", "n-way-dissemination:n=3"].map(|name| Schedule::named(name, Problem::new(64)).unwrap());
        let predicted = predict(&schedules, &parameters);
        // Six rounds of L + 2o, whatever the others are.
        assert_eq!(predicted[0], Some(720.0));
        assert!(predicted[2] < predicted[0] && predicted[1] > predicted[0], "{predicted:?}");
        assert_eq!(worth_measuring(&[Some(100.0), Some(299.0), Some(301.0), None]), [true, true, false, true]);
        assert_eq!(worth_measuring(&[None, None]), [true, true]);
    }
}
