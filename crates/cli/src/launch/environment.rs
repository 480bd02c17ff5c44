//! What the ranks find in their environment: the preloaded shim and the options; and how to write it down for
//! somebody else's launcher line.

use crate::errors::Failure;
use crate::launch::launcher::Style;
use evenkeel_options as options;
use std::path::Path;

/// Variables that give the ranks their shim and its options.
///
/// A preload that is already there stays in front: a profiler above evenkeel sees all of the program's calls.
pub fn variables(shim: &Path, preloaded: &str, chosen: &[(String, String)]) -> Vec<(String, String)> {
    let shim = shim.display().to_string();
    let mut preload: Vec<&str> =
        preloaded.split([':', ' ']).filter(|p| !p.is_empty() && *p != shim).collect();
    preload.push(&shim);
    let mut all = vec![("LD_PRELOAD".to_string(), preload.join(":"))];
    all.extend(chosen.iter().cloned());
    all
}

/// The options in force as variables: those given on the command line, else those that the caller's
/// environment has.
pub fn chosen(
    given: &[(String, String)],
    from_environment: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    options::ALL
        .iter()
        .filter_map(|option| {
            let value = given.iter().find(|(env, _)| env == option.env).map(|(_, v)| v.clone());
            let value = value.or_else(|| from_environment(option.env).filter(|v| !v.is_empty()))?;
            Some((option.env.to_string(), value))
        })
        .collect()
}

/// One line to put between a launcher and a program: `$(evenkeel env …)` is split at blanks by the
/// shell, nothing else.
pub fn as_arguments(style: Style, variables: &[(String, String)]) -> Result<String, Failure> {
    let taken_apart = |v: &str| v.chars().any(|c| c.is_whitespace() || "*?[".contains(c));
    if let Some((variable, value)) = variables.iter().find(|(_, v)| taken_apart(v)) {
        return Err(Failure::NotOneWord { variable: variable.clone(), value: value.clone() });
    }
    Ok(style.pass(variables)?.join(" "))
}

/// Lines for `eval "$(evenkeel env --format shell …)"` in a POSIX shell.
pub fn as_shell(variables: &[(String, String)]) -> String {
    variables.iter().map(|(k, v)| format!("export {k}={}\n", quote(v))).collect()
}

/// A word as a shell reads it back; quotes only where they are needed.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        shell_words::quote(word).into_owned()
    }
}
