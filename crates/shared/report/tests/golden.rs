//! The terminal summaries of the samples, word for word. Look at a change, then accept it with
//! `cargo run -p evenkeel-report --example sample -- NAME > crates/shared/report/tests/golden/NAME.txt`

mod sample;

use evenkeel_report::summary;
use std::path::Path;

#[test]
fn summaries_are_the_golden_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for name in sample::NAMES {
        let run = sample::sample(name).unwrap();
        let golden = std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap_or_default();
        let printed = summary(&run, 80, false);
        assert_eq!(printed, golden, "the summary of sample {name} changed; it is now:\n{printed}");
    }
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, sample::NAMES.len(), "a golden file belongs to no sample");
}

#[test]
fn no_line_is_too_wide() {
    for name in sample::NAMES {
        let run = sample::sample(name).unwrap();
        for width in [40, 56, 64, 72, 80, 100, 132, 160] {
            for line in summary(&run, width, false).lines() {
                // A single word that is too long cannot be broken.
                let breakable = line.trim_start().contains(' ');
                assert!(line.chars().count() <= width || !breakable, "{name} at {width} columns: {line:?}");
            }
        }
    }
}

#[test]
fn colour_changes_no_character() {
    for name in sample::NAMES {
        let run = sample::sample(name).unwrap();
        let coloured = summary(&run, 80, true);
        let mut plain = String::new();
        let mut rest = coloured.as_str();
        while let Some(at) = rest.find('\x1b') {
            plain.push_str(&rest[..at]);
            rest = &rest[at..][rest[at..].find('m').unwrap() + 1..];
        }
        plain.push_str(rest);
        assert_eq!(plain, summary(&run, 80, false));
        assert!(coloured.contains("\x1b[1m"), "{name} has no bold headline");
    }
}

#[test]
fn no_control_character_of_a_record_reaches_the_terminal() {
    let text = summary(&sample::sample("huge_names").unwrap(), 80, false);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
}

/// The calls of a single rank are the MPI library's, and are not counted.
#[test]
fn nothing_is_claimed_about_calls_that_are_not_counted() {
    let mut run = sample::sample("one").unwrap();
    run.ranks[0].comms.clear();
    let text = summary(&run, 160, false);
    let expected = "the collective calls of a single rank are left to the MPI library.";
    assert!(text.contains(expected) && !text.contains("made no collective calls"), "{text}");
}

/// Nothing in a run tells how long another library would have taken for it.
#[test]
fn no_report_claims_what_was_saved() {
    for name in ["sixteen", "deferred", "two"] {
        let run = sample::sample(name).unwrap();
        assert!(!summary(&run, 160, false).contains("saved"), "{name}");
        assert!(!evenkeel_report::html(&run).contains("saved_ns"), "{name}");
    }
}

#[test]
fn deferred_barriers_have_a_paragraph() {
    let run = sample::sample("deferred").unwrap();
    let text = summary(&run, 160, false).replace("\n  ", " ");
    let expected =
        "Ranks ran up to 3 barriers ahead and worked for at least 1.11 ms instead of waiting. What completed";
    assert!(text.contains(expected), "{text}");
}
