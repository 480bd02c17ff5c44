//! The course of a measurement: all ways take turns, those that are far behind drop out, the best few
//! meet the built-in way again.

use crate::ratio::Ratio;
use evenkeel_random::Random;
use evenkeel_statistics::median;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What is measured: way 0 is the built-in one, the candidates follow.
pub trait VariantTimer {
    /// Nanoseconds of a call in a turn of so many calls.
    fn turn(&mut self, variant: usize, calls: u32) -> f64;
    /// Since the beginning.
    fn elapsed(&self) -> Duration;
}

/// How long the two parts may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLimits {
    pub screening: Duration,
    pub finals: Duration,
    /// Whether ways that are far behind drop out.
    pub drop_slow: bool,
}

/// How the measurement went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Calls of each turn.
    pub calls: u32,
    /// Of every way, the built-in one first.
    pub variants: Vec<VariantResult>,
    /// The way that is clearly better than the built-in one; 0 if there is none.
    pub chosen: usize,
}

/// What was found of one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantResult {
    /// Nanoseconds of a call: median of its turns, of the finals if it was in them.
    pub median_ns: f64,
    pub turns: u32,
    /// Compared with the built-in way, in the first part. None: it dropped out too soon.
    pub screened: Option<Ratio>,
    /// Compared with it in the finals.
    pub finals: Option<Ratio>,
    /// Compared with it among processes that were started anew. Only the best is.
    pub confirmation: Option<Ratio>,
}

impl Comparison {
    /// Takes in a measurement of the chosen way alone: it stays chosen only if it was clearly better there
    /// too.
    pub fn confirm(&mut self, confirmation: &Comparison) {
        let ratio = confirmation.variants.get(1).and_then(|variant| variant.finals);
        self.variants[self.chosen].confirmation = ratio;
        if !ratio.is_some_and(|r| r.is_clearly_better()) {
            self.chosen = 0;
        }
    }
}

/// How long a turn is to be: long enough that its ends do not count, short enough that many fit between
/// two disturbances.
const TURN_NS: f64 = 400_000.0;
const FEWEST_CALLS: f64 = 4.0;
const MOST_CALLS: f64 = 4_000.0;
/// After so many rounds, what takes so many times as long as the built-in way is left out: as long as
/// there is no interval by its fastest turn, which a disturbance cannot have made longer than all
/// others, then by the lower end of the interval.
const CUTS: [(usize, f64); 6] = [(4, 3.0), (8, 2.0), (16, 1.5), (30, 1.2), (50, 1.1), (80, 1.03)];
/// Ways in the finals, beside the built-in one.
const FINALISTS: usize = 3;
/// More rounds say nothing more.
const MOST_ROUNDS: usize = 1_000;
/// As few as give an interval.
const FEWEST_ROUNDS: usize = 11;

/// Times of each way, by round; a round that was not finished is left out.
struct Rounds(Vec<Vec<f64>>);

impl Rounds {
    fn ratio(&self, variant: usize) -> Option<Ratio> {
        let pairs: Vec<(f64, f64)> = self.0[0].iter().copied().zip(self.0[variant].iter().copied()).collect();
        Ratio::of(&pairs)
    }

    /// The median of ratios to the built-in way, over the rounds that the way was in.
    fn standing(&self, variant: usize) -> f64 {
        let ratios: Vec<f64> = self.0[0].iter().zip(&self.0[variant]).map(|(a, b)| b / a).collect();
        if ratios.is_empty() { f64::INFINITY } else { median(ratios) }
    }

    /// How many times as long as the built-in way it takes at least.
    fn at_least(&self, variant: usize) -> f64 {
        let least = |variant: usize| fastest(&self.0[variant]);
        self.ratio(variant).map_or_else(|| least(variant) / least(0), |ratio| ratio.low)
    }
}

