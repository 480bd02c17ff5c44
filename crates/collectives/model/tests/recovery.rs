//! A synthetic machine: the parameters that generate its samples must be recovered from them, in spite of
//! noise and outliers.

use evenkeel_model::measurement::{
    Conditions, MeasuredParameters, MeasurementError, ModelKind, estimate_parameters,
};
use evenkeel_model::samples::{Quantity, Series};
use evenkeel_model::{LoP, LogGp, Model, Overhead, Parameters, Posting, RoundTrip};

const TRUE_LOGGP: LogGp = LogGp {
    latency_ns: 900.0,
    send_overhead_ns: 120.0,
    receive_overhead_ns: 180.0,
    gap_ns: 260.0,
    gap_per_byte_ns: 0.4,
};
const TRUE_SWITCH_NS: f64 = 1_100.0;

const TRUE_LOP: LoP = LoP {
    round_trip: RoundTrip {
        floor_ns: 3_000.0,
        start_up_ns: 15_000.0,
        start_up_shift: 0.05,
        saturation_ns: 6_000.0,
        saturation_rate: -0.05,
        saturation_shift: 8.0,
    },
    send_overhead: Overhead { floor_ns: 540.0, start_up_ns: 500.0, start_up_shift: -0.5 },
    receive_overhead: Overhead { floor_ns: 150.0, start_up_ns: 330.0, start_up_shift: -0.6 },
    posting: Posting::Each,
    most_peers: 48,
};

/// How the machine disturbs its samples.
#[derive(Clone, Copy)]
struct Disturbance {
    seed: u64,
    /// The largest relative error of a sample.
    noise: f64,
    /// The share of samples that are 2 to 50 times too long.
    outliers: f64,
    /// The share of passes that are 1.5 times too long as a whole.
    bad_passes: f64,
}

struct SyntheticMachine {
    random: fastrand::Rng,
    how: Disturbance,
    series: Vec<Series>,
}

impl SyntheticMachine {
    fn new(how: Disturbance) -> SyntheticMachine {
        SyntheticMachine { random: fastrand::Rng::with_seed(how.seed), how, series: Vec::new() }
    }

    fn sample(&mut self, quantity: Quantity, peers: u32, bytes: u64, oversubscribed: bool, ns: f64) {
        let Disturbance { noise, outliers, bad_passes, .. } = self.how;
        let random = &mut self.random;
        let passes = (0..16)
            .map(|_| {
                let pass = if random.f64() < bad_passes { 1.5 } else { 1.0 };
                (0..30)
                    .map(|_| {
                        let off = 1.0 + noise * (2.0 * random.f64() - 1.0);
                        let away = if random.f64() < outliers { 2.0 + 48.0 * random.f64() } else { 1.0 };
                        ns * pass * off * away
                    })
                    .collect()
            })
            .collect();
        self.series.push(Series { quantity, peers, bytes, oversubscribed, passes });
    }

    fn of_loggp(m: &LogGp, how: Disturbance, peers: impl Iterator<Item = u32>) -> Vec<Series> {
        let mut machine = SyntheticMachine::new(how);
        for p in peers {
            let n = u64::from(p);
            machine.sample(
                Quantity::RoundTrip,
                p,
                0,
                false,
                (m.one_to_many_ns(n) + m.many_to_one_ns(n)) / n as f64,
            );
            machine.sample(Quantity::SendOverhead, p, 0, false, m.send_overhead_ns);
            machine.sample(Quantity::ReceiveOverhead, p, 0, false, m.receive_overhead_ns);
            machine.sample(Quantity::OneToMany, p, 0, false, m.one_to_many_ns(n));
        }
        machine.sample(Quantity::Gap, 1, 0, false, m.gap_ns);
        for bytes in (0..=20).map(|i| 1_u64 << i) {
            machine.sample(Quantity::Message, 1, bytes, false, m.message_ns(bytes));
        }
        machine.sample(Quantity::Switch, 1, 0, true, TRUE_SWITCH_NS);
        machine.series
    }

