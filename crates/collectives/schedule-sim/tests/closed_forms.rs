//! Simulated barriers compared with the closed forms of the models: equal to the picosecond where a
//! formula is exact, not more where it is a bound.

use evenkeel_model::{Barrier, Charge, LogGp, Parameters, Release};
use evenkeel_schedule::{Problem, Schedule, algorithms};
use evenkeel_schedule_sim::{Activity, Machine, NoObserver, Recording, Workload, simulate};

fn simulated_ns(model: &LogGp, name: &str, set: &[(&str, u32)], ranks: u32) -> f64 {
    let mut machine = Machine::new(&Parameters::of_network("test", "none", (*model).into())).unwrap();
    machine.multicast = [true; 2];
    let schedule = Schedule::new(algorithms::find(name).unwrap(), Problem::new(ranks), set).unwrap();
    simulate(&schedule, 1, &machine, &Workload::default(), &mut NoObserver, &mut |_| {}).unwrap().end.ns()
}

fn formula_ns(model: &LogGp, barrier: Barrier, ranks: u32) -> f64 {
    barrier.loggp_ns(model, ranks.into(), Release::Multicast, Charge::Overlapped)
}

/// g below o; g between o and L; a network in which nearly all is latency. All with o_s ≠ o_r.
const MODELS: [LogGp; 3] = [
    LogGp {
        latency_ns: 1000.0,
        send_overhead_ns: 150.0,
        receive_overhead_ns: 200.0,
        gap_ns: 100.0,
        gap_per_byte_ns: 0.0,
    },
    LogGp {
        latency_ns: 1200.0,
        send_overhead_ns: 250.0,
        receive_overhead_ns: 200.0,
        gap_ns: 300.0,
        gap_per_byte_ns: 0.0,
    },
    LogGp {
        latency_ns: 5000.0,
        send_overhead_ns: 100.0,
        receive_overhead_ns: 120.0,
        gap_ns: 90.0,
        gap_per_byte_ns: 0.0,
    },
];

fn same(model: &LogGp, name: &str, set: &[(&str, u32)], barrier: Barrier, ranks: u32) {
    let (found, expected) = (simulated_ns(model, name, set, ranks), formula_ns(model, barrier, ranks));
    assert!(
        (found - expected).abs() < 1e-3,
        "{name} {set:?}, {ranks} ranks: {found} ns, and the formula has {expected}"
    );
}

#[test]
fn dissemination_agrees_with_its_formula_for_any_number_of_ranks() {
    for model in &MODELS {
        for ranks in 1..=66 {
            same(model, "dissemination", &[], Barrier::Dissemination, ranks);
        }
        same(model, "dissemination", &[], Barrier::Dissemination, 2_000);
    }
}

/// The cases in which every round is full. The formula keeps receipts g apart even if the messages
/// arrived long before; here, arrivals are g apart. So with g above o_r it is exact as long as the first
/// message arrives after the last was sent: (n − 1)·max{o_s, g} ≤ L.
#[test]
fn n_way_and_n_wise_agree_with_their_formulas_at_powers() {
    for (model, most) in MODELS.iter().zip([7, 5, 7_u32]) {
        for n in 1..=most {
            for ranks in [n + 1, (n + 1).pow(2), (n + 1).pow(3)] {
                same(
                    model,
                    "n-way-dissemination",
                    &[("n", n)],
                    Barrier::NWayDissemination { n: n.into() },
                    ranks,
                );
                same(model, "n-wise-exchange", &[("n", n)], Barrier::NWiseExchange { n: n.into() }, ranks);
            }
        }
    }
}

/// With one multicast as the release.
#[test]
fn complete_trees_agree_with_their_formulas() {
    for model in &MODELS {
        for power in 1..=8 {
            same(model, "tournament", &[], Barrier::Tournament, 1 << power);
            same(model, "pairwise-exchange", &[], Barrier::PairwiseExchange, 1 << power);
            same(model, "butterfly", &[], Barrier::Butterfly, 1 << power);
        }
        for f in [2_u32, 3, 4] {
            for power in 1..=4 {
                same(
                    model,
                    "f-way-tournament",
                    &[("f", f)],
                    Barrier::FWayTournament { f: f.into() },
                    f.pow(power),
                );
            }
        }
    }
    // The counter of a group hides o_r of all members but the last. So the formula, which charges
    // max{o_r, g}, is exact if g is the larger.
    for power in 1..=4 {
        same(&MODELS[1], "combining-tree", &[("n", 4)], Barrier::CombiningTree { n: 4 }, 4_u32.pow(power));
    }
    // Full heaps: 1 + n + n² + … ranks. With g above o_r two levels overlap.
    for ranks in [5, 21, 85] {
        same(&MODELS[0], "mcs", &[("n", 4)], Barrier::Mcs { n: 4 }, ranks);
    }
}