/// Runs it. `variants`: how many candidates there are. `progress` is told the share of the time.
pub fn compare(
    bench: &mut impl VariantTimer,
    candidates: usize,
    limits: TimeLimits,
    seed: u64,
    mut progress: impl FnMut(f64),
) -> Comparison {
    let whole = limits.screening + limits.finals;
    let calls = calls_of_a_turn(bench);
    // A new order of turns each time: whoever follows a slow way must not always be the same one.
    let mut order = Random::new(seed);
    let share = |elapsed: Duration| (elapsed.as_secs_f64() / whole.as_secs_f64()).min(1.0);
    let mut among: Vec<usize> = (0..=candidates).collect();
    let mut screening = Rounds(vec![Vec::new(); candidates + 1]);
    while screening.0[0].len() < MOST_ROUNDS && bench.elapsed() < limits.screening && among.len() > 1 {
        round(bench, &mut screening, &mut among, calls, limits.screening, &mut order);
        progress(share(bench.elapsed()));
        let done = screening.0[0].len();
        if let Some((_, most)) = CUTS.iter().rev().find(|(rounds, _)| limits.drop_slow && done >= *rounds) {
            among.retain(|variant| *variant == 0 || screening.at_least(*variant) <= *most);
        }
    }
    // Without a first part all are in the finals.
    let mut finalists: Vec<usize> = among
        .iter()
        .copied()
        .filter(|variant| *variant > 0 && screening.0[*variant].len() == screening.0[0].len())
        .collect();
    finalists.sort_by(|a, b| screening.standing(*a).total_cmp(&screening.standing(*b)));
    // What was slower all the time need not be tried again.
    finalists.retain(|variant| screening.ratio(*variant).is_none_or(|r| r.low < 1.0));
    finalists.truncate(FINALISTS);
    let mut finals = Rounds(vec![Vec::new(); candidates + 1]);
    let mut among: Vec<usize> = std::iter::once(0).chain(finalists).collect();
    while finals.0[0].len() < MOST_ROUNDS && bench.elapsed() < whole && among.len() > 1 {
        round(bench, &mut finals, &mut among, calls, whole, &mut order);
        progress(share(bench.elapsed()));
    }
    let finding = |variant: usize| {
        let times =
            if finals.0[variant].len() >= FEWEST_ROUNDS { &finals.0[variant] } else { &screening.0[variant] };
        VariantResult {
            median_ns: median(times.to_vec()),
            turns: (screening.0[variant].len() + finals.0[variant].len()) as u32,
            screened: screening.ratio(variant).filter(|_| variant > 0),
            finals: finals.ratio(variant).filter(|_| variant > 0),
            confirmation: None,
        }
    };
    let variants: Vec<VariantResult> = (0..=candidates).map(finding).collect();
    let better = (1..=candidates)
        .filter_map(|variant| Some((variant, variants[variant].finals.filter(Ratio::is_clearly_better)?)));
    let chosen =
        better.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median)).map_or(0, |(variant, _)| variant);
    Comparison { calls, variants, chosen }
}

/// One turn of each way, in any order. When time is up in the middle, the round does not count.
fn round(
    bench: &mut impl VariantTimer,
    rounds: &mut Rounds,
    among: &mut [usize],
    calls: u32,
    until: Duration,
    order: &mut Random,
) {
    order.shuffle(among);
    let done = rounds.0[0].len();
    for &variant in among.iter() {
        if bench.elapsed() > until {
            among.iter().for_each(|variant| rounds.0[*variant].truncate(done));
            return;
        }
        let ns = bench.turn(variant, calls);
        rounds.0[variant].push(ns);
    }
}

