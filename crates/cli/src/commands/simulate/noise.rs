//! The noise that is simulated: `--noise`.

use super::rank_fault::time;
use crate::errors::{ArgumentSyntaxError, NoiseFileError, SimulationError};
use evenkeel_noise::{CoreGaps, GapTrace};
use evenkeel_schedule_sim::{Distribution, Noise, Span, Trace, VirtualTime};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// The noise that a text describes: `none`, LENGTH/INTERVAL, `periodic:…`, `aligned:…`, or the name of a
/// file.
pub fn parse(text: &str) -> Result<Noise, SimulationError> {
    if text == "none" {
        Ok(Noise::None)
    } else if let Some(rest) = text.strip_prefix("periodic:") {
        Ok(periodic(rest, false)?)
    } else if let Some(rest) = text.strip_prefix("aligned:") {
        Ok(periodic(rest, true)?)
    } else if Path::new(text).is_file() {
        Ok(measured(Path::new(text))?)
    } else if let Some((length, interval)) = text.split_once('/') {
        Ok(random(length, interval)?)
    } else {
        Err(SimulationError::Noise { given: text.into() })
    }
}

/// LENGTH/PERIOD.
fn periodic(text: &str, aligned: bool) -> Result<Noise, ArgumentSyntaxError> {
    let (length, period) = text.split_once('/').ok_or_else(|| ArgumentSyntaxError::NoPeriod(text.into()))?;
    Ok(Noise::Periodic { length: time(length)?, period: time(period)?, aligned })
}

/// An interval without a distribution has that of the length.
fn random(length: &str, interval: &str) -> Result<Noise, ArgumentSyntaxError> {
    let span = |text: &str| {
        text.parse::<Span>().map_err(|e: <Span as FromStr>::Err| ArgumentSyntaxError::Time(e.to_string()))
    };
    let length = span(length)?;
    let mut between = span(interval)?;
    if between.distribution == Distribution::Fixed && !interval.contains(':') {
        between.distribution = length.distribution;
    }
    Ok(Noise::Random { length, interval: between })
}

/// A file of `evenkeel noise --trace`.
fn measured(file: &Path) -> Result<Noise, NoiseFileError> {
    let unreadable = |why: String| NoiseFileError { file: file.into(), why };
    let content = std::fs::read_to_string(file).map_err(|e| unreadable(e.to_string()))?;
    let gaps: GapTrace = serde_json::from_str(&content).map_err(|e| unreadable(e.to_string()))?;
    if gaps.kind != "gaps" || gaps.schema != 1 {
        return Err(unreadable(format!("it is a `{}` of layout {}", gaps.kind, gaps.schema)));
    }
    let ns = |ns: u64| VirtualTime::from_ns(ns as f64);
    let trace = |core: &CoreGaps| Trace {
        watched: ns(core.watched_ns),
        detours: core.gaps_ns.iter().map(|[start, length]| (ns(*start), ns(*length))).collect(),
    };
    Ok(Noise::Measured(Arc::new(gaps.cores.iter().map(trace).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_random_or_periodic() {
        let noise = |text: &str| parse(text).unwrap();
        let random = |length: &str, interval: &str| Noise::Random {
            length: length.parse().unwrap(),
            interval: interval.parse().unwrap(),
        };
        assert_eq!(noise("exp:20us/1ms"), random("exp:20us", "exp:1ms"));
        assert_eq!(noise("exp:20us/fixed:1ms"), random("exp:20us", "1ms"));
        let (length, period) = (VirtualTime::from_ns(2e3), VirtualTime::from_ns(1e6));
        assert_eq!(noise("aligned:2us/1ms"), Noise::Periodic { length, period, aligned: true });
        assert!(parse("aligned:2us").is_err() && parse("loud").is_err());
    }
}
