//! Robust linear least squares with up to a few columns.

use super::distance::CurvePoint;

/// Rounds of reweighting. Each is cheap, and they converge soon.
const ROUNDS: usize = 25;
/// The relative distance below which the absolute loss is smoothed, so that weights stay finite.
const SMOOTH_BELOW: f64 = 1e-4;
/// Tukey's constant: 95% of the efficiency of least squares if errors are normal.
const TUKEY: f64 = 4.685;

/// The loss of a distance. Distances are relative to the measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loss {
    /// |r|.
    Absolute,
    /// Tukey's biweight at a scale: beyond 4.685 scales the loss is constant.
    Biweight { scale: f64 },
}

impl Loss {
    pub(super) fn of(self, r: f64) -> f64 {
        match self {
            Loss::Absolute => r.abs(),
            Loss::Biweight { scale } => {
                let u = (r / (TUKEY * scale)).abs().min(1.0);
                1.0 - (1.0 - u * u).powi(3)
            }
        }
    }

    fn weight(self, r: f64) -> f64 {
        match self {
            Loss::Absolute => 1.0 / r.abs().max(SMOOTH_BELOW),
            Loss::Biweight { scale } => {
                let u = (r / (TUKEY * scale)).abs().min(1.0);
                (1.0 - u * u).powi(2)
            }
        }
    }
}

/// The relative distances of a combination of columns from the points.
pub(super) fn distances(columns: &[Vec<f64>], points: &[CurvePoint], coefficients: &[f64]) -> Vec<f64> {
    let value = |i: usize| columns.iter().zip(coefficients).map(|(c, k)| c[i] * k).sum::<f64>();
    points.iter().enumerate().map(|(i, p)| (value(i) - p.ns) / p.ns).collect()
}

/// 1.4826 times the median of the absolute distances, which is the standard deviation if they are normal.
/// At least 0.01%.
pub(super) fn scale(distances: &[f64]) -> f64 {
    let mut off: Vec<f64> = distances.iter().map(|r| r.abs()).collect();
    off.sort_by(f64::total_cmp);
    (1.4826 * evenkeel_statistics::quantile(&off, 0.5)).max(SMOOTH_BELOW)
}

/// The coefficients of the columns with the least loss, by reweighted least squares, beginning with
/// `start` or with plain least squares.
pub(super) fn robust(
    columns: &[Vec<f64>],
    points: &[CurvePoint],
    loss: Loss,
    start: Option<&[f64]>,
) -> Vec<f64> {
    let relative = |p: &CurvePoint| 1.0 / (p.ns * p.ns);
    let mut weights: Vec<f64> = points.iter().map(relative).collect();
    let mut coefficients = start.map_or_else(|| weighted(columns, points, &weights), <[f64]>::to_vec);
    for _ in 0..ROUNDS {
        for ((weight, point), r) in
            weights.iter_mut().zip(points).zip(distances(columns, points, &coefficients))
        {
            *weight = relative(point) * loss.weight(r);
        }
        let next = weighted(columns, points, &weights);
        let is_converged =
            next.iter().zip(&coefficients).all(|(a, b)| (a - b).abs() <= 1e-9 * (a.abs() + b.abs()));
        coefficients = next;
        if is_converged {
            break;
        }
    }
    coefficients
}

/// Weighted least squares by modified Gram-Schmidt. A column that depends on those before it gets the
/// coefficient 0.
fn weighted(columns: &[Vec<f64>], points: &[CurvePoint], weights: &[f64]) -> Vec<f64> {
    let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let scaled = |column: &[f64]| column.iter().zip(&roots).map(|(x, w)| x * w).collect::<Vec<f64>>();
    let mut rest: Vec<f64> = scaled(&points.iter().map(|p| p.ns).collect::<Vec<_>>());
    let count = columns.len();
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(count);
    let mut triangle = vec![vec![0.0; count]; count];
    let mut right = vec![0.0; count];
    for j in 0..count {
        let mut column = scaled(&columns[j]);
        let before = dot(&column, &column).sqrt();
        for (i, q) in basis.iter().enumerate() {
            triangle[i][j] = dot(q, &column);
            for (x, y) in column.iter_mut().zip(q) {
                *x -= triangle[i][j] * y;
            }
        }
        let length = dot(&column, &column).sqrt();
        if length > 1e-9 * before && length.is_finite() {
            triangle[j][j] = length;
            column.iter_mut().for_each(|x| *x /= length);
            right[j] = dot(&column, &rest);
            for (x, y) in rest.iter_mut().zip(&column) {
                *x -= right[j] * y;
            }
        } else {
            column.iter_mut().for_each(|x| *x = 0.0);
        }
        basis.push(column);
    }
    let mut coefficients = vec![0.0; count];
    for j in (0..count).rev() {
        if triangle[j][j] > 0.0 {
            let known: f64 = (j + 1..count).map(|k| triangle[j][k] * coefficients[k]).sum();
            coefficients[j] = (right[j] - known) / triangle[j][j];
        }
    }
    coefficients
}

/// A straight line through points: its value at 0 and its slope, in nanoseconds. Distances are relative,
/// and distant points have no weight. None if there are fewer than two different x.
pub fn line(points: &[CurvePoint]) -> Option<(f64, f64)> {
    let first = points.first()?.x;
    points.iter().find(|p| p.x != first)?;
    let columns = [vec![1.0; points.len()], points.iter().map(|p| p.x).collect()];
    let rough = robust(&columns, points, Loss::Absolute, None);
    let loss = Loss::Biweight { scale: scale(&distances(&columns, points, &rough)) };
    let fine = robust(&columns, points, loss, Some(&rough));
    Some((fine[0], fine[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_among_outliers() {
        let mut random = fastrand::Rng::with_seed(7);
        let truth = |x: f64| 250.0 + 1.75 * x;
        let points: Vec<CurvePoint> = (0..40)
            .map(|i| {
                let x = f64::from(i * i);
                let noise = 1.0 + 0.02 * (random.f64() - 0.5);
                let outlier = if i % 4 == 1 { 1.0 + 20.0 * random.f64() } else { 1.0 };
                CurvePoint { x, ns: truth(x) * noise * outlier }
            })
            .collect();
        let (start, slope) = line(&points).unwrap();
        assert!(
            (start / 250.0 - 1.0).abs() < 0.02 && (slope / 1.75 - 1.0).abs() < 0.02,
            "{start} + {slope}·x"
        );
        // Plain least squares is far from the line, so the outliers matter.
        let columns = [vec![1.0; points.len()], points.iter().map(|p| p.x).collect()];
        let plain = weighted(&columns, &points, &vec![1.0; points.len()]);
        assert!((plain[1] / 1.75 - 1.0).abs() > 0.5, "{plain:?}");
    }

    #[test]
    fn points_that_determine_no_line_give_none() {
        assert_eq!(line(&[]), None);
        assert_eq!(line(&[CurvePoint { x: 3.0, ns: 5.0 }; 4]), None);
        let exact = line(&[CurvePoint { x: 1.0, ns: 12.0 }, CurvePoint { x: 3.0, ns: 16.0 }]).unwrap();
        assert!((exact.0 - 10.0).abs() < 1e-6 && (exact.1 - 2.0).abs() < 1e-6);
        let same = [vec![1.0; 3], vec![2.0; 3]];
        let points = [CurvePoint { x: 0.0, ns: 4.0 }; 3];
        assert_eq!(robust(&same, &points, Loss::Absolute, None), [4.0, 0.0]);
    }
}
