//! Random numbers of the gamma distribution. May use: random numbers.

use evenkeel_random::Random;

/// A gamma distribution; its mean is `shape · scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    /// The shape, above 0.
    pub shape: f64,
    /// The scale, above 0.
    pub scale: f64,
}

impl Gamma {
    /// A random number (Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS
    /// 2000).
    pub fn draw(self, random: &mut Random) -> f64 {
        if self.shape < 1.0 {
            let larger = Gamma { shape: self.shape + 1.0, ..self };
            return larger.draw(random) * (1.0 - random.unit()).powf(1.0 / self.shape);
        }
        let d = self.shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = normal(random);
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - random.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v * self.scale;
            }
        }
    }

    /// The share of the distribution below a value.
    pub fn below(self, value: f64) -> f64 {
        if value <= 0.0 { 0.0 } else { regularized(self.shape, value / self.scale) }
    }
}

/// A random number of the normal distribution with mean 0 and deviation 1 (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    let radius = (2.0 * random.exponential()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// The lower incomplete gamma function over the gamma function, by its series: x^a e^-x / Γ(a+1) · (1 +
/// x/(a+1) + x²/((a+1)(a+2)) + …). All terms are positive, so that nothing cancels.
fn regularized(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0, 1.0, a);
    while term > sum * 1e-16 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    (a * x.ln() - x - ln_gamma(a + 1.0) + f64::ln(sum)).exp().min(1.0)
}

/// The logarithm of the gamma function above 0, by Stirling's series from 10 on.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let correction = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + correction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_numbers_have_the_mean_and_the_variance() {
        let mut random = Random::new(2);
        for (shape, scale) in [(0.4, 2.0), (4.2, 0.94), (312.0, 0.03)] {
            let gamma = Gamma { shape, scale };
            let drawn: Vec<f64> = (0..40_000).map(|_| gamma.draw(&mut random)).collect();
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let variance = drawn.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
            assert!((mean / (shape * scale) - 1.0).abs() < 0.03, "{shape}: mean {mean}");
            assert!((variance / (shape * scale * scale) - 1.0).abs() < 0.08, "{shape}: variance {variance}");
            let below = drawn.iter().filter(|d| **d < mean).count() as f64 / drawn.len() as f64;
            assert!((gamma.below(mean) - below).abs() < 0.01, "{shape}: {below}");
        }
    }

    #[test]
    fn shares_are_those_of_distributions_with_closed_forms() {
        for x in [0.1, 1.0, 3.0, 20.0] {
            let exponential = Gamma { shape: 1.0, scale: 2.0 }.below(x);
            assert!((exponential - (1.0 - (-x / 2.0f64).exp())).abs() < 1e-9);
            let erlang = Gamma { shape: 2.0, scale: 1.0 }.below(x);
            assert!((erlang - (1.0 - (1.0 + x) * (-x).exp())).abs() < 1e-9);
        }
        assert_eq!(Gamma { shape: 2.0, scale: 1.0 }.below(-1.0), 0.0);
    }
}
