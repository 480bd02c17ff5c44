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

#[test]
fn a_run_that_saved_nothing_says_so() {
    let mut run = sample::sample("sixteen").unwrap();
    assert!(!summary(&run, 80, false).contains("saved no waiting"));
    for op in run.ranks.iter_mut().flat_map(|r| &mut r.comms).flat_map(|c| &mut c.ops) {
        op.saved_ns = 0;
    }
    assert!(summary(&run, 200, false).replace("\n  ", " ").contains("evenkeel saved no waiting."));
}

#[test]
fn overlap_with_deferred_barriers_counts_as_saved() {
    let mut run = sample::sample("deferred").unwrap();
    for op in run.ranks.iter_mut().flat_map(|r| &mut r.comms).flat_map(|c| &mut c.ops) {
        op.saved_ns = 0;
    }
    let flat = |run: &_| summary(run, 160, false).replace("\n  ", " ");
    assert!(
        flat(&run).contains("evenkeel saved at least 1.11 ms of waiting in barriers. Rank"),
        "{}",
        flat(&run)
    );
    for op in run.ranks.iter_mut().flat_map(|r| &mut r.comms).flat_map(|c| &mut c.ops) {
        op.overlapped_ns = 0;
    }
    // Some waiting was saved, but how much is not known.
    assert!(!flat(&run).contains("evenkeel saved"), "{}", flat(&run));
    assert!(
        flat(&run).contains("Ranks ran up to 3 barriers ahead. What completed the barriers: "),
        "{}",
        flat(&run)
    );
}
