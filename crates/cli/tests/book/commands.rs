//! The commands of evenkeel in the code of a page, as a shell would find them.

use super::markdown::{Code, code};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use evenkeel_cli::commands::CommandLine;

/// A command line of evenkeel.
#[derive(Debug)]
pub struct PageCommand {
    /// The number of its line, from 1.
    pub line: usize,
    /// Its words, of which the first is `evenkeel`.
    pub words: Vec<String>,
    /// The text leaves arguments out: it only names the command, or shows `…`.
    abridged: bool,
}

impl PageCommand {
    /// Why the command line cannot be parsed.
    pub fn error(&self) -> Option<String> {
        let error = CommandLine::try_parse_from(&self.words).err()?;
        let given = |text: &ContextValue| match text {
            ContextValue::String(text) => text.clone(),
            _ => String::new(),
        };
        let value = error.get(ContextKind::InvalidValue).map(given).unwrap_or_default();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => None,
            ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                if self.abridged =>
            {
                None
            }
            // A mention may name an option without its value, or with a placeholder: `--steps RANK`.
            ErrorKind::InvalidValue | ErrorKind::ValueValidation
                if self.abridged && value.chars().all(|c| c.is_ascii_uppercase()) =>
            {
                None
            }
            _ => Some(error.to_string().lines().next().unwrap_or_default().to_string()),
        }
    }
}

/// All commands of evenkeel on a page.
pub fn of_page(page: &str) -> Vec<PageCommand> {
    code(page).iter().flat_map(of_code).collect()
}

fn of_code(code: &Code) -> Vec<PageCommand> {
    let text = &code.text;
    let mut commands = Vec::new();
    for (start, name) in text.match_indices("evenkeel") {
        let after = &text[start + name.len()..];
        // `evenkeel-cli`, `evenkeel:` and `evenkeel.so` are not the program; neither is `evenkeel` alone in
        // text.
        let is_word = after.starts_with([' ', '\n']);
        if !is_word || !is_command_position(&text[..start]) {
            continue;
        }
        let arguments = words(after);
        let abridged = code.inline || arguments.iter().any(|word| is_ellipsis(word));
        let arguments = arguments.into_iter().filter(|word| !is_ellipsis(word));
        let words: Vec<String> = std::iter::once(name.to_string()).chain(arguments).collect();
        if words.len() > 1 {
            commands.push(PageCommand { line: code.line, words, abridged });
        }
    }
    commands
}

fn is_ellipsis(word: &str) -> bool {
    matches!(word, "…" | "...")
}

/// Programs that start the command which their own arguments name.
const STARTERS: [&str; 6] = ["time", "/usr/bin/time", "nice", "sudo", "chrt", "tests/rig/run"];

/// Whether a shell would execute the next word: only a directory, a prompt, assignments, or a program that
/// starts others stand between it and the beginning of the command.
fn is_command_position(before: &str) -> bool {
    let begin = before.rfind([';', '&', '|', '(', '"', '\'']).map_or(0, |separator| separator + 1);
    let mut words = before[begin..].split_whitespace().skip_while(|word| {
        *word == "$"
            || word.split_once('=').is_some_and(|(name, _)| is_variable(name))
            || (before.ends_with(word) && word.ends_with('/'))
    });
    words.next().is_none_or(|word| STARTERS.contains(&word))
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The words of a command up to its end: a separator, a redirection, a comment, the parenthesis or the quote
/// around the command.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\n' => words.extend(word.take()),
            ';' | '&' | '|' | '>' | '<' | ')' => break,
            '#' if word.is_none() => break,
            '"' | '\'' if word.is_none() || rest.as_str().contains(c) => {
                let Some((quoted, after)) = rest.as_str().split_once(c) else { break };
                word.get_or_insert_default().push_str(quoted);
                rest = after.chars();
            }
            '"' | '\'' => break,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
