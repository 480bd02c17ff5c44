//! Manual pages, completions, and the book's page of options.

mod fixture;

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
