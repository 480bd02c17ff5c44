//! What ranks may do and must not do, under noise, skew and faults.

use evenkeel_model::{LogGp, Node, Parameters};
use evenkeel_schedule::{Collective, Problem, Schedule, algorithms};
use evenkeel_schedule_sim::{
    Activity, Fault, Leaving, Machine, NoObserver, Noise, Outcome, Recording, SimulationError, Span,
    VirtualTime, Workload, simulate, time_without_calls,
};

fn network() -> Parameters {
    Parameters::of_network("test", "none", LogGp::logp(1000.0, 200.0, 100.0).into())
}

fn machine() -> Machine {
    Machine::new(&network()).unwrap()
}

fn schedule(name: &str, ranks: u32) -> Schedule {
    Schedule::new(algorithms::find(name).unwrap(), Problem::new(ranks), &[]).unwrap()
}

fn run(schedule: &Schedule, workload: &Workload) -> Outcome {
    simulate(schedule, 8, &machine(), workload, &mut NoObserver, &mut |_| {}).unwrap()
}

fn us(n: u64) -> VirtualTime {
    VirtualTime::from_ps(n * 1_000_000)
}

fn noisy(iterations: u32) -> Workload {
    Workload {
        iterations,
        compute: "exp:20us".parse().unwrap(),
        skew: "uniform:5us".parse().unwrap(),
        noise: Noise::Random { length: "exp:10us".parse().unwrap(), interval: "exp:90us".parse().unwrap() },
        ..Workload::default()
    }
}

#[test]
fn every_listed_schedule_completes_and_no_barrier_releases_early() {
    for algorithm in algorithms::ALL {
        for ranks in [1, 2, 3, 7, 8, 13, 32] {
            let found = run(&schedule(algorithm.name, ranks), &noisy(5));
            assert_eq!(
                (found.stuck, found.dead, found.calls.len()),
                (0, 0, 5),
                "{algorithm:?}, {ranks} ranks"
            );
            for call in &found.calls {
                assert_eq!(call.ranks_done, ranks);
                if algorithm.collective == Collective::Barrier {
                    assert!(call.first_done >= call.last_entered, "{algorithm:?}, {ranks} ranks: {call:?}");
                }
            }
        }
    }
}

#[test]
fn the_seed_determines_the_outcome() {
    let of = |seed| run(&schedule("dissemination", 50), &Workload { seed, ..noisy(10) });
    assert_eq!(of(3), of(3));
    assert_ne!(of(3).end, of(4).end);
}

#[test]
fn all_ranks_wait_for_a_late_rank_which_is_named() {
    let workload = Workload {
        faults: vec![(5, Fault::Stall { at: us(30), length: us(1000) })],
        compute: Span::fixed(us(20)),
        iterations: 4,
        ..Workload::default()
    };
    let found = run(&schedule("dissemination", 16), &workload);
    let undisturbed = run(&schedule("dissemination", 16), &Workload { faults: vec![], ..workload.clone() });
    assert_eq!(found.end, undisturbed.end + us(1000));
    // All other ranks in that call. In the calls without disturbance some rank is the last, too.
    assert!(found.late[0].rank == 5 && found.late[0].held > us(15 * 990), "{:?}", found.late);
    assert!(found.held.max > us(990) && undisturbed.held.max < us(10));
    // 15 of 64 calls took a millisecond.
    assert!(found.held.median < us(10) && found.held.p90 > us(980) && found.held.p90 <= found.held.max);
}

#[test]
fn a_slow_rank_slows_all_ranks_down() {
    let workload = Workload {
        faults: vec![(2, Fault::Slow(3.0))],
        compute: Span::fixed(us(20)),
        iterations: 10,
        ..Workload::default()
    };
    let found = run(&schedule("tournament", 8), &workload);
    assert!(found.end > us(600) && found.end < us(800), "{}", found.end);
    assert_eq!(found.late[0].rank, 2);
}

