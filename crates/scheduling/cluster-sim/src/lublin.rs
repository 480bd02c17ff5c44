//! When jobs arrive on real machines, how many ranks they have, and how long they run: the model of Lublin
//! and Feitelson. May use: distributions.
//!
//! Source: Lublin, Feitelson, "The workload on parallel supercomputers: modeling the characteristics of
//! rigid jobs", JPDC 2003, with the parameters for jobs that are not told apart as interactive or batch.

use crate::distributions::Gamma;
use evenkeel_random::Random;

/// The share of jobs with one rank.
const SERIAL: f64 = 0.244;
/// The share of jobs whose ranks are a power of two, above one.
const POWER_OF_TWO: f64 = 0.576;
/// The base-2 logarithm of ranks is uniform in two parts: up to 2.5 below that of the machine, and above.
const LEAST_LOG: f64 = 0.8;
const UPPER_PART: f64 = 2.5;
const LOWER_SHARE: f64 = 0.86;

/// The logarithm of the run time in seconds is one of two gamma distributions; the more ranks, the more
/// often the second.
const SHORT: Gamma = Gamma { shape: 4.2, scale: 0.94 };
const LONG: Gamma = Gamma { shape: 312.0, scale: 0.03 };
const SHORT_PER_RANK: f64 = -0.0054;
const SHORT_SHARE: f64 = 0.78;
/// The model was fitted to machines up to this size. On larger ones ranks count relative to it.
const FITTED_CORES: f64 = 128.0;

/// The logarithm of the time between arrivals in seconds, in hours with the mean rate.
const BETWEEN: Gamma = Gamma { shape: 10.2303 * 1.0225, scale: 0.4871 };
/// How arrivals are distributed over the half hours of a day, which begins at half past five in the morning.
const OVER_DAY: Gamma = Gamma { shape: 8.1737, scale: 3.9631 };
const HALF_HOURS: usize = 48;
const DAY_BEGINS: usize = 11;
const HALF_HOUR_S: f64 = 1800.0;

/// Logarithms above these are drawn again: two days of run time, five between arrivals.
const LONGEST_RUN: f64 = 12.0;
const LONGEST_BETWEEN: f64 = 13.0;

/// A job of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelJob {
    /// When it is submitted, in seconds.
    pub arrival_s: f64,
    /// Its ranks.
    pub ranks: usize,
    /// Its run time in seconds.
    pub run_time_s: f64,
}

/// Jobs on a machine with so many cores, from midnight on. The same seed gives the same jobs.
pub fn lublin_feitelson(cores: usize, jobs: usize, seed: u64) -> Vec<ModelJob> {
    let mut random = Random::stream(seed, 0);
    let weights = day();
    let mut clock_s = 0.0;
    let mut job = |_| {
        let ranks = ranks(cores, &mut random);
        let run_time_s = run_time_s(cores, ranks, &mut random);
        let between = draw_below(BETWEEN, LONGEST_BETWEEN, &mut random).exp();
        clock_s = advance_s(clock_s, between, &weights);
        ModelJob { arrival_s: clock_s, ranks, run_time_s }
    };
    (0..jobs).map(&mut job).collect()
}

/// The rate of arrivals in each half hour of a day relative to the mean.
fn day() -> [f64; HALF_HOURS] {
    let mut weights = [0.0; HALF_HOURS];
    for number in DAY_BEGINS..DAY_BEGINS + HALF_HOURS {
        let middle = number as f64;
        weights[(number - 1) % HALF_HOURS] = OVER_DAY.below(middle + 0.5) - OVER_DAY.below(middle - 0.5);
    }
    let mean = weights.iter().sum::<f64>() / HALF_HOURS as f64;
    weights.map(|weight| weight / mean)
}

/// The time at which so many seconds of the mean rate have passed.
fn advance_s(from_s: f64, mut mean_s: f64, weights: &[f64; HALF_HOURS]) -> f64 {
    let mut clock_s = from_s;
    loop {
        let number = (clock_s / HALF_HOUR_S).floor();
        let weight = weights[number as usize % HALF_HOURS];
        let left_s = (number + 1.0) * HALF_HOUR_S - clock_s;
        if mean_s <= left_s * weight {
            return clock_s + mean_s / weight;
        }
        mean_s -= left_s * weight;
        clock_s = (number + 1.0) * HALF_HOUR_S;
    }
}

