//! Virtual time, in whole picoseconds, so that sums do not depend on their order and a simulation gives
//! the same result on every machine.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

/// A moment, counted from the beginning of the simulation, or the span between two moments. The largest
/// value is 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "f64", from = "f64")]
pub struct VirtualTime(u64);

impl VirtualTime {
    /// The beginning, or no span.
    pub const ZERO: VirtualTime = VirtualTime(0);
    /// Later than every moment: when a dead rank would do something.
    pub const NEVER: VirtualTime = VirtualTime(u64::MAX);
    const PER_NS: f64 = 1e3;

    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> VirtualTime {
        VirtualTime(ps)
    }

    /// From nanoseconds, rounded to the nearest picosecond. Negative values and NaN give zero.
    pub fn from_ns(ns: f64) -> VirtualTime {
        VirtualTime((ns * VirtualTime::PER_NS).round() as u64)
    }

    /// In picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// In nanoseconds.
    pub fn ns(self) -> f64 {
        self.0 as f64 / VirtualTime::PER_NS
    }

    /// So many times as long. [`VirtualTime::NEVER`] stays never.
    pub fn scaled(self, factor: f64) -> VirtualTime {
        if factor == 1.0 || self == VirtualTime::NEVER {
            self
        } else {
            VirtualTime((self.0 as f64 * factor).round() as u64)
        }
    }

    /// The difference, or zero if `other` is larger.
    pub const fn saturating_sub(self, other: VirtualTime) -> VirtualTime {
        VirtualTime(self.0.saturating_sub(other.0))
    }
}

/// Any span after [`VirtualTime::NEVER`] is never.
impl Add for VirtualTime {
    type Output = VirtualTime;
    fn add(self, other: VirtualTime) -> VirtualTime {
        VirtualTime(self.0.saturating_add(other.0))
    }
}

impl AddAssign for VirtualTime {
    fn add_assign(&mut self, other: VirtualTime) {
        *self = *self + other;
    }
}

impl Sub for VirtualTime {
    type Output = VirtualTime;
    fn sub(self, other: VirtualTime) -> VirtualTime {
        debug_assert!(self >= other, "time runs forward");
        VirtualTime(self.0 - other.0)
    }
}

/// In nanoseconds, as in files.
impl From<VirtualTime> for f64 {
    fn from(time: VirtualTime) -> f64 {
        time.ns()
    }
}

impl From<f64> for VirtualTime {
    fn from(ns: f64) -> VirtualTime {
        VirtualTime::from_ns(ns)
    }
}

const UNITS: [(&str, f64); 6] =
    [("ps", 1e-3), ("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// Why a text is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseTimeError {
    /// It is not a number with a unit.
    #[error("`{0}` is no time: it must be a number and a unit, like 120ns, 1.5us, 10ms or 2s")]
    NotATime(String),
    /// It is longer than virtual time can be.
    #[error("`{0}` is too long: virtual time ends at 115 days")]
    TooLong(String),
}

/// `120ns`, `1.5us`, `10ms`, `2s`. `0` needs no unit.
impl FromStr for VirtualTime {
    type Err = ParseTimeError;
    fn from_str(text: &str) -> Result<VirtualTime, ParseTimeError> {
        let wrong = || ParseTimeError::NotATime(text.into());
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        if number == 0.0 && unit.is_empty() {
            return Ok(VirtualTime::ZERO);
        }
        let (_, ns) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        if number * ns > 1e16 {
            Err(ParseTimeError::TooLong(text.into()))
        } else {
            Ok(VirtualTime::from_ns(number * ns))
        }
    }
}

/// As `FromStr` reads it, in the largest unit that is not larger than the time, with up to three
/// decimals.
impl fmt::Display for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            VirtualTime::NEVER => f.pad("never"),
            VirtualTime::ZERO => f.pad("0"),
            VirtualTime(ps) => {
                let (unit, per) = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)]
                    .into_iter()
                    .find(|(_, per)| ps as f64 >= *per)
                    .unwrap_or(("ps", 1.0));
                let text = format!("{:.3}", ps as f64 / per);
                f.pad(&format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.')))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_and_printed() {
        for (text, ps) in [
            ("0", 0),
            ("7ps", 7),
            ("120ns", 120_000),
            ("1.5us", 1_500_000),
            ("10ms", 10_000_000_000),
            ("2s", 2_000_000_000_000),
        ] {
            let time: VirtualTime = text.parse().unwrap();
            assert_eq!(time, VirtualTime::from_ps(ps));
            assert_eq!(time.to_string(), text);
        }
        assert_eq!("3µs".parse(), Ok(VirtualTime::from_ns(3000.0)));
        for wrong in ["", "5", "ms", "-1ms", "1 ms", "1h", "1e3s", "99999999s"] {
            assert!(wrong.parse::<VirtualTime>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(VirtualTime::NEVER + VirtualTime::from_ps(1), VirtualTime::NEVER);
        assert_eq!(VirtualTime::NEVER.scaled(2.0), VirtualTime::NEVER);
        assert_eq!(VirtualTime::NEVER.scaled(0.5), VirtualTime::NEVER);
    }
}