fn fastest(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn calls_of_a_turn(bench: &mut impl VariantTimer) -> u32 {
    let mut calls = FEWEST_CALLS;
    loop {
        // The first calls of a job are slow, and short turns are easily disturbed: the fastest of three, and
        // longer ones until it fits.
        let ns = fastest(&[(); 3].map(|()| bench.turn(0, calls as u32)));
        let wanted = (TURN_NS / ns.max(1.0)).clamp(FEWEST_CALLS, MOST_CALLS);
        if wanted < 2.0 * calls {
            return wanted as u32;
        }
        calls = wanted.min(8.0 * calls);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose ways take what they are said to take, times noise, and every turn takes that long of
    /// a clock of its own.
    struct SimulatedMachine {
        ns: Vec<f64>,
        noise: f64,
        chance: Random,
        clock_ns: f64,
        turns: Vec<usize>,
    }

    impl VariantTimer for SimulatedMachine {
        fn turn(&mut self, variant: usize, calls: u32) -> f64 {
            let chance = self.chance.below(1000) as f64 / 500.0 - 1.0;
            let ns = self.ns[variant] * (1.0 + self.noise * chance);
            self.clock_ns += ns * f64::from(calls) + 1e3;
            self.turns[variant] += 1;
            ns
        }
        fn elapsed(&self) -> Duration {
            Duration::from_nanos(self.clock_ns as u64)
        }
    }

    fn compare_simulated(ns: &[f64], noise: f64, seed: u64) -> (Comparison, SimulatedMachine) {
        let mut bench = SimulatedMachine {
            ns: ns.to_vec(),
            noise,
            chance: Random::new(seed),
            clock_ns: 0.0,
            turns: vec![0; ns.len()],
        };
        let limits = TimeLimits {
            screening: Duration::from_millis(200),
            finals: Duration::from_millis(200),
            drop_slow: true,
        };
        let mut shares = Vec::new();
        let comparison = compare(&mut bench, ns.len() - 1, limits, seed, |share| shares.push(share));
        assert!(shares.windows(2).all(|w| w[0] <= w[1]) && shares.iter().all(|s| (0.0..=1.0).contains(s)));
        (comparison, bench)
    }

    #[test]
    fn the_best_is_found_and_the_hopeless_are_dropped() {
        let (found, bench) = compare_simulated(&[1000.0, 5000.0, 900.0, 700.0, 1100.0, 3000.0], 0.05, 1);
        assert_eq!(found.chosen, 3);
        assert!((found.variants[3].finals.unwrap().median - 0.7).abs() < 0.02);
        assert!(bench.turns[1] <= 4 && bench.turns[5] <= 8, "{:?}", bench.turns);
        assert!((370..430).contains(&found.calls), "turns of 0.4 ms: {}", found.calls);
    }

    #[test]
    fn the_built_in_way_stays_unless_another_is_clearly_better() {
        for seed in 0..200 {
            let (found, _) = compare_simulated(&[1000.0; 6], 0.3, seed);
            assert_eq!(found.chosen, 0, "seed {seed}");
        }
        assert_eq!(compare_simulated(&[1000.0, 990.0, 1500.0], 0.1, 1).0.chosen, 0, "1% is next to nothing");
        assert_eq!(compare_simulated(&[1000.0, 1200.0, 1500.0], 0.0, 1).0.chosen, 0);
        assert_eq!(compare_simulated(&[1000.0], 0.1, 1).0.chosen, 0, "no candidates at all");
    }

    #[test]
    fn what_is_not_better_again_is_not_chosen() {
        let once = || compare_simulated(&[1000.0, 800.0], 0.05, 1).0;
        let confirmation = |ns: f64| {
            let mut bench = SimulatedMachine {
                ns: vec![1000.0, ns],
                noise: 0.05,
                chance: Random::new(7),
                clock_ns: 0.0,
                turns: vec![0; 2],
            };
            compare(
                &mut bench,
                1,
                TimeLimits { screening: Duration::ZERO, finals: Duration::from_millis(100), drop_slow: true },
                2,
                |_| {},
            )
        };
        let confirmed = |ns: f64| {
            let mut found = once();
            assert_eq!(found.chosen, 1);
            found.confirm(&confirmation(ns));
            (found.chosen, found.variants[1].confirmation.is_some())
        };
        assert_eq!((confirmed(820.0), confirmed(1000.0)), ((1, true), (0, true)));
    }

    #[test]
    fn time_is_kept_to() {
        for ns in [100.0, 1e4, 1e6] {
            let (found, bench) = compare_simulated(&[ns, ns, ns * 1.1, ns * 0.9, ns], 0.1, 3);
            // A turn that has begun is finished.
            assert!(
                bench.clock_ns < 0.4e9 + 1.2 * f64::from(found.calls) * ns + 1e4,
                "{ns}: {} s",
                bench.clock_ns / 1e9
            );
        }
    }
}
