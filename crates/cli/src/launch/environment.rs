//! The environment of the ranks: the preloaded shim and the options, and how to write it for a launcher line
//! that evenkeel does not start itself.

use super::launcher::LauncherStyle;
use crate::errors::LaunchError;
use evenkeel_diagnostics::VARIABLE as DIAGNOSTICS;
use evenkeel_options as options;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Variables that give the ranks their shim and its options.
///
/// Libraries that are preloaded already stay in front, so that a profiler still sees all of the program's
/// calls.
pub fn variables(shim: &Path, preloaded: &str, chosen: &[(String, String)]) -> Vec<(String, String)> {
    let shim = shim.display().to_string();
    let mut preload: Vec<&str> =
        preloaded.split([':', ' ']).filter(|p| !p.is_empty() && *p != shim).collect();
    preload.push(&shim);
    let mut all = vec![("LD_PRELOAD".to_string(), preload.join(":"))];
    all.extend(chosen.iter().cloned());
    all
}

/// What is preloaded into this process already.
pub fn preloaded() -> String {
    std::env::var("LD_PRELOAD").unwrap_or_default()
}

/// The options that hold, as variables: those of the command line, else those of the caller's environment.
/// Last comes the variable that switches diagnostics on, so that agents on other machines have it too.
pub fn chosen(
    given: &[(String, String)],
    from_environment: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let set = |name: &str| from_environment(name).filter(|value| !value.is_empty());
    let for_ranks = options::ALL.iter().filter(|option| !options::is_of_run_alone(option.env));
    let chosen = for_ranks.filter_map(|option| {
        let value = given.iter().find(|(env, _)| env == option.env).map(|(_, value)| value.clone());
        Some((option.env.to_string(), value.or_else(|| set(option.env))?))
    });
    // A list of modules would be split by some launchers; processes of this machine inherit it in any case.
    let log = set(DIAGNOSTICS).filter(|value| !value.contains([',', ' ']));
    chosen.chain(log.map(|value| (DIAGNOSTICS.to_string(), value))).collect()
}

/// One line to stand between a launcher and a program. The shell splits `$(evenkeel env …)` at blanks and
/// expands wildcards; a value with one of these is refused.
pub fn as_arguments(style: LauncherStyle, variables: &[(String, String)]) -> Result<String, LaunchError> {
    let is_split = |v: &str| v.chars().any(|c| c.is_whitespace() || "*?[".contains(c));
    if let Some((variable, value)) = variables.iter().find(|(_, v)| is_split(v)) {
        return Err(LaunchError::NotOneWord { variable: variable.clone(), value: value.clone() });
    }
    Ok(style.pass(variables)?.join(" "))
}

/// Lines for `eval "$(evenkeel env --format shell …)"` in a POSIX shell.
pub fn as_shell(variables: &[(String, String)]) -> String {
    variables.iter().map(|(k, v)| format!("export {k}={}\n", quote(v))).collect()
}

/// A word as a shell reads it back, with quotes only where they are needed. One that is not UTF-8 is written
/// as bash and zsh read it.
pub fn quote(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    match word.to_str() {
        Some(word) if !word.is_empty() && word.chars().all(plain) => word.to_string(),
        Some(word) => shell_words::quote(word).into_owned(),
        None => format!("$'{}'", word.as_bytes().escape_ascii()),
    }
}
