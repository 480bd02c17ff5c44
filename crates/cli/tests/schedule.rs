//! `evenkeel schedule` from the outside, and the page that it makes for the book.

mod fixture;

use evenkeel_schedule::{algorithms, picture::gallery::gallery};
use fixture::{Fixture, err, out};
use std::path::Path;

#[test]
fn the_list_has_every_algorithm() {
    let f = Fixture::new();
    let text = out(&f.evenkeel(&["schedule", "list", "--ranks", "5"]));
    for algorithm in algorithms::ALL {
        assert!(text.contains(algorithm.name), "{} is not in:\n{text}", algorithm.name);
    }
    let barriers = out(&f.evenkeel(&["schedule", "list", "--operation", "barrier"]));
    assert!(barriers.contains("dissemination") && !barriers.contains("bcast-flat"));
    // Sixteen ranks, four rounds, sixty-four messages, and everybody has to respond.
    let row = barriers.lines().find(|line| line.trim_start().starts_with("dissemination")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[1..3], ["4", "64"]);
    assert!(row.ends_with(" 15"), "{row}");
}

#[test]
fn a_picture_in_the_terminal() {
    let f = Fixture::new();
    let text = out(&f.evenkeel(&["schedule", "show", "dissemination", "--ranks", "3"]));
    let drawn = "\
dissemination, 3 ranks

        0   1   2
        │   │   │
round 1 ●───▶   │
        │   ●───▶
        ◀───────●
        │   │   │
round 2 ●───────▶
        ◀───●   │
        │   ◀───●
        │   │   │

●──▶ flag
";
    assert!(text.starts_with(drawn), "{text}");
    let narrow = f.evenkeel(&["schedule", "show", "dissemination", "--ranks", "100", "--svg", "p.svg"]);
    assert!(out(&narrow).contains("do not fit"), "{}", out(&narrow));
    assert!(std::fs::read_to_string(f.path("p.svg")).unwrap().ends_with("</svg>\n"));
    let steps = out(&f.evenkeel(&[
        "schedule",
        "show",
        "n-way-dissemination",
        "--ranks",
        "9",
        "--n",
        "2",
        "--steps",
        "0",
    ]));
    assert_eq!(steps.lines().count(), 8);
    assert!(steps.starts_with("round   1  Put { to: Rank(1), flag: Flag(0), turn: 1 }"), "{steps}");
}

#[test]
fn an_algorithm_is_checked() {
    let f = Fixture::new();
    let said = out(&f.evenkeel(&["schedule", "check", "n-wise-exchange", "--ranks", "20", "--n", "3"]));
    assert!(said.contains("is right") && said.contains("every order"), "{said}");
    let said = out(&f.evenkeel(&[
        "schedule",
        "check",
        "hierarchical",
        "--ranks",
        "5",
        "--nodes",
        "0,1,0,1,2",
        "--param",
        "outer=mcs",
    ]));
    assert!(said.contains("is right"), "{said}");
}

#[test]
fn impossible_schedules_are_refused() {
    let f = Fixture::new();
    for (arguments, words) in [
        (&["show", "dissem"][..], "perhaps dissemination or n-way-dissemination"),
        (&["show", "mcs", "--param", "k=3"], "it has: n, release"),
        (&["show", "mcs", "--param", "n"], "Write NAME=VALUE"),
        (&["show", "mcs", "--param", "n=0"], "it must be 1..4096"),
        (&["show", "mcs", "--param", "release=maybe"], "multicast|binomial"),
        (&["show", "mcs", "--ranks", "3", "--steps", "3"], "the last is 2"),
        (&["show", "bcast-flat", "--root", "9"], "the last is 7"),
        (&["show", "hierarchical", "--nodes", "0,1"], "one node for each rank"),
        (&["check", "alltoall-pairwise", "--ranks", "100000"], "evenkeel simulate"),
    ] {
        let said = f.evenkeel(&[&["schedule"], arguments].concat());
        assert_eq!(said.status.code(), Some(125), "{arguments:?}");
        assert!(
            err(&said).starts_with("evenkeel: ") && err(&said).contains(words),
            "{arguments:?}: {}",
            err(&said)
        );
    }
}

#[test]
fn the_books_gallery_is_current() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let files = gallery().unwrap();
    for file in &files {
        let there = std::fs::read_to_string(book.join(&file.name)).unwrap_or_default();
        assert!(
            there == file.content,
            "{} is not what the program makes; run: evenkeel schedule gallery docs/src",
            file.name
        );
    }
    for entry in std::fs::read_dir(book.join("schedules")).unwrap() {
        let name = format!("schedules/{}", entry.unwrap().file_name().into_string().unwrap());
        assert!(files.iter().any(|file| file.name == name), "{name} is of no algorithm");
    }
}