#[test]
fn no_rank_passes_a_barrier_that_a_dead_rank_has_not_entered() {
    let workload = Workload {
        faults: vec![(3, Fault::Death(us(60)))],
        compute: Span::fixed(us(20)),
        iterations: 10,
        ..Workload::default()
    };
    for name in ["dissemination", "mcs", "central-counter"] {
        let found = run(&schedule(name, 8), &workload);
        // It entered the first two barriers.
        assert_eq!((found.dead, found.calls.iter().filter(|c| c.ranks_done == 8).count()), (1, 2), "{name}");
        assert!(found.stuck >= 8 * 7, "{name}: {}", found.stuck);
    }
    // The deferred barriers of the other ranks stay pending until their windows are full.
    let deferred =
        run(&schedule("dissemination", 8), &Workload { leaving: Leaving::Bypass { window: 4 }, ..workload });
    assert_eq!(deferred.calls.len(), 7);
    assert_eq!(deferred.calls.iter().filter(|c| c.ranks_done == 8).count(), 2);
}

#[test]
fn a_rank_that_dies_while_it_takes_the_answer_of_a_counter_dies_once() {
    // The answer arrives 2.2 µs after rank 2 has sent, and taking it lasts until 2.4 µs.
    for rank in 1..4 {
        let faults = vec![(rank, Fault::Death(VirtualTime::from_ns(2_300.0)))];
        let found = run(&schedule("central-counter", 4), &Workload { faults, ..Workload::default() });
        assert_eq!(found.dead, 1, "rank {rank}");
    }
}

#[test]
fn a_deferred_barrier_costs_its_deposit_until_the_window_is_full() {
    let strict = noisy(40);
    let with = |window| Workload { leaving: Leaving::Bypass { window }, ..strict.clone() };
    let schedule = schedule("dissemination", 64);
    let least = time_without_calls(&strict, 64);
    let ends: Vec<VirtualTime> =
        [1, 4, 16, 40].map(|w| run(&schedule, &with(w)).calls.last().unwrap().last_entered).to_vec();
    assert!(ends.windows(2).all(|w| w[0] >= w[1]), "{ends:?}");
    assert!(run(&schedule, &strict).end > ends[0]);
    // With room for all calls the slowest rank waits for no other: it pays for 39 deposits of o_s, and
    // for the noise that they meet.
    let free = run(&schedule, &with(40));
    assert_eq!(free.held.max, VirtualTime::from_ns(200.0));
    assert!(
        ends[3] >= least + VirtualTime::from_ns(39.0 * 200.0) && ends[3].ns() < least.ns() * 1.03,
        "{} and {least}",
        ends[3]
    );
}

/// While rank 3 is away for 10 ms the others reach as many barriers as the window allows, and no more.
#[test]
fn the_window_bounds_how_far_ranks_run_ahead() {
    let stalled = Workload {
        faults: vec![(3, Fault::Stall { at: us(110), length: us(10_000) })],
        compute: Span::fixed(us(20)),
        iterations: 100,
        ..Workload::default()
    };
    let schedule = schedule("dissemination", 8);
    let with = |window| run(&schedule, &Workload { leaving: Leaving::Bypass { window }, ..stalled.clone() });
    // Rank 3 has entered five barriers. The others can complete the sixth when it comes back.
    for window in [1, 4, 32] {
        let calls = with(window).calls;
        let entered = calls.iter().filter(|c| c.first_entered < us(10_000)).count();
        assert_eq!(entered, 5 + window as usize + 1, "window {window}");
    }
    assert!(with(4).held.max > us(9_000));
    assert_eq!(with(100).held.max, VirtualTime::from_ns(200.0));
}

