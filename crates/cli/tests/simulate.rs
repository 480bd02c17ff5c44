//! `evenkeel simulate` from the command line to its record.

use clap::Parser;
use evenkeel_cli::commands::simulate::simulate;
use evenkeel_cli::commands::{Command, CommandLine};
use serde_json::{Value, json};
use std::path::Path;

fn run(directory: &Path, line: &str) -> Result<(String, Value), String> {
    let json = directory.join("record.json");
    let words = ["evenkeel", "simulate"].into_iter().chain(line.split_whitespace()).map(String::from);
    let parsed = CommandLine::try_parse_from(words.chain(["--json".into(), json.display().to_string()]))
        .map_err(|e| e.to_string())?;
    let Command::Simulate(arguments) = parsed.command else { panic!("it is `simulate`") };
    let text = simulate(&arguments).map_err(|e| e.to_string())?;
    Ok((text, serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap()))
}

#[test]
fn a_record_has_what_the_table_has() {
    let directory = tempfile::tempdir().unwrap();
    let (text, record) = run(
        directory.path(),
        "dissemination n-way-dissemination:n=3 -n 4,64 --machine L=1us,o=200ns,g=100ns --iterations 1",
    )
    .unwrap();
    assert_eq!((record["kind"].as_str(), record["runs"].as_array().unwrap().len()), (Some("simulation"), 4));
    // (L + 2o)·6, and (L + 2o + 2o)·3.
    for (i, ns, cell) in [(1, 8400.0, "8.40 µs"), (3, 5400.0, "5.40 µs")] {
        assert_eq!(record["runs"][i]["end_ns"].as_f64(), Some(ns));
        assert_eq!(record["runs"][i]["completion"]["p99_ns"].as_f64(), Some(ns));
        assert!(text.contains(cell), "{text}");
    }
}

#[test]
fn the_same_line_gives_the_same_record() {
    let directory = tempfile::tempdir().unwrap();
    let line =
        "mcs:n=2 -n 100 --noise exp:20us/1ms --compute pareto:1.5:50us --slow 7=1.5 --stall 3=10us+1ms";
    let once = run(directory.path(), line).unwrap().1;
    assert_eq!(once, run(directory.path(), line).unwrap().1);
    assert_ne!(once["runs"], run(directory.path(), &format!("{line} --seed 2")).unwrap().1["runs"]);
}

#[test]
fn traces_of_noise_are_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("noise.json");
    let gaps = evenkeel_noise::GapTrace {
        kind: "gaps".into(),
        schema: 1,
        cores: vec![evenkeel_noise::CoreGaps {
            core: 0,
            watched_ns: 1_000_000,
            gaps_ns: vec![[100_000, 50_000], [600_000, 50_000]],
        }],
        ..Default::default()
    };
    std::fs::write(&trace, serde_json::to_string(&gaps).unwrap()).unwrap();
    let (text, record) =
        run(directory.path(), &format!("dissemination -n 16 --compute 1ms --noise {}", trace.display()))
            .unwrap();
    assert_eq!(record["noise_share"].as_f64(), Some(0.1));
    assert!(text.contains("takes 10% of the time"), "{text}");
    // A round of a millisecond meets two or three detours.
    let end = record["runs"][0]["end_ns"].as_f64().unwrap();
    assert!(end > 10.0 * 1.1e6 && end < 10.0 * 1.2e6, "{end}, {text}");
}

#[test]
fn a_note_says_that_ranks_would_share_cores() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("machine.json");
    let model = json!({
        "model": "LogGP",
        "latency_ns": 35,
        "send_overhead_ns": 0,
        "receive_overhead_ns": 20,
        "gap_ns": 3,
        "gap_per_byte_ns": 0.02,
    });
    let node = json!({"source": "test", "model": model, "ranks": null, "cores": 2, "switch_ns": 1000});
    let machine = json!({"schema": 1, "name": "small", "node": node});
    std::fs::write(&file, machine.to_string()).unwrap();
    let said = |ranks| {
        run(directory.path(), &format!("dissemination -n {ranks} --machine {}", file.display())).unwrap().0
    };
    assert!(said("2,4").contains("has 2 cores, and 4 ranks"));
    assert!(!said("2").contains("Note"));
}

