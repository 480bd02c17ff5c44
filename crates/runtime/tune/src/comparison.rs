//! The comparison of all variants: they take turns, slow ones drop out, and the best few meet the built-in
//! barrier again.

use crate::ratio::Ratio;
use crate::rounds::Rounds;
use crate::turn_length::calls_per_turn;
use crate::variant_timer::VariantTimer;
use evenkeel_random::Random;
use evenkeel_statistics::median;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the two parts of a comparison may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLimits {
    /// The time of the first part, in which all variants take turns. If it is zero, all are in the finals.
    pub screening: Duration,
    /// The time of the second part, in which the best few take turns with the built-in barrier.
    pub finals: Duration,
    /// Whether variants that are far slower than the built-in barrier drop out of the screening.
    pub drop_slow: bool,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Barriers in each turn.
    pub calls: u32,
    /// The results of all variants. The built-in barrier is the first.
    pub variants: Vec<VariantResult>,
    /// The index of the variant that is clearly better than the built-in barrier. 0 if there is none.
    pub chosen: usize,
}

/// The result of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantResult {
    /// Nanoseconds of one barrier: the median of the turns of the finals, or of the screening if the
    /// variant was not in the finals.
    pub median_ns: f64,
    /// Turns in both parts.
    pub turns: u32,
    /// The ratio to the built-in barrier in the screening. None if the variant dropped out too early.
    pub screened: Option<Ratio>,
    /// The ratio to the built-in barrier in the finals.
    pub finals: Option<Ratio>,
    /// The ratio to the built-in barrier among processes that were started anew. Only the best variant has
    /// one.
    pub confirmation: Option<Ratio>,
}

impl Comparison {
    /// Adds a second comparison, of the chosen variant alone. The variant stays chosen only if it was clearly
    /// better there too.
    pub fn confirm(&mut self, confirmation: &Comparison) {
        let ratio = confirmation.variants.get(1).and_then(|variant| variant.finals);
        self.variants[self.chosen].confirmation = ratio;
        if !ratio.is_some_and(|r| r.is_clearly_better()) {
            self.chosen = 0;
        }
    }
}

/// After a number of rounds, the screening drops variants whose time is at least so many times that of the
/// built-in barrier ([`Rounds::lower_bound`]).
const CUTS: [(usize, f64); 6] = [(4, 3.0), (8, 2.0), (16, 1.5), (30, 1.2), (50, 1.1), (80, 1.03)];
/// Variants in the finals besides the built-in barrier.
const FINALISTS: usize = 3;
/// Each part ends after this many rounds, because more add nothing.
const MOST_ROUNDS: usize = 1_000;
/// The fewest rounds from which a [`Ratio`] can be computed.
const FEWEST_ROUNDS: usize = 11;

/// Compares `candidates` variants with the built-in barrier. `progress` gets the share of the time that has
/// passed. The seed determines the order of the turns.
pub fn compare(
    timer: &mut impl VariantTimer,
    candidates: usize,
    limits: TimeLimits,
    seed: u64,
    progress: impl FnMut(f64),
) -> Comparison {
    let total = limits.screening + limits.finals;
    let calls = calls_per_turn(timer);
    let mut turns = Turns { timer, calls, order: Random::new(seed), total, progress };
    let mut screening = Rounds::new(candidates + 1);
    let mut remaining: Vec<usize> = (0..=candidates).collect();
    turns.take(&mut screening, &mut remaining, limits.screening, limits.drop_slow);
    let mut finalists = vec![0];
    finalists.extend(select_finalists(&screening, &remaining));
    let mut finals = Rounds::new(candidates + 1);
    turns.take(&mut finals, &mut finalists, total, false);
    let variants: Vec<VariantResult> =
        (0..=candidates).map(|variant| variant_result(variant, &screening, &finals)).collect();
    let chosen = choose(&variants);
    Comparison { calls, variants, chosen }
}

/// How rounds of turns are taken.
struct Turns<'a, T, P> {
    timer: &'a mut T,
    calls: u32,
    /// Each round has a new order, so that no variant always follows the same slow one.
    order: Random,
    /// The time of both parts.
    total: Duration,
    progress: P,
}

impl<T: VariantTimer, P: FnMut(f64)> Turns<'_, T, P> {
    /// Takes rounds among `variants` until the time `until`. With `drop_slow`, removes slow ones by [`CUTS`].
    fn take(&mut self, rounds: &mut Rounds, variants: &mut Vec<usize>, until: Duration, drop_slow: bool) {
        while rounds.count() < MOST_ROUNDS && self.timer.elapsed() < until && variants.len() > 1 {
            self.order.shuffle(variants);
            rounds.take_round(self.timer, variants, self.calls, until);
            let share = self.timer.elapsed().as_secs_f64() / self.total.as_secs_f64();
            (self.progress)(share.min(1.0));
            let done = rounds.count();
            if let Some((_, most)) = CUTS.iter().rev().find(|(after, _)| drop_slow && done >= *after) {
                variants.retain(|variant| *variant == 0 || rounds.lower_bound(*variant) <= *most);
            }
        }
    }
}