/// The formula charges the messages of the P − 1 other ranks to rank 0. Here every rank, including the
/// owner, gets an answer from the counter.
#[test]
fn a_central_counter_has_a_formula_of_its_own() {
    for model in &MODELS {
        for ranks in [2, 3, 16, 100] {
            let counted = model.one_way_ns() + f64::from(ranks - 1) * model.gap_ns + model.latency_ns;
            let found = simulated_ns(model, "central-counter", &[], ranks);
            assert!((found - counted - model.one_way_ns()).abs() < 1e-3, "{ranks}: {found}");
        }
    }
}

/// For other numbers of ranks the formulas count whole rounds, and are upper bounds. The binomial
/// spanning tree is an exception: its formula charges one receipt for each level, and the root, which
/// waits for its children in order, has more.
#[test]
fn incomplete_trees_stay_within_their_formulas() {
    for ranks in (2..200).step_by(7) {
        for (name, set, barrier) in [
            ("tournament", [].as_slice(), Barrier::Tournament),
            ("pairwise-exchange", &[], Barrier::PairwiseExchange),
            ("n-way-dissemination", &[("n", 3)], Barrier::NWayDissemination { n: 3 }),
            ("combining-tree", &[("n", 4)], Barrier::CombiningTree { n: 4 }),
            ("f-way-tournament", &[("f", 4)], Barrier::FWayTournament { f: 4 }),
            ("mcs", &[("n", 4)], Barrier::Mcs { n: 4 }),
        ] {
            let (found, bound) =
                (simulated_ns(&MODELS[0], name, set, ranks), formula_ns(&MODELS[0], barrier, ranks));
            // The formulas ignore that two messages of different rounds may arrive at the same moment and
            // are then kept g apart.
            assert!(
                found <= bound + MODELS[0].gap_ns + 1e-3,
                "{name}, {ranks} ranks: {found} ns, and the bound is {bound}"
            );
            assert!(found >= 0.5 * bound, "{name}, {ranks} ranks: {found} ns, and the bound is {bound}");
        }
    }
}

/// LogGP: o_s + (k − 1)·G + L + o_r for a message of k bytes. In a flat broadcast the next message begins
/// g after the previous one and its bytes.
#[test]
fn a_message_of_many_bytes_takes_the_time_of_loggp() {
    let model = LogGp { gap_per_byte_ns: 0.5, ..MODELS[1] };
    let machine = Machine::new(&Parameters::of_network("test", "none", model.into())).unwrap();
    let schedule =
        Schedule::new(algorithms::find("bcast-flat").unwrap(), Problem::new(4).with_elements(100), &[])
            .unwrap();
    let mut recording = Recording::default();
    simulate(&schedule, 8, &machine, &Workload::default(), &mut recording, &mut |_| {}).unwrap();
    for rank in 1..4_u32 {
        let received = recording.spans.iter().find(|s| (s.0, s.1) == (rank, Activity::Receive)).unwrap().3;
        let expected = model.message_ns(800) + f64::from(rank - 1) * (model.gap_ns + model.wire_ns(800));
        assert!((received.ns() - expected).abs() < 0.01, "rank {rank}: {received}, expected {expected} ns");
    }
}

/// LoP: the last of n messages that are posted together arrives after o(n) + n·L(n), where L(n) ≥ o(n).
#[test]
fn messages_arrive_as_lop_says() {
    let parameters = evenkeel_model::builtin::find("mozart-infiniband").unwrap();
    let machine = Machine::new(&parameters).unwrap();
    let Some(evenkeel_model::Model::LoP(model)) = parameters.network else { panic!("it is a LoP model") };
    for n in [1, 2] {
        let schedule =
            Schedule::new(algorithms::find("n-way-dissemination").unwrap(), Problem::new(n + 1), &[("n", n)])
                .unwrap();
        let end = simulate(&schedule, 1, &machine, &Workload::default(), &mut NoObserver, &mut |_| {})
            .unwrap()
            .end
            .ns();
        let expected = model.one_to_many_ns(n.into());
        assert!(model.latency_ns(n.into()) >= model.send_overhead.at_ns(n.into()));
        assert!((end - expected).abs() < 0.01, "{n}: {end} and {expected}");
    }
}
