//! Virtual time: whole picoseconds, so that sums do not depend on their order and a run is the same on
//! every machine.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

/// A moment, counted from the beginning of the run, or a span between two. It reaches to 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "f64", from = "f64")]
pub struct VirtualTime(u64);

impl VirtualTime {
    pub const ZERO: VirtualTime = VirtualTime(0);
    /// Never: what a dead rank would do.
    pub const NEVER: VirtualTime = VirtualTime(u64::MAX);
    const PER_NS: f64 = 1e3;

    pub const fn from_ps(ps: u64) -> VirtualTime {
        VirtualTime(ps)
    }

    /// Rounded to the nearest picosecond; what is negative or no number is zero.
    pub fn from_ns(ns: f64) -> VirtualTime {
        VirtualTime((ns * VirtualTime::PER_NS).round() as u64)
    }

    pub const fn ps(self) -> u64 {
        self.0
    }

    pub fn ns(self) -> f64 {
        self.0 as f64 / VirtualTime::PER_NS
    }

    /// This many times as long. Never stays never.
    pub fn scaled(self, factor: f64) -> VirtualTime {
        if factor == 1.0 || self == VirtualTime::NEVER {
            self
        } else {
            VirtualTime((self.0 as f64 * factor).round() as u64)
        }
    }

    pub const fn saturating_sub(self, other: VirtualTime) -> VirtualTime {
        VirtualTime(self.0.saturating_sub(other.0))
    }
}

/// What comes after never is never.
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

/// In nanoseconds, as files have it.
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

/// `120ns`, `1.5us`, `10ms`, `2s`; `0` needs no unit.
impl FromStr for VirtualTime {
    type Err = String;
    fn from_str(text: &str) -> Result<VirtualTime, String> {
        let wrong =
            || format!("`{text}` is no time: it must be a number and a unit, like 120ns, 1.5us, 10ms or 2s");
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        if number == 0.0 && unit.is_empty() {
            return Ok(VirtualTime::ZERO);
        }
        let (_, ns) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        if number * ns > 1e16 {
            Err(format!("`{text}` is too long: virtual time ends at 115 days"))
        } else {
            Ok(VirtualTime::from_ns(number * ns))
        }
    }
}

/// What `FromStr` reads back, in the largest unit that needs no more than three digits behind the point.
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
    fn times_are_read_and_written() {
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
