//! Variables of the environment that look like options of evenkeel and are none: most likely misspelt.

use crate::inject::injections;
use crate::jobs::discovery;
use evenkeel_diagnostics as diagnostics;
use evenkeel_options as options;

const PREFIX: &str = "EVENKEEL_";

/// Variables that are no options: for this program, and those by which evenkeel's processes know each other.
const KNOWN: [&str; 8] = [
    diagnostics::VARIABLE,
    discovery::RUN,
    evenkeel_share::JOB_VARIABLE,
    options::TERMINAL_COLUMNS,
    injections::MARK,
    "EVENKEEL_LIB",
    "EVENKEEL_AGENT",
    "EVENKEEL_LAUNCHED_RANKS",
];

/// How the names of variables begin that building, testing and packages of evenkeel use.
const OF_TOOLS: [&str; 9] = [
    "EVENKEEL_ACTION",
    "EVENKEEL_DEPS",
    "EVENKEEL_MPIABI",
    "EVENKEEL_MPICH",
    "EVENKEEL_OPENMPI",
    "EVENKEEL_PYTEST",
    "EVENKEEL_TEST",
    "EVENKEEL_VENV",
    "EVENKEEL_WRITE_HEADER",
];

/// A name that differs from all options in more characters is somebody's own, such as EVENKEEL_VERSION of an
/// environment module.
const MOST_CHANGES: usize = 3;

/// A sentence about each variable that is no option, but looks like one.
pub fn warnings(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut stray: Vec<String> = names.into_iter().filter(|name| is_stray(name)).collect();
    stray.sort();
    stray.iter().filter_map(|name| warning(name)).collect()
}

fn is_stray(name: &str) -> bool {
    name.starts_with(PREFIX)
        && !KNOWN.contains(&name)
        && !OF_TOOLS.iter().any(|start| name.starts_with(start))
        && !options::ALL.iter().any(|option| option.env == name)
}

fn warning(name: &str) -> Option<String> {
    let distances = options::ALL.iter().map(|o| (strsim::damerau_levenshtein(o.env, name), o.env));
    let (_, nearest) = distances.min().filter(|(distance, _)| *distance <= MOST_CHANGES)?;
    Some(format!("{name} is no option and does nothing. The nearest one is {nearest}: correct or unset it."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(names: &[&str]) -> Vec<String> {
        warnings(names.iter().map(|name| name.to_string()))
    }

    #[test]
    fn a_misspelt_option_is_named() {
        let found = said(&["PATH", "EVENKEEL_WAITS", "EVENKEEL_BARRIERS"]);
        assert!(
            found[0].contains("EVENKEEL_BARRIERS is no option") && found[0].contains("EVENKEEL_BARRIER:")
        );
        assert!(found[1].contains("EVENKEEL_WAITS is no option") && found[1].contains("EVENKEEL_WAIT:"));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn options_and_what_evenkeel_sets_itself_are_no_mistakes() {
        let all: Vec<&str> = options::ALL.iter().map(|option| option.env).chain(KNOWN).collect();
        assert_eq!(said(&all), Vec::<String>::new());
        let own = ["EVENKEEL_TEST_TOKEN", "EVENKEEL_PYTEST_JOB", "EVENKEEL_VERSION", "EVENKEEL_INSTALLED_AT"];
        assert_eq!(said(&own), Vec::<String>::new());
    }
}
