//! The published scenarios, and rules that hold for every workload.

use evenkeel_cluster_sim::{
    Cluster, Communication, Interval, Outcome, Policy, Scenario, SimulationError, SyntheticJob, Workload,
    saturation, simulate,
};
use evenkeel_gang::Class::{CS, DC, F};
use evenkeel_gang::QueuePolicy;

fn run(cluster: &Cluster, policy: Policy, jobs: &[SyntheticJob]) -> Outcome {
    simulate(cluster, policy, jobs, &mut |_| {}).unwrap()
}

fn scenario(scenario: Scenario, policy: Policy) -> Outcome {
    let cluster = Scenario::cluster();
    run(&cluster, policy, &scenario.jobs(&cluster, Communication::Ring))
}

fn turnaround_s(outcome: &Outcome) -> f64 {
    outcome.turnaround_ns() as f64 / 1e9
}

fn job(ranks: usize, compute_ns: u64, iterations: u32) -> SyntheticJob {
    SyntheticJob {
        arrival_ns: 0,
        compute_ns: vec![compute_ns; ranks],
        iterations,
        communication: Communication::Ring,
        estimate_ns: compute_ns * u64::from(iterations) * 2,
        has_priority: false,
        within: None,
    }
}

#[test]
fn batch_and_gang_scheduling_give_the_published_times() {
    for of in Scenario::ALL {
        for policy in [Policy::Fcfs, Policy::Gs] {
            let (found, published) =
                (scenario(of, policy), of.published(policy, Communication::Ring).unwrap());
            assert!((turnaround_s(&found) / published.turnaround_s - 1.0).abs() < 0.01, "{of:?} {policy:?}");
            let response_s = found.mean_response_ns() / 1e9;
            assert!((response_s / published.mean_response_s - 1.0).abs() < 0.01, "{of:?} {policy:?}");
        }
    }
}

#[test]
fn flexible_coscheduling_is_near_the_optimum_by_the_published_classes() {
    for of in Scenario::ALL {
        let found = scenario(of, Policy::Fcs);
        assert!((1.0..1.03).contains(&(turnaround_s(&found) / of.optimum_s())), "{of:?}");
        let classes: Vec<_> = found.jobs.iter().map(|job| job.classes.clone()).collect();
        let (fine, mirrored) = (vec![CS; 4], [vec![DC, DC, F, F], vec![F, F, DC, DC]]);
        match of {
            Scenario::Balanced => assert_eq!(classes, [fine.clone(), fine]),
            Scenario::Imbalanced => assert_eq!(classes, mirrored),
            Scenario::Complementing => assert_eq!(classes[3], [DC, DC, F, F]),
            Scenario::Mixed => assert_eq!((&classes[0], &classes[1..]), (&fine, &mirrored[..])),
        }
    }
}

#[test]
fn buffered_coscheduling_pays_a_slice_and_a_half_for_each_blocking_call() {
    let cluster = Cluster::with_cores(2);
    // A job alone: 3.1 ms of work, then the message of a slice of 250 µs.
    let alone = run(&cluster, Policy::Bcs, &[job(2, 3_100_000, 10_000)]);
    let each_ns = alone.turnaround_ns() as f64 / 10_000.0;
    assert!((3_100_000.0 + 250_000.0..=3_100_000.0 + 500_000.0).contains(&each_ns), "{each_ns}");
    let mut overlapped = job(2, 3_100_000, 10_000);
    overlapped.communication = Communication::OverlappedRing;
    let overlapped = run(&cluster, Policy::Bcs, &[overlapped]);
    assert!(overlapped.turnaround_ns() as f64 / 10_000.0 < 3_110_000.0);
}

#[test]
fn a_priority_job_is_not_held_up_by_a_filler() {
    let cluster = Cluster { slots: 2, ..Cluster::with_cores(2) };
    let preferred = SyntheticJob { has_priority: true, ..job(2, 2_000_000, 5_000) };
    let filler = SyntheticJob { communication: Communication::None, ..job(2, 100_000_000, 100) };
    let alone_ns = run(&cluster, Policy::Pbcs, std::slice::from_ref(&preferred)).jobs[0].end_ns;
    let shared = |policy| run(&cluster, policy, &[preferred.clone(), filler.clone()]).jobs[0].end_ns as f64;
    assert!(shared(Policy::Pbcs) < 1.03 * alone_ns as f64);
    assert!(shared(Policy::Bcs) > 1.2 * alone_ns as f64);
}

#[test]
fn no_job_is_faster_than_on_cores_of_its_own_and_work_is_conserved() {
    for seed in 0..3 {
        for policy in Policy::ALL {
            let cluster = Cluster::with_cores(16);
            let jobs =
                Workload { jobs: 60, ..Workload::published(16, Some(0.9), seed) }.jobs(cluster.latency_ns);
            let outcome = run(&cluster, policy, &jobs);
            for (given, found) in jobs.iter().zip(&outcome.jobs) {
                assert!(found.start_ns >= given.arrival_ns);
                let least_ns = given.compute_ns[0] * u64::from(given.iterations);
                assert!(found.end_ns - found.start_ns >= least_ns, "{policy:?}, seed {seed}");
            }
            assert!(outcome.utilisation() <= 1.0 && outcome.mean_slowdown(100_000_000) >= 1.0);
            assert_eq!(outcome, run(&cluster, policy, &jobs));
        }
    }
}

#[test]
fn backfilling_helps_later_jobs() {
    let cluster = Cluster::with_cores(32);
    let mean = |policy| {
        let response_s = |seed| {
            let jobs =
                Workload { jobs: 200, ..Workload::published(32, Some(0.8), seed) }.jobs(cluster.latency_ns);
            run(&cluster, policy, &jobs).mean_response_ns() / 1e9
        };
        Interval::of(&(0..5).map(response_s).collect::<Vec<f64>>()).mean
    };
    assert!(mean(Policy::Easy) < 0.7 * mean(Policy::Fcfs));
    assert!(mean(Policy::Gs) < mean(Policy::Fcfs));
}

#[test]
fn a_cluster_keeps_up_with_little_and_not_with_too_much() {
    let cluster = Cluster::with_cores(32);
    let deferred = |load| {
        let jobs = Workload::published(32, Some(load), 2).jobs(cluster.latency_ns);
        run(&cluster, Policy::Easy, &jobs).deferred_load()
    };
    let found = [0.3, 1.5].map(|load| (load, deferred(load) < 0.05));
    assert_eq!((found, saturation(&found)), ([(0.3, true), (1.5, false)], 0.3));
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let cluster = Cluster { queue: QueuePolicy::Fcfs, ..Cluster::with_cores(2) };
    let refused = |cluster: &Cluster, jobs: &[SyntheticJob]| simulate(cluster, Policy::Gs, jobs, &mut |_| {});
    assert_eq!(refused(&cluster, &[job(2, 1, 1), job(1, 0, 1)]), Err(SimulationError::EmptyJob(1)));
    let said = refused(&cluster, &[job(3, 1, 1)]).unwrap_err().to_string();
    assert!(said.contains("job 0 cannot be queued: the job needs more cores"), "{said}");
    let without = Cluster { quantum_ns: 0, ..cluster };
    assert_eq!(refused(&without, &[]), Err(SimulationError::ZeroQuantum));
    assert!(refused(&cluster, &[]).unwrap().jobs.is_empty());
}