    fn of_lop(m: &LoP, how: Disturbance, oversubscribed: impl Fn(u32) -> bool) -> Vec<Series> {
        let mut machine = SyntheticMachine::new(how);
        for p in (1..=16).chain((20..=48).step_by(4)) {
            let n = u64::from(p);
            machine.sample(Quantity::RoundTrip, p, 0, oversubscribed(p), m.round_trip.at_ns(n));
            machine.sample(Quantity::SendOverhead, p, 0, oversubscribed(p), m.send_overhead.at_ns(n));
            machine.sample(Quantity::ReceiveOverhead, p, 0, oversubscribed(p), m.receive_overhead.at_ns(n));
        }
        machine.sample(Quantity::Gap, 1, 0, false, 500.0);
        machine.series
    }
}

const QUIET: Disturbance = Disturbance { seed: 1, noise: 0.0, outliers: 0.0, bad_passes: 0.0 };
const LOUD: Disturbance = Disturbance { seed: 1, noise: 0.05, outliers: 0.1, bad_passes: 0.12 };

fn conditions() -> Conditions {
    Conditions { cores: vec![0, 1, 2, 3], command: "a function".into(), ..Conditions::default() }
}

fn loggp_of(found: &MeasuredParameters) -> LogGp {
    match found.parameters.node.as_ref().unwrap().model {
        Model::LogGp(m) => m,
        Model::LoP(_) => panic!("LoP where LogGP was asked for"),
    }
}

fn off(found: f64, truth: f64) -> f64 {
    (found / truth - 1.0).abs()
}

#[test]
fn loggp_is_recovered_exactly_without_noise_and_within_bounds_with_it() {
    // Disturbances only lengthen samples, so the medians of disturbed samples lie above the truth: here
    // by up to 3%.
    for (how, within) in [
        (QUIET, 1e-6),
        (LOUD, 0.03),
        (Disturbance { seed: 2, ..LOUD }, 0.03),
        (Disturbance { seed: 3, ..LOUD }, 0.03),
    ] {
        let found = estimate_parameters(
            &SyntheticMachine::of_loggp(&TRUE_LOGGP, how, 1..=3),
            ModelKind::LogGp,
            "f",
            conditions(),
            9,
        )
        .unwrap();
        let m = loggp_of(&found);
        for (name, found, truth) in [
            ("L", m.latency_ns, TRUE_LOGGP.latency_ns),
            ("o_s", m.send_overhead_ns, TRUE_LOGGP.send_overhead_ns),
            ("o_r", m.receive_overhead_ns, TRUE_LOGGP.receive_overhead_ns),
            ("g", m.gap_ns, TRUE_LOGGP.gap_ns),
            ("G", m.gap_per_byte_ns, TRUE_LOGGP.gap_per_byte_ns),
        ] {
            // L is what the overheads leave of a round trip, so it has the errors of all three.
            assert!(
                off(found, truth) <= if name == "L" { 2.0 * within } else { within },
                "seed {}: {name} is {found}, truth {truth}",
                how.seed
            );
        }
        let node = found.parameters.node.as_ref().unwrap();
        assert!(off(node.switch_ns.unwrap(), TRUE_SWITCH_NS) < 0.02 && node.cores == Some(4));
        assert_eq!(found.parameters.check(), Ok(()));
        // The parameters predict times that they were not computed from.
        assert!(found.measurement.checks.iter().any(|c| c.what == "round trip" && c.peers == 3));
        for check in &found.measurement.checks {
            assert!(off(check.predicted_ns, check.measured_ns) < 0.05, "{check:?}");
        }
    }
}

