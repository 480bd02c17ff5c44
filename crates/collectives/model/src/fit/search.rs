//! The minimum of a function of one or two variables within limits, by Nelder-Mead from several starts.

use argmin::core::{CostFunction, Executor, State};
use argmin::solver::neldermead::NelderMead;

/// Steps of one descent. Two dimensions need some dozens.
const STEPS: u64 = 150;

struct Bounded<'a> {
    cost: &'a dyn Fn(&[f64]) -> f64,
    limits: &'a [(f64, f64)],
}

impl CostFunction for Bounded<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    /// Outside the limits the cost is more than at the nearest limit, and grows with the distance, so
    /// that the simplex turns back.
    fn cost(&self, at: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        let inside: Vec<f64> =
            at.iter().zip(self.limits).map(|(x, (low, high))| x.clamp(*low, *high)).collect();
        let outside: f64 = at.iter().zip(&inside).map(|(x, y)| (x - y).abs()).sum();
        let cost = (self.cost)(&inside);
        Ok(if cost.is_finite() { cost * (1.0 + outside) + outside * 1e-3 } else { f64::MAX })
    }
}

/// The point with the least cost that was found, and its cost. Each start begins a descent with a simplex
/// of size `step`. None if there is no start or no finite cost.
pub(super) fn minimum(
    cost: &dyn Fn(&[f64]) -> f64,
    limits: &[(f64, f64)],
    starts: &[Vec<f64>],
    step: f64,
) -> Option<(Vec<f64>, f64)> {
    let descend = |start: &Vec<f64>| {
        let mut simplex = vec![start.clone()];
        for i in 0..start.len() {
            let mut corner = start.clone();
            corner[i] += step;
            simplex.push(corner);
        }
        let solver = NelderMead::new(simplex).with_sd_tolerance(1e-7).ok()?;
        let done = Executor::new(Bounded { cost, limits }, solver)
            .configure(|state| state.max_iters(STEPS))
            .run()
            .ok()?;
        let best = done.state().get_best_param()?;
        let inside: Vec<f64> = best.iter().zip(limits).map(|(x, (low, high))| x.clamp(*low, *high)).collect();
        let value = cost(&inside);
        Some((inside, value))
    };
    starts.iter().filter_map(descend).filter(|(_, c)| c.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function with many local minima.
    fn bumpy(x: &[f64]) -> f64 {
        x.iter().map(|x| (x - 1.3).powi(2) + 2.0 * (1.0 - (4.0 * (x - 1.3)).cos())).sum::<f64>() + 0.5
    }

    #[test]
    fn several_starts_find_a_minimum_that_one_misses() {
        let limits = [(-6.0, 6.0), (-6.0, 6.0)];
        let one = minimum(&bumpy, &limits, &[vec![-5.0, -5.0]], 0.3).unwrap();
        assert!(one.1 > 1.0, "from a bad start it should stop early: {one:?}");
        let starts: Vec<Vec<f64>> =
            (-5..=5).flat_map(|a| (-5..=5).map(move |b| vec![f64::from(a), f64::from(b)])).collect();
        let many = minimum(&bumpy, &limits, &starts, 0.3).unwrap();
        assert!((many.1 - 0.5).abs() < 1e-4 && many.0.iter().all(|x| (x - 1.3).abs() < 1e-2), "{many:?}");
    }

    #[test]
    fn the_limits_are_kept() {
        let (at, value) = minimum(&|x| (x[0] - 10.0).abs(), &[(0.0, 4.0)], &[vec![1.0]], 0.5).unwrap();
        assert!((at[0] - 4.0).abs() < 1e-3 && (value - 6.0).abs() < 1e-3);
        assert!(minimum(&|_| f64::NAN, &[(0.0, 1.0)], &[vec![0.5]], 0.1).is_none());
    }
}