#[test]
fn ranks_share_the_cores_that_are_given() {
    let directory = tempfile::tempdir().unwrap();
    let line =
        "central-counter dissemination -n 2,16 --cores 2 --switch 1us --iterations 100 --machine L=100ns,o=0";
    let (text, record) = run(directory.path(), line).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        words.join(" ").contains("for all ranks, context switches of 1.00 µs, and 20 orders of ranks"),
        "{text}"
    );
    let end = |run: usize| record["runs"][run]["end_ns"].as_f64().unwrap() / 100.0;
    // A core each: there and back, then word to the other; and one round. Eight on a core: a sweep of
    // seven or eight switches, and more than twice that.
    assert_eq!((end(0), end(2)), (300.0, 100.0));
    assert!((6_500.0..8_500.0).contains(&end(1)), "{}", end(1));
    assert!(end(3) > 2.0 * end(1) && end(3) < 3.0 * end(1), "{}", end(3));
    assert_eq!(
        (record["cores"].as_u64(), record["switch_ns"].as_f64(), record["orders"].as_u64()),
        (Some(2), Some(1000.0), Some(20))
    );
    assert_eq!(record, run(directory.path(), line).unwrap().1);
    // What a switch takes may stand in the parameters.
    assert!(
        run(
            directory.path(),
            "dissemination -n 4 --cores 2 --machine \
                                   two-core-vm"
        )
        .unwrap()
        .1["runs"][0]["end_ns"]
            .as_f64()
            > Some(0.0)
    );
}

#[test]
fn pictures_show_what_was_simulated() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let noise = "--noise exp:20us/1ms --compute 100us";
    run(
        directory.path(),
        &format!("dissemination mcs:n=2 -n 4,64 {noise} --plot {}", file("plot.svg").display()),
    )
    .unwrap();
    let plot = std::fs::read_to_string(file("plot.svg")).unwrap();
    for said in ["<svg", "mcs:n=2", "Completion", "Ranks that others waited for", "64 ranks"] {
        assert!(plot.contains(said), "{said}");
    }
    run(
        directory.path(),
        &format!("mcs -n 4,8 --cores 2 --switch 1us --plot {}", file("shared.svg").display()),
    )
    .unwrap();
    let plot = std::fs::read_to_string(file("shared.svg")).unwrap();
    assert!(plot.contains("Completion") && !plot.contains("Ranks that others waited for"), "an empty panel");
    run(
        directory.path(),
        &format!(
            "dissemination -n 4 --svg {} --transcript {}",
            file("time.svg").display(),
            file("time.txt").display()
        ),
    )
    .unwrap();
    assert!(std::fs::read_to_string(file("time.svg")).unwrap().contains("rank 3</text>"));
    assert!(std::fs::read_to_string(file("time.txt")).unwrap().contains("rank 3 waits"));
}

#[test]
fn refusals_say_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    for (line, said) in [
        ("nothing", "`evenkeel schedule list` lists them"),
        ("dissemination:m=2", "it has: none"),
        ("hierarchical:inner=x", "`x` is not a value of `inner`"),
        ("dissemination --machine nowhere", "there are clic-fast-ethernet"),
        ("dissemination --machine L=0,o=1us", "without latency"),
        ("dissemination -n 4 --dead 4=1us", "the last is 3"),
        ("dissemination --slow 1=2us", "--slow takes a factor"),
        ("dissemination --noise loud", "neither a kind of noise nor a file"),
        ("dissemination --node L=1us", "--ranks-per-node"),
        ("dissemination -n 2,4 --svg x.svg", "one schedule"),
        ("dissemination --cores 2", "Give --switch TIME"),
        ("dissemination --cores 2 --switch 0", "at least a picosecond"),
        ("dissemination --cores 2 --switch 1us --noise exp:1us/1ms", "cannot be used with"),
        ("dissemination --orders 3", "--cores"),
    ] {
        let error = run(directory.path(), line).unwrap_err();
        assert!(error.contains(said), "{line}: {error}");
        assert!(!error.contains(".. `"), "{line}: {error}");
    }
}
