//! Fits of the two functions of LoP.

use super::distance::{CurvePoint, Distance, distance};
use super::linear::{Loss, distances, robust, scale};
use super::search::minimum;
use crate::{Overhead, RoundTrip};

/// The limits of ln(1 + λ₂): the shift of a start-up, from near the pole at one peer up to 50 peers.
const SHIFT: (f64, f64) = (-3.0, 3.9);
/// The limits of ln(−λ₅): from a saturation that is complete after one peer to one that takes a thousand.
const RATE: (f64, f64) = (-6.9, 1.1);

/// A function that is linear once its one or two inner parameters are given.
struct PartlyLinear<'a> {
    limits: &'a [(f64, f64)],
    columns: &'a dyn Fn(&[f64]) -> Vec<Vec<f64>>,
}

/// The inner parameters and coefficients with the least loss: first the absolute loss from all starts,
/// then Tukey's loss from that minimum.
fn fit(function: &PartlyLinear, points: &[CurvePoint], starts: &[Vec<f64>]) -> Option<(Vec<f64>, Vec<f64>)> {
    let loss_at = |inner: &[f64], loss: Loss, start: Option<&[f64]>| {
        let columns = (function.columns)(inner);
        let coefficients = robust(&columns, points, loss, start);
        distances(&columns, points, &coefficients).iter().map(|r| loss.of(*r)).sum::<f64>()
    };
    let (rough, _) = minimum(&|inner| loss_at(inner, Loss::Absolute, None), function.limits, starts, 0.5)?;
    let columns = (function.columns)(&rough);
    let coefficients = robust(&columns, points, Loss::Absolute, None);
    let loss = Loss::Biweight { scale: scale(&distances(&columns, points, &coefficients)) };
    let (fine, _) = minimum(
        &|inner| loss_at(inner, loss, Some(&coefficients)),
        function.limits,
        std::slice::from_ref(&rough),
        0.2,
    )?;
    let found = robust(&(function.columns)(&fine), points, loss, Some(&coefficients));
    Some((fine, found))
}

/// So many starts, evenly within limits.
fn grid(limits: (f64, f64), starts: u32) -> Vec<f64> {
    (0..starts).map(|i| limits.0 + (limits.1 - limits.0) * (f64::from(i) + 0.5) / f64::from(starts)).collect()
}

/// Fits RTT(p) to points of (peers, nanoseconds per message), with λ₅ < 0 and λ₆ = 0. None if there are
/// fewer than six numbers of peers, because the function has five parameters. The search has many starts,
/// or one at `near`, the result for similar points.
pub fn round_trip(points: &[CurvePoint], near: Option<&RoundTrip>) -> Option<RoundTrip> {
    if points.len() < 6 {
        return None;
    }
    let columns = |inner: &[f64]| {
        let (shift, rate) = (inner[0].exp() - 1.0, -inner[1].exp());
        vec![
            vec![1.0; points.len()],
            points.iter().map(|p| 1.0 / (shift + p.x)).collect(),
            points.iter().map(|p| (rate * p.x).exp()).collect(),
        ]
    };
    let starts = match near {
        Some(near) => vec![vec![(1.0 + near.start_up_shift).ln(), (-near.saturation_rate).ln()]],
        None => grid(SHIFT, 4)
            .into_iter()
            .flat_map(|s| grid(RATE, 5).into_iter().map(move |r| vec![s, r]))
            .collect(),
    };
    let (inner, found) = fit(&PartlyLinear { limits: &[SHIFT, RATE], columns: &columns }, points, &starts)?;
    // λ₃ + λ₄·(1 − e^(λ₅·p)): the constant is λ₃ + λ₄, and the coefficient of the exponential is −λ₄.
    Some(RoundTrip {
        floor_ns: found[0] + found[2],
        start_up_ns: found[1],
        start_up_shift: inner[0].exp() - 1.0,
        saturation_ns: -found[2],
        saturation_rate: -inner[1].exp(),
        saturation_shift: 0.0,
    })
}

/// Fits o(p) to points of (peers, nanoseconds per message). None if there are fewer than four numbers of
/// peers. `near` as for [`round_trip`].
pub fn overhead(points: &[CurvePoint], near: Option<&Overhead>) -> Option<Overhead> {
    if points.len() < 4 {
        return None;
    }
    let columns = |inner: &[f64]| {
        let shift = inner[0].exp() - 1.0;
        vec![vec![1.0; points.len()], points.iter().map(|p| 1.0 / (shift + p.x)).collect()]
    };
    let starts = match near {
        Some(near) => vec![vec![(1.0 + near.start_up_shift).ln()]],
        None => grid(SHIFT, 6).into_iter().map(|s| vec![s]).collect(),
    };
    let (inner, found) = fit(&PartlyLinear { limits: &[SHIFT], columns: &columns }, points, &starts)?;
    Some(Overhead { floor_ns: found[0], start_up_ns: found[1], start_up_shift: inner[0].exp() - 1.0 })
}

