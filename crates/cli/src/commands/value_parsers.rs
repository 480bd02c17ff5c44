//! Parsers of values that several commands take.

use crate::machine::core_list;
use std::time::Duration;
use thiserror::Error;

/// Why a value is refused.
#[derive(Debug, Error, PartialEq)]
pub enum ValueError {
    /// Not a number, or one out of range.
    #[error("it must be a number between {least} and {most}")]
    NotBetween {
        /// The least number.
        least: f64,
        /// The greatest number.
        most: f64,
    },
    /// Not a duration.
    #[error("it must be a time above zero, such as 90, 500ms, 60s, 1.5m or 2h")]
    NotADuration,
    /// Not a list of cores.
    #[error("it must be a list of cores such as 0-3,8")]
    NotACoreList,
}

/// A number between two bounds, which are given in thousandths.
pub fn between<const LEAST: u64, const MOST: u64>(text: &str) -> Result<f64, ValueError> {
    let (least, most) = (LEAST as f64 / 1e3, MOST as f64 / 1e3);
    match text.parse::<f64>() {
        Ok(number) if number >= least && number <= most => Ok(number),
        _ => Err(ValueError::NotBetween { least, most }),
    }
}

/// A number of seconds, or one with a unit.
pub fn duration(text: &str) -> Result<Duration, ValueError> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let seconds = match &text[unit_at..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(ValueError::NotADuration),
    };
    let number = text[..unit_at].trim_end().parse::<f64>().ok().filter(|number| *number > 0.0);
    let duration = number.and_then(|number| Duration::try_from_secs_f64(number * seconds).ok());
    duration.filter(|duration| !duration.is_zero()).ok_or(ValueError::NotADuration)
}

/// A list of cores, as typed.
pub fn core_list(text: &str) -> Result<String, ValueError> {
    if core_list::is_list(text) { Ok(text.into()) } else { Err(ValueError::NotACoreList) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, ms) in
            [("90", 90_000), ("500ms", 500), ("60s", 60_000), ("1.5m", 90_000), ("2h", 7_200_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)));
        }
        for wrong in ["", "0", "-1", "s", "5d", "1e400s", "nan", "inf", "1m30s", "1e-12"] {
            assert_eq!(duration(wrong), Err(ValueError::NotADuration), "{wrong}");
        }
    }

    #[test]
    fn numbers_must_lie_between_the_bounds() {
        assert_eq!(between::<500, 2000>("0.5"), Ok(0.5));
        for wrong in ["0.4", "2.1", "nan", "x"] {
            assert_eq!(between::<500, 2000>(wrong), Err(ValueError::NotBetween { least: 0.5, most: 2.0 }));
        }
    }
}