/// The best of the variants that were in all rounds. Variants that were certainly slower are left out.
fn select_finalists(screening: &Rounds, remaining: &[usize]) -> Vec<usize> {
    let mut finalists: Vec<usize> =
        remaining.iter().copied().filter(|variant| *variant > 0 && screening.is_complete(*variant)).collect();
    finalists.sort_by(|a, b| screening.median_ratio(*a).total_cmp(&screening.median_ratio(*b)));
    finalists.retain(|variant| screening.ratio(*variant).is_none_or(|r| r.low < 1.0));
    finalists.truncate(FINALISTS);
    finalists
}

fn variant_result(variant: usize, screening: &Rounds, finals: &Rounds) -> VariantResult {
    let (screened, in_finals) = (screening.times(variant), finals.times(variant));
    let times = if in_finals.len() >= FEWEST_ROUNDS { in_finals } else { screened };
    VariantResult {
        median_ns: median(times.to_vec()),
        turns: (screened.len() + in_finals.len()) as u32,
        screened: screening.ratio(variant).filter(|_| variant > 0),
        finals: finals.ratio(variant).filter(|_| variant > 0),
        confirmation: None,
    }
}

/// The variant with the least ratio among those that were clearly better in the finals. 0 if there is none.
fn choose(variants: &[VariantResult]) -> usize {
    let better = variants
        .iter()
        .enumerate()
        .skip(1)
        .filter_map(|(variant, result)| Some((variant, result.finals.filter(Ratio::is_clearly_better)?)));
    better.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median)).map_or(0, |(variant, _)| variant)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose variants take the given times, multiplied by noise. Each turn advances its own clock.
    struct SimulatedMachine {
        ns: Vec<f64>,
        noise: f64,
        chance: Random,
        clock_ns: f64,
        turns: Vec<usize>,
    }

    impl VariantTimer for SimulatedMachine {
        fn time_turn(&mut self, variant: usize, calls: u32) -> f64 {
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
        let mut timer = SimulatedMachine {
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
        let comparison = compare(&mut timer, ns.len() - 1, limits, seed, |share| shares.push(share));
        assert!(shares.windows(2).all(|w| w[0] <= w[1]) && shares.iter().all(|s| (0.0..=1.0).contains(s)));
        (comparison, timer)
    }

    #[test]
    fn the_best_variant_is_found_and_slow_ones_drop_out() {
        let (found, timer) = compare_simulated(&[1000.0, 5000.0, 900.0, 700.0, 1100.0, 3000.0], 0.05, 1);
        assert_eq!(found.chosen, 3);
        assert!((found.variants[3].finals.unwrap().median - 0.7).abs() < 0.02);
        assert!(timer.turns[1] <= 4 && timer.turns[5] <= 8, "{:?}", timer.turns);
        assert!((370..430).contains(&found.calls), "turns of 0.4 ms: {}", found.calls);
    }

    #[test]
    fn the_built_in_barrier_stays_unless_a_variant_is_clearly_better() {
        for seed in 0..200 {
            let (found, _) = compare_simulated(&[1000.0; 6], 0.3, seed);
            assert_eq!(found.chosen, 0, "seed {seed}");
        }
        assert_eq!(
            compare_simulated(&[1000.0, 990.0, 1500.0], 0.1, 1).0.chosen,
            0,
            "1% is less than the margin"
        );
        assert_eq!(compare_simulated(&[1000.0, 1200.0, 1500.0], 0.0, 1).0.chosen, 0);
        assert_eq!(compare_simulated(&[1000.0], 0.1, 1).0.chosen, 0, "no candidates at all");
    }

    #[test]
    fn a_variant_that_is_not_better_again_is_not_chosen() {
        let once = || compare_simulated(&[1000.0, 800.0], 0.05, 1).0;
        let confirmation = |ns: f64| {
            let mut timer = SimulatedMachine {
                ns: vec![1000.0, ns],
                noise: 0.05,
                chance: Random::new(7),
                clock_ns: 0.0,
                turns: vec![0; 2],
            };
            compare(
                &mut timer,
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
    fn a_comparison_keeps_its_time_limits() {
        for ns in [100.0, 1e4, 1e6] {
            let (found, timer) = compare_simulated(&[ns, ns, ns * 1.1, ns * 0.9, ns], 0.1, 3);
            // A turn that has begun is finished.
            assert!(
                timer.clock_ns < 0.4e9 + 1.2 * f64::from(found.calls) * ns + 1e4,
                "{ns}: {} s",
                timer.clock_ns / 1e9
            );
        }
    }
}