/// How well a fit predicts points that it has not seen (four-fold cross-validation): the points between
/// the first and the last are dealt into four folds, and each fold is predicted from the others. None if
/// the rest is too small for a fit.
pub fn held_out(
    points: &[CurvePoint],
    fit: impl Fn(&[CurvePoint]) -> Option<Box<dyn Fn(f64) -> f64>>,
) -> Option<Distance> {
    const FOLDS: usize = 4;
    let inner = points.len().checked_sub(2)?;
    let mut predicted = Vec::new();
    let mut seen = Vec::new();
    for fold in 0..FOLDS.min(inner) {
        let held = |i: usize| i > 0 && i <= inner && (i - 1) % FOLDS == fold;
        let kept: Vec<CurvePoint> =
            points.iter().enumerate().filter(|(i, _)| !held(*i)).map(|(_, p)| *p).collect();
        let curve = fit(&kept)?;
        for (_, point) in points.iter().enumerate().filter(|(i, _)| held(*i)) {
            predicted.push(CurvePoint { x: seen.len() as f64, ns: point.ns });
            seen.push(curve(point.x));
        }
    }
    if seen.is_empty() { None } else { Some(distance(&predicted, |i| seen[i as usize])) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mozart::{POST_RDMA_INLINE, POST_SEND_LIST, RDMA_INLINE_MIN, RDMA_NORMAL_MIN};

    /// 1, 2, … 24, then every fifth number up to 64.
    fn peers() -> impl Iterator<Item = u64> {
        (1..=24).chain((29..=64).step_by(5))
    }

    fn samples(truth: impl Fn(u64) -> f64, seed: u64, noise: f64, outliers: f64) -> Vec<CurvePoint> {
        let mut random = fastrand::Rng::with_seed(seed);
        peers()
            .map(|p| {
                let factor = 1.0 + noise * (2.0 * random.f64() - 1.0);
                let away = if random.f64() < outliers { 2.0 + 10.0 * random.f64() } else { 1.0 };
                CurvePoint { x: p as f64, ns: truth(p) * factor * away }
            })
            .collect()
    }

    fn worst(truth: impl Fn(u64) -> f64, found: impl Fn(u64) -> f64) -> f64 {
        peers().map(|p| (found(p) / truth(p) - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn round_trips_of_the_thesis_are_recovered() {
        for truth in [RDMA_INLINE_MIN, RDMA_NORMAL_MIN] {
            let exact = round_trip(&samples(|p| truth.at_ns(p), 1, 0.0, 0.0), None).unwrap();
            assert!(worst(|p| truth.at_ns(p), |p| exact.at_ns(p)) < 0.002, "{exact:?}");
            // With λ₆ = 0 the other parameters agree with the thesis too.
            let end = truth.floor_ns + truth.saturation_ns;
            assert!(((exact.floor_ns + exact.saturation_ns) / end - 1.0).abs() < 0.02);
            assert!((exact.saturation_rate / truth.saturation_rate - 1.0).abs() < 0.05);
            assert!((exact.start_up_ns / truth.start_up_ns - 1.0).abs() < 0.05);
        }
    }

    /// One point in eight is 2 to 12 times too high, and all others are wrong by up to 3%.
    #[test]
    fn noise_and_outliers_move_the_curve_by_less_than_five_percent() {
        for seed in 1..=4 {
            let points = samples(|p| RDMA_INLINE_MIN.at_ns(p), seed, 0.03, 0.12);
            let found = round_trip(&points, None).unwrap();
            let off = worst(|p| RDMA_INLINE_MIN.at_ns(p), |p| found.at_ns(p));
            assert!(off < 0.05, "seed {seed}: {off}, {found:?}");
            let again = round_trip(&points, Some(&found)).unwrap();
            assert!(
                worst(|p| found.at_ns(p), |p| again.at_ns(p)) < 0.005,
                "the search continues from its result"
            );
        }
    }

    #[test]
    fn overheads_are_recovered() {
        for truth in [POST_RDMA_INLINE, POST_SEND_LIST] {
            for seed in 1..=3 {
                let found = overhead(&samples(|p| truth.at_ns(p), seed, 0.02, 0.1), None).unwrap();
                let off = worst(|p| truth.at_ns(p), |p| found.at_ns(p));
                assert!(off < 0.03, "seed {seed}: {off}, {found:?}");
            }
        }
    }

    #[test]
    fn a_wrong_function_is_far_from_points_that_were_held_out() {
        let fit = |points: &[CurvePoint]| -> Option<Box<dyn Fn(f64) -> f64>> {
            let found = round_trip(points, None)?;
            Some(Box::new(move |p| found.at_ns(p as u64)))
        };
        let right = held_out(&samples(|p| RDMA_INLINE_MIN.at_ns(p), 5, 0.02, 0.0), fit).unwrap();
        assert!(right.median < 0.03 && right.points == 30, "{right:?}");
        let zigzag = |p: u64| if p % 2 == 0 { 1000.0 } else { 2000.0 };
        let wrong = held_out(&samples(zigzag, 5, 0.0, 0.0), fit).unwrap();
        assert!(wrong.worst > 0.3, "{wrong:?}");
    }

    #[test]
    fn too_few_points_give_no_fit() {
        let few = |n: usize| samples(|p| RDMA_INLINE_MIN.at_ns(p), 1, 0.0, 0.0)[..n].to_vec();
        assert!(round_trip(&few(5), None).is_none() && round_trip(&few(6), None).is_some());
        assert!(overhead(&few(3), None).is_none() && overhead(&few(4), None).is_some());
    }
}
