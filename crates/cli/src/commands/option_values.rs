//! The values that the engine's options take, on the command line and in the environment.
//!
//! The text `values` of an option says it: words, and placeholders in capitals, as in
//! `auto|any|INTERFACE|NETWORK`.

use crate::commands::value_parsers;
use evenkeel_fabric::tls::NetworkChoice;
use evenkeel_options::OptionSpec;
use thiserror::Error;

/// The engine counts in nanoseconds.
const MOST_MILLISECONDS: u64 = u64::MAX / 1_000_000;
/// Memory is counted in bytes.
const MOST_MEBIBYTES: u64 = u64::MAX >> 20;

/// A value that an option does not take.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("it must be {0}")]
pub struct OptionValueError(String);

/// The words that an option takes, if it takes nothing else.
pub fn closed_list(option: &OptionSpec) -> Option<Vec<&'static str>> {
    let forms: Vec<&'static str> = option.values.split('|').collect();
    (!forms.iter().any(|form| is_placeholder(form))).then_some(forms)
}

/// Refuses a value that the option does not take.
pub fn check(option: &OptionSpec, value: &str) -> Result<(), OptionValueError> {
    let forms: Vec<&str> = option.values.split('|').collect();
    if forms.iter().any(|form| takes(form, value)) {
        return Ok(());
    }
    Err(OptionValueError(one_of(&forms.iter().map(|form| described(form)).collect::<Vec<_>>())))
}

fn is_placeholder(form: &str) -> bool {
    form.chars().any(char::is_alphabetic) && !form.chars().any(char::is_lowercase)
}

/// Whether a word, or a placeholder, stands for a value.
fn takes(form: &str, value: &str) -> bool {
    match form {
        "MILLISECONDS" => value.parse::<u64>().is_ok_and(|ms| ms <= MOST_MILLISECONDS),
        "BARRIERS" => value.parse::<u64>().is_ok(),
        "CALLS" => value.parse::<u32>().is_ok_and(|calls| calls > 0),
        "RATE" => value.parse::<u32>().is_ok_and(|rate| (1..=100).contains(&rate)),
        "MEBIBYTES" => value.parse::<u64>().is_ok_and(|size| size <= MOST_MEBIBYTES),
        "DURATION" => value_parsers::duration(value).is_ok(),
        "FIRST-LAST" => is_range_of_ports(value),
        "INTERFACE" => matches!(value.parse(), Ok(NetworkChoice::Interface(_))),
        "NETWORK" => matches!(value.parse(), Ok(NetworkChoice::Network(..))),
        _ => is_placeholder(form) || value == form,
    }
}

/// One port, or the first and the last one.
fn is_range_of_ports(value: &str) -> bool {
    let (first, last) = value.split_once('-').unwrap_or((value, value));
    let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
    port(first).zip(port(last)).is_some_and(|(first, last)| first <= last)
}

/// What a value of this form is, as a part of a sentence.
fn described(form: &str) -> &str {
    match form {
        "MILLISECONDS" => "a whole number of milliseconds",
        "BARRIERS" => "a whole number of barriers",
        "CALLS" => "a whole number of calls from 1 on",
        "RATE" => "a whole number from 1 to 100",
        "MEBIBYTES" => "a whole number of MiB",
        "DURATION" => "a time above zero, such as 90, 500ms, 60s, 1.5m or 2h",
        "FIRST-LAST" => "a port or a range of ports, such as 10000-10100",
        "INTERFACE" => "an interface such as eth0",
        "NETWORK" => "a network such as 10.1.0.0/16",
        word => word,
    }
}

/// `a, b or c`
fn one_of(forms: &[&str]) -> String {
    match forms {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => forms.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_options as options;

    #[test]
    fn an_option_takes_its_default_and_the_words_that_are_listed() {
        for option in options::ALL {
            if !option.default.is_empty() {
                assert_eq!(check(option, option.default), Ok(()), "{}", option.name);
            }
            for word in option.values.split('|').filter(|word| !is_placeholder(word)) {
                assert_eq!(check(option, word), Ok(()), "{}", option.name);
            }
        }
    }

    #[test]
    fn a_list_with_a_placeholder_is_open() {
        assert_eq!(closed_list(&options::NETWORK), None);
        assert_eq!(closed_list(&options::HOSTS), None);
        assert_eq!(closed_list(&options::DEADLOCK), Some(vec!["report", "end", "off"]));
        assert_eq!(closed_list(&options::QUIET), Some(vec!["0", "1"]));
        for value in ["eth0", "10.1.0.0/16", "10.1.0.7", "fe80::/10"] {
            assert_eq!(check(&options::NETWORK, value), Ok(()), "{value}");
        }
    }

    #[test]
    fn what_an_option_does_not_take_is_refused() {
        for (option, value, why) in [
            (&options::PLACE, "foo", "it must be auto, bind or none"),
            (&options::OFF, "yes", "it must be 0 or 1"),
            (&options::TRACE_CHECKS, "0", "it must be a whole number of calls from 1 on"),
            (&options::WINDOW, "-1", "it must be a whole number of barriers"),
            (&options::PATIENCE_MS, "99999999999999999", "it must be a whole number of milliseconds"),
            (&options::TIMEOUT, "abc", "it must be a time above zero, such as 90, 500ms, 60s, 1.5m or 2h"),
            (&options::PORTS, "10-5", "it must be a port or a range of ports, such as 10000-10100"),
            (&options::PORTS, "0", "it must be a port or a range of ports, such as 10000-10100"),
        ] {
            assert_eq!(check(option, value).unwrap_err().to_string(), why, "{value}");
        }
        let said = check(&options::NETWORK, "10.1.0.0/99").unwrap_err().to_string();
        assert_eq!(said, "it must be auto, any, an interface such as eth0 or a network such as 10.1.0.0/16");
    }
}
