//! `evenkeel noise` and `evenkeel run --inject` from the outside. What injections do to real ranks is
//! tested in tests/test_inject.py.

mod fixture;

use evenkeel_noise::NoiseSummary;
use fixture::{Fixture, Kind, assert_fails, err, out};

fn machine() -> Fixture {
    let f = Fixture::new();
    f.mpi("mpi", Kind::OpenMpi4);
    f.shims(env!("CARGO_PKG_VERSION"));
    f
}

#[test]
fn noise_is_measured_printed_and_written_to_files() {
    let f = Fixture::new();
    let done = f.evenkeel(&[
        "noise",
        "--seconds",
        "0.2",
        "--quantum-us",
        "100",
        "--json",
        "noise.json",
        "--html",
        "noise.html",
    ]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert_eq!(err(&done), "", "no progress bar where there is no terminal");
    let text = out(&done);
    for words in [
        "evenkeel: ",
        "work quanta of 100 µs",
        "longest gap",
        "forced",
        "delays of 100 µs to 1 ms: r = ",
        "noise.html written",
    ] {
        assert!(text.contains(words), "`{words}` is not in\n{text}");
    }
    let noise: NoiseSummary =
        serde_json::from_str(&std::fs::read_to_string(f.path("noise.json")).unwrap()).unwrap();
    assert!(!noise.cores.is_empty() && noise.elapsed_ns >= 200_000_000);
    for core in &noise.cores {
        assert!(
            core.quanta > 0
                && core.fastest_ns > 0
                && core.fastest_ns <= core.median_ns
                && core.median_ns <= core.slowest_ns,
            "{core:?}"
        );
        assert_eq!(core.lost.len(), 200);
    }
    assert_eq!(
        noise.classes.iter().map(|c| c.delays).sum::<u64>(),
        noise.cores.iter().map(|c| c.quanta).sum::<u64>()
    );
    let page = std::fs::read_to_string(f.path("noise.html")).unwrap();
    assert!(
        page.contains("\"kind\":\"noise\"")
            && page.contains("default-src 'none'")
            && page.contains("<noscript><pre>evenkeel: ")
    );
}

#[test]
fn impossible_measurements_of_noise_are_refused_before_they_start() {
    let f = Fixture::new();
    assert_fails(&f.evenkeel(&["noise", "--cores", "1023"]), 125, &["core 1023"]);
    assert_fails(&f.evenkeel(&["noise", "--json", "no/such/place.json"]), 125, &["no directory no/such"]);
    for wrong in [["--seconds", "0"], ["--seconds", "nan"], ["--quantum-us", "-1"], ["--cores", "all"]] {
        assert_eq!(f.evenkeel(&[&["noise"][..], &wrong].concat()).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn injections_show_in_the_launchers_line() {
    let f = machine();
    let line = |injections: &[&str]| {
        out(&f.evenkeel(&[&["run", "-n", "2", "--dry-run"][..], injections, &["--", "mpi/app"]].concat()))
    };
    assert!(!line(&[]).contains("EVENKEEL_INJECT"));
    assert!(line(&["--inject", "stalls=1ms/1ms"]).contains("-x EVENKEEL_INJECT="));
    assert!(
        !line(&["--inject", "competitors=1"]).contains("EVENKEEL_INJECT"),
        "competitors need no rank ids"
    );
    if evenkeel_cli::machine::cores::usable().len() > 1 {
        // A launcher that binds would take the ranks to cores that they are not to have.
        assert!(line(&["--inject", "doubled", "--place", "none"]).contains("--bind-to none"));
    }
}

#[test]
fn an_injected_run_ends_with_the_launchers_exit_code() {
    let f = machine();
    let done = f.evenkeel(&[
        "run",
        "-n",
        "2",
        "--inject",
        "competitors=1",
        "--inject",
        "stalls=exp:1ms/1ms",
        "--",
        "mpi/app",
    ]);
    assert_eq!(done.status.code(), Some(7), "{}", err(&done));
    assert_eq!(err(&done), "");
}

#[test]
fn wrong_injections_are_refused() {
    let f = machine();
    let with =
        |injections: &[&str]| f.evenkeel(&[&["run", "-n", "2"][..], injections, &["--", "mpi/app"]].concat());
    assert_fails(&with(&["--inject", "doubled", "--inject", "doubled"]), 125, &["doubled twice"]);
    let done = with(&["--inject", "storms=1"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(err(&done).contains("there are competitors=N"), "{}", err(&done));
}
