//! Parsers of values that several commands take.

use crate::machine::core_list;
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

/// A list of cores, as typed.
pub fn core_list(text: &str) -> Result<String, ValueError> {
    if core_list::is_list(text) { Ok(text.into()) } else { Err(ValueError::NotACoreList) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_must_lie_between_the_bounds() {
        assert_eq!(between::<500, 2000>("0.5"), Ok(0.5));
        for wrong in ["0.4", "2.1", "nan", "x"] {
            assert_eq!(between::<500, 2000>(wrong), Err(ValueError::NotBetween { least: 0.5, most: 2.0 }));
        }
    }
}