#[test]
fn a_reduction_with_bypass_holds_only_the_root() {
    let strict = Workload {
        faults: vec![(7, Fault::Stall { at: us(1), length: us(500) })],
        compute: Span::fixed(us(20)),
        iterations: 3,
        ..Workload::default()
    };
    let schedule = schedule("reduce-binomial", 8);
    let count_held = |leaving| {
        let mut recording = Recording::default();
        simulate(
            &schedule,
            8,
            &machine(),
            &Workload { leaving, ..strict.clone() },
            &mut recording,
            &mut |_| {},
        )
        .unwrap();
        let held = recording
            .spans
            .iter()
            .filter(|(_, activity, from, to)| *activity == Activity::Wait && *to > *from + us(400));
        let mut ranks: Vec<u32> = held.map(|s| s.0).collect();
        ranks.sort();
        ranks.dedup();
        ranks
    };
    // Rank 7 sends to 6, 6 to 4, and 4 to 0.
    assert_eq!(count_held(Leaving::Strict), [0, 4, 6]);
    assert_eq!(count_held(Leaving::Bypass { window: 8 }), [0]);
}

#[test]
fn a_multicast_reaches_all_ranks_at_once() {
    let at = |multicast| {
        let machine = Machine { multicast: [multicast; 2], ..machine() };
        simulate(&schedule("mcs", 5), 8, &machine, &Workload::default(), &mut NoObserver, &mut |_| {})
            .unwrap()
            .end
    };
    // Four children report to rank 0, whose release takes one message or four.
    assert_eq!(at(true), VirtualTime::from_ns(1400.0 + 3.0 * 200.0 + 1400.0));
    assert_eq!(at(false), at(true) + VirtualTime::from_ns(3.0 * 200.0));
}

#[test]
fn messages_within_a_node_use_the_link_of_the_node() {
    let node = Node {
        source: "none".into(),
        model: LogGp::logp(100.0, 10.0, 10.0).into(),
        ranks: Some(8),
        cores: None,
        switch_ns: None,
    };
    let machine = Machine::new(&Parameters { node: Some(node), ..network() }).unwrap();
    let time = |ranks| {
        simulate(
            &schedule("dissemination", ranks),
            8,
            &machine,
            &Workload::default(),
            &mut NoObserver,
            &mut |_| {},
        )
        .unwrap()
        .end
    };
    // Three rounds within the node. With two nodes, in each of the four rounds some rank hears from the
    // other node.
    assert_eq!(time(8), VirtualTime::from_ns(3.0 * 120.0));
    assert!(time(16) > VirtualTime::from_ns(1400.0) && time(16) < VirtualTime::from_ns(4.0 * 1400.0));
}

#[test]
fn an_impossible_simulation_is_refused() {
    let none =
        Machine::new(&Parameters::of_network("test", "none", LogGp::logp(0.0, 200.0, 100.0).into())).unwrap();
    let refused = |machine: &Machine, workload: &Workload| {
        simulate(&schedule("dissemination", 4), 8, machine, workload, &mut NoObserver, &mut |_| {})
            .unwrap_err()
    };
    assert_eq!(refused(&none, &Workload::default()), SimulationError::NoLatency);
    let faulty = Workload { faults: vec![(4, Fault::Slow(2.0))], ..Workload::default() };
    assert!(refused(&machine(), &faulty).to_string().contains("the last is 3"));
    let away = Workload {
        noise: Noise::Periodic { length: us(2), period: us(1), aligned: true },
        ..Workload::default()
    };
    assert!(refused(&machine(), &away).to_string().contains("no time for work"));
}

/// A complete transcript. If it changes on purpose, every line of the new transcript has to be
/// understood.
#[test]
fn a_small_simulation_gives_its_golden_transcript() {
    let workload = Workload {
        compute: "exp:2us".parse().unwrap(),
        noise: Noise::Periodic { length: VirtualTime::from_ns(500.0), period: us(4), aligned: false },
        ..Workload::default()
    };
    let mut recording = Recording::default();
    simulate(&schedule("n-way-dissemination", 4), 8, &machine(), &workload, &mut recording, &mut |_| {})
        .unwrap();
    let found = recording.transcript();
    assert_eq!(found, include_str!("n-way-dissemination-4.txt"), "it is now:\n{found}");
}