fn ranks(cores: usize, random: &mut Random) -> usize {
    let kind = random.unit();
    if kind < SERIAL || cores == 1 {
        return 1;
    }
    let most = (cores as f64).log2();
    let middle = (most - UPPER_PART).max(LEAST_LOG);
    let (from, to) = if random.unit() < LOWER_SHARE { (LEAST_LOG, middle) } else { (middle, most) };
    let mut log = from + (to - from) * random.unit();
    if kind < SERIAL + POWER_OF_TWO {
        log = log.round();
    }
    (log.exp2().round() as usize).clamp(1, cores)
}

fn run_time_s(cores: usize, ranks: usize, random: &mut Random) -> f64 {
    let scaled_ranks = ranks as f64 * (FITTED_CORES / cores as f64).min(1.0);
    let short = (SHORT_PER_RANK * scaled_ranks + SHORT_SHARE).clamp(0.0, 1.0);
    let gamma = if random.unit() < short { SHORT } else { LONG };
    draw_below(gamma, LONGEST_RUN, random).exp()
}

fn draw_below(gamma: Gamma, most: f64, random: &mut Random) -> f64 {
    loop {
        let drawn = gamma.draw(random);
        if drawn <= most {
            return drawn;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_statistics::median;

    #[test]
    fn jobs_have_the_statistics_of_the_model() {
        let jobs = lublin_feitelson(128, 20_000, 1);
        let share = |holds: fn(&ModelJob) -> bool| {
            jobs.iter().filter(|job| holds(job)).count() as f64 / jobs.len() as f64
        };
        let serial = share(|job| job.ranks == 1);
        assert!((SERIAL - 0.01..SERIAL + 0.02).contains(&serial), "{serial}");
        // Also some of the others round to a power of two.
        let powers = share(|job| job.ranks > 1 && job.ranks.is_power_of_two());
        assert!((POWER_OF_TWO - 0.02..POWER_OF_TWO + 0.1).contains(&powers), "{powers}");
        let expected = |job: &ModelJob| {
            let first = SHORT_PER_RANK * job.ranks as f64 + SHORT_SHARE;
            first * SHORT.below(7.0) + (1.0 - first) * LONG.below(7.0)
        };
        let expected = jobs.iter().map(expected).sum::<f64>() / jobs.len() as f64;
        let short = share(|job| job.run_time_s < 7f64.exp());
        assert!((short - expected).abs() < 0.012, "{short} {expected}");
        assert!(jobs.iter().all(|job| job.ranks <= 128 && job.run_time_s <= LONGEST_RUN.exp()));
        assert!(jobs.windows(2).all(|pair| pair[0].arrival_s <= pair[1].arrival_s));
    }

    #[test]
    fn a_thousand_jobs_on_32_cores_arrive_in_about_eight_days() {
        let last = |seed| lublin_feitelson(32, 1000, seed)[999].arrival_s / 86_400.0;
        let days = median((0..20).map(last).collect());
        assert!((6.0..11.0).contains(&days), "{days}");
        let ranks = |seed| median(lublin_feitelson(32, 1000, seed).iter().map(|j| j.ranks as f64).collect());
        assert!((2.0..=4.0).contains(&ranks(3)));
    }

    #[test]
    fn arrivals_have_a_daily_cycle() {
        let weights = day();
        assert!((weights.iter().sum::<f64>() - 48.0).abs() < 1e-9);
        let jobs = lublin_feitelson(32, 40_000, 5);
        let mut counts = [0.0_f64; HALF_HOURS];
        jobs.iter().for_each(|job| counts[(job.arrival_s / HALF_HOUR_S) as usize % HALF_HOURS] += 1.0);
        let busiest = (0..HALF_HOURS).max_by(|a, b| weights[*a].total_cmp(&weights[*b])).unwrap();
        let quietest = (0..HALF_HOURS).min_by(|a, b| weights[*a].total_cmp(&weights[*b])).unwrap();
        assert!(counts[busiest] > 3.0 * counts[quietest].max(1.0), "{counts:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_jobs() {
        assert_eq!(lublin_feitelson(32, 50, 7), lublin_feitelson(32, 50, 7));
        assert_ne!(lublin_feitelson(32, 50, 7), lublin_feitelson(32, 50, 8));
    }
}
