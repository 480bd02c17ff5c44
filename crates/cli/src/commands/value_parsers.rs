//! Parsers of values that several commands take.

use crate::machine::core_list;
use evenkeel_check::finding::{Rule, Severity};
use std::ops::{Bound, RangeBounds};
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
    /// Not a whole number, or one out of range.
    #[error("it must be a whole number{}", range(*.least, *.most))]
    NotWhole {
        /// The least number.
        least: u64,
        /// The greatest number, if that is worth mention.
        most: Option<u64>,
    },
    /// Not one of the words.
    #[error("it must be one of {0}")]
    NotAWord(String),
    /// Not a number.
    #[error("it must be a number such as 2 or 0.5")]
    NotANumber,
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

/// A number.
pub fn number(text: &str) -> Result<f64, ValueError> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or(ValueError::NotANumber)
}

/// A parser of whole numbers of a type that lie in a range.
pub fn whole<T: TryFrom<u64>>(
    range: impl RangeBounds<u64>,
) -> impl Fn(&str) -> Result<T, ValueError> + Clone + Send + Sync + 'static {
    let least = match range.start_bound() {
        Bound::Included(least) => *least,
        Bound::Excluded(below) => below + 1,
        Bound::Unbounded => 0,
    };
    let most = match range.end_bound() {
        Bound::Included(most) => Some(*most),
        Bound::Excluded(above) => Some(above - 1),
        Bound::Unbounded => None,
    };
    let most_of_type = u64::MAX >> (64 - 8 * size_of::<T>());
    move |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse::<u64>().ok();
        if is_number && number.is_none_or(|number| number > most.unwrap_or(most_of_type)) {
            return Err(ValueError::NotWhole { least, most: most.or(Some(most_of_type)) });
        }
        let found = number.filter(|number| *number >= least).and_then(|number| T::try_from(number).ok());
        found.ok_or(ValueError::NotWhole { least, most })
    }
}

fn range(least: u64, most: Option<u64>) -> String {
    match (least, most) {
        (0, None) => String::new(),
        (least, None) => format!(" from {least} on"),
        (least, Some(most)) => format!(" from {least} to {most}"),
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

/// The value with this name.
fn named<T: Copy>(text: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, ValueError> {
    let found = all.iter().copied().find(|&one| name(one) == text);
    let names = || all.iter().map(|&one| name(one)).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| ValueError::NotAWord(names()))
}

/// A rule of `evenkeel check`.
pub fn rule(text: &str) -> Result<Rule, ValueError> {
    named(text, &Rule::ALL, Rule::name)
}

/// How bad a finding is.
pub fn severity(text: &str) -> Result<Severity, ValueError> {
    named(text, &Severity::ALL, Severity::name)
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
    fn whole_numbers_are_refused_with_their_range() {
        assert_eq!(whole::<u32>(1..)("7"), Ok(7));
        assert_eq!(whole::<u64>(0..)("18446744073709551615"), Ok(u64::MAX));
        let said = |found: Result<u32, ValueError>| found.unwrap_err().to_string();
        for wrong in ["0", "-1", "x", "", "1.5"] {
            assert_eq!(said(whole(1..)(wrong)), "it must be a whole number from 1 on", "{wrong}");
        }
        assert_eq!(said(whole(0..)("-1")), "it must be a whole number");
        assert_eq!(said(whole(1..)("4294967296")), "it must be a whole number from 1 to 4294967295");
        assert_eq!(said(whole(2..=9)("99999999999999999999")), "it must be a whole number from 2 to 9");
    }

    #[test]
    fn numbers_must_lie_between_the_bounds() {
        assert_eq!(between::<500, 2000>("0.5"), Ok(0.5));
        for wrong in ["0.4", "2.1", "nan", "x"] {
            assert_eq!(between::<500, 2000>(wrong), Err(ValueError::NotBetween { least: 0.5, most: 2.0 }));
        }
    }
}