#[test]
fn intervals_contain_the_truth_and_are_narrow() {
    // Only noise to both sides. An interval cannot show what lengthens all passes alike.
    let how = Disturbance { outliers: 0.0, bad_passes: 0.0, ..LOUD };
    let found = estimate_parameters(
        &SyntheticMachine::of_loggp(&TRUE_LOGGP, how, 1..=3),
        ModelKind::LogGp,
        "f",
        conditions(),
        9,
    )
    .unwrap();
    let truths = [("L", 900.0), ("o_s", 120.0), ("o_r", 180.0), ("g", 260.0), ("G", 0.4), ("s", 1100.0)];
    assert_eq!(found.measurement.estimates.len(), truths.len());
    for (estimate, (symbol, truth)) in found.measurement.estimates.iter().zip(truths) {
        assert_eq!(estimate.symbol, symbol);
        assert!(estimate.low <= estimate.value && estimate.value <= estimate.high, "{estimate:?}");
        // An interval that contains the truth in 95 of 100 cases may miss it, but not by much.
        let slack = (estimate.high - estimate.low) / 2.0;
        assert!(
            estimate.low - slack <= truth && truth <= estimate.high + slack,
            "{estimate:?}, truth {truth}"
        );
        assert!((estimate.high - estimate.low) / truth < 0.05, "{estimate:?}");
    }
}

#[test]
fn lop_is_recovered_within_bounds_at_every_number_of_peers() {
    for (how, within) in [(QUIET, 0.005), (LOUD, 0.04)] {
        let found = estimate_parameters(
            &SyntheticMachine::of_lop(&TRUE_LOP, how, |_| false),
            ModelKind::LoP,
            "f",
            conditions(),
            9,
        )
        .unwrap();
        let Model::LoP(lop) = found.parameters.node.as_ref().unwrap().model else { panic!("it is LoP") };
        for p in 1..=48 {
            assert!(
                off(lop.round_trip.at_ns(p), TRUE_LOP.round_trip.at_ns(p)) < within,
                "RTT({p}) is {}",
                lop.round_trip.at_ns(p)
            );
            assert!(off(lop.send_overhead.at_ns(p), TRUE_LOP.send_overhead.at_ns(p)) < within, "o_s({p})");
            assert!(
                off(lop.receive_overhead.at_ns(p), TRUE_LOP.receive_overhead.at_ns(p)) < within,
                "o_r({p})"
            );
            // L(p) is a difference of these, so its error is that of the round trip.
            let bound = within * TRUE_LOP.round_trip.at_ns(p);
            assert!(
                (lop.latency_ns(p) - TRUE_LOP.latency_ns(p)).abs() < bound,
                "L({p}) is {}",
                lop.latency_ns(p)
            );
        }
        for curve in &found.measurement.curves {
            assert!(curve.held_out.unwrap().median < within && !curve.oversubscribed, "{curve:?}");
            for i in 0..curve.peers.len() {
                assert!(
                    curve.low_ns[i] <= curve.value_ns[i] * 1.001
                        && curve.value_ns[i] <= curve.high_ns[i] * 1.001
                );
            }
        }
        assert!(found.measurement.notes.is_empty(), "{:?}", found.measurement.notes);
    }
}

#[test]
fn ranks_that_share_cores_are_fitted_separately_with_a_note() {
    let found = estimate_parameters(
        &SyntheticMachine::of_lop(&TRUE_LOP, LOUD, |p| p > 3),
        ModelKind::LoP,
        "f",
        conditions(),
        9,
    )
    .unwrap();
    assert!(found.measurement.curves.iter().all(|c| c.oversubscribed && c.peers[0] == 4));
    assert!(found.measurement.notes[0].contains("context switches"), "{:?}", found.measurement.notes);
    let few = estimate_parameters(
        &SyntheticMachine::of_loggp(&TRUE_LOGGP, LOUD, 1..=3),
        ModelKind::LoP,
        "f",
        conditions(),
        9,
    );
    assert_eq!(few.err(), Some(MeasurementError::FewPeers));
    assert_eq!(
        estimate_parameters(&[], ModelKind::LogGp, "f", conditions(), 9).err(),
        Some(MeasurementError::Missing(Quantity::RoundTrip))
    );
}

