//! Manual pages, completions, and the book's page of options.

mod fixture;

use clap::CommandFactory;
use evenkeel_cli::commands::CommandLine;
use evenkeel_cli::commands::manual::options_page;
use fixture::{Fixture, out};
use std::path::Path;

#[test]
fn the_books_page_of_options_is_current() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/options.md");
    let text = std::fs::read_to_string(&page).unwrap();
    assert_eq!(text, options_page(), "run: evenkeel options --markdown > docs/src/options.md");
}

#[test]
fn manual_pages_and_completions_are_made() {
    let f = Fixture::new();
    assert_eq!(f.evenkeel(&["man", "man"]).status.code(), Some(0));
    for page in ["evenkeel.1", "evenkeel-run.1", "evenkeel-doctor.1", "evenkeel-noise.1"] {
        assert!(f.path("man").join(page).is_file(), "{page}");
    }
    for hidden in ["evenkeel-doctor-peer.1", "evenkeel-injector.1"] {
        assert!(!f.path("man").join(hidden).exists(), "hidden commands have no page");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(out(&f.evenkeel(&["completions", shell])).contains("evenkeel"), "{shell}");
    }
}

/// All commands, with those below them.
fn all(command: &clap::Command) -> Vec<&clap::Command> {
    std::iter::once(command).chain(command.get_subcommands().flat_map(all)).collect()
}

#[test]
fn examples_fit_into_the_widest_help() {
    let grammar = CommandLine::command();
    let mut broken = Vec::new();
    for command in all(&grammar) {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in text.lines() {
            let is_example = line.starts_with("  ");
            // A paragraph is one line, which the help breaks; two long lines would each be broken once.
            let is_within_a_paragraph = !is_example && line.len() > 90 && !line.ends_with(['.', ':']);
            if is_within_a_paragraph || is_example && line.chars().count() > 100 {
                broken.push(line.to_string());
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn options_stand_under_their_own_heading() {
    let f = Fixture::new();
    let help = out(&f.evenkeel(&["help", "run"]));
    let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
    let own = at("Options of --launcher evenkeel:");
    for general in ["  <PROGRAM>...", "--inject <SPEC>", "      --check\n", "--dry-run"] {
        assert!(at(general) < own, "{general}");
    }
    assert!(own < at("--keep-going") && at("--fanout") < at("Options that are environment variables, too:"));
    assert!(!help.contains("default: none"), "an option without a value has no default");
}