#[test]
fn a_note_says_that_the_latency_is_a_cache_miss_of_the_reader() {
    let mut machine = SyntheticMachine::new(QUIET);
    for (quantity, ns) in [
        (Quantity::RoundTrip, 120.0),
        (Quantity::SendOverhead, 5.0),
        (Quantity::ReceiveOverhead, 70.0),
        (Quantity::Gap, 20.0),
    ] {
        machine.sample(quantity, 1, 0, false, ns);
    }
    let found = estimate_parameters(&machine.series, ModelKind::LogGp, "f", conditions(), 9).unwrap();
    let m = loggp_of(&found);
    assert_eq!((m.latency_ns, m.send_overhead_ns, m.receive_overhead_ns), (1.0, 5.0, 54.0));
    assert_eq!(m.one_way_ns(), 60.0);
    assert!(found.measurement.notes[0].contains("cache miss"));
}

/// As on a virtual machine whose two cores share a cache in half of the passes.
#[test]
fn a_note_says_that_passes_are_of_two_kinds() {
    let mut samples = SyntheticMachine::of_loggp(&TRUE_LOGGP, QUIET, 1..=1);
    let notes = |samples: &[Series]| {
        estimate_parameters(samples, ModelKind::LogGp, "f", conditions(), 9).unwrap().measurement.notes
    };
    assert_eq!(notes(&samples), Vec::<String>::new());
    samples[0].passes.iter_mut().step_by(2).flatten().for_each(|ns| *ns *= 4.0);
    assert!(notes(&samples)[0].contains("not of one kind"), "{:?}", notes(&samples));
}

#[test]
fn the_file_is_readable_as_parameters_and_equal_for_equal_seeds() {
    let samples = SyntheticMachine::of_loggp(&TRUE_LOGGP, LOUD, 1..=3);
    let estimate = || estimate_parameters(&samples, ModelKind::LogGp, "f", conditions(), 9).unwrap();
    let text = serde_json::to_string(&estimate()).unwrap();
    assert_eq!(text, serde_json::to_string(&estimate()).unwrap());
    assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), estimate().parameters);
    assert_eq!(serde_json::from_str::<MeasuredParameters>(&text).unwrap(), estimate());
}

/// A token bucket lets the first bytes of a message pass at once, so only long messages show the rate of
/// the network.
#[test]
fn between_hosts_the_rate_of_the_network_is_that_of_long_messages() {
    const RATE_NS: f64 = 80.0;
    const AT_ONCE: u64 = 64 * 1024;
    let mut samples = SyntheticMachine::of_loggp(&TRUE_LOGGP, LOUD, 1..=3);
    samples.retain(|s| !matches!(s.quantity, Quantity::Message | Quantity::Switch | Quantity::OneToMany));
    let mut machine = SyntheticMachine::new(LOUD);
    for bytes in [16, 256, 1024, 4096, 16384, 65536, 131_072, 196_608, 262_144, 393_216, 524_288_u64] {
        machine.sample(
            Quantity::Message,
            1,
            bytes,
            false,
            1_000.0 + bytes.saturating_sub(AT_ONCE) as f64 * RATE_NS,
        );
    }
    samples.extend(machine.series);
    let of = |hosts: &[&str]| {
        let conditions =
            Conditions { hosts: hosts.iter().map(|h| (*h).to_string()).collect(), ..conditions() };
        estimate_parameters(&samples, ModelKind::LogGp, "f", conditions, 9).unwrap()
    };
    let found = of(&["a", "b", "c"]);
    let Some(Model::LogGp(m)) = found.parameters.network else { panic!("{:?}", found.parameters) };
    assert!(found.parameters.node.is_none() && found.parameters.check() == Ok(()));
    assert!(off(m.gap_per_byte_ns, RATE_NS) < 0.1, "{}", m.gap_per_byte_ns);
    assert!(
        off(m.gap_ns, TRUE_LOGGP.gap_ns) < 0.03 && off(m.latency_ns, TRUE_LOGGP.latency_ns) < 0.06,
        "{m:?}"
    );
    assert!(found.parameters.source.starts_with("a function on "));
    assert_eq!(
        found.measurement.estimates.iter().map(|e| e.symbol.as_str()).collect::<Vec<_>>(),
        ["L", "o_s", "o_r", "g", "G"]
    );
    // A line through all sizes follows the many short ones.
    assert!(off(loggp_of(&of(&[])).gap_per_byte_ns, RATE_NS) > 0.3);
}
