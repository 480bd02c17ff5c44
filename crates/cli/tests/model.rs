//! `evenkeel model`, as a person types it.

use std::process::{Command, Output};

fn evenkeel(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evenkeel")).args(arguments).env("COLUMNS", "100").output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A short measurement among three ranks, its file shown again. What the numbers are depends on the
/// machine; that they are told does not.
#[test]
fn a_measured_set_of_parameters_can_be_shown() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let (json, svg) = (path("here.json"), path("here.svg"));
    let told = text(&evenkeel(&[
        "model",
        "measure",
        "--ranks",
        "3",
        "--passes",
        "2",
        "--pause-us",
        "0",
        "--name",
        "here",
        "--json",
        &json,
        "--svg",
        &svg,
    ]));
    for part in ["gap per byte", "round trip", "1.00 MiB", "here.json written"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(
        told.lines().all(|l| l.chars().count() <= 100 || l.contains(&json) || l.contains(&svg)),
        "{told}"
    );
    let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(
        (&file["kind"], &file["name"], &file["node"]["model"]["model"]),
        (&"model".into(), &"here".into(), &"LogGP".into())
    );
    let command = file["measurement"]["conditions"]["command"].as_str().unwrap();
    assert_eq!(command, "evenkeel model measure --ranks 3 --passes 2 --pause-us 0");
    for point in file["measurement"]["points"].as_array().unwrap() {
        assert!(
            point["min_ns"].as_f64() <= point["median_ns"].as_f64()
                && point["median_ns"].as_f64() <= point["max_ns"].as_f64(),
            "{point}"
        );
        assert!(point["samples"].as_u64().unwrap() >= 4);
    }
    assert!(std::fs::read_to_string(&svg).unwrap().trim_end().ends_with("</svg>"));
    let shown = text(&evenkeel(&["model", "show", &json, "--ranks", "64"]));
    assert!(shown.starts_with("here") && shown.contains("n-way dissemination"), "{shown}");
    // On a network, with two ranks a node.
    let both =
        text(&evenkeel(&["model", "show", "mozart-infiniband", "--node", &json, "--ranks-per-node", "2"]));
    assert!(both.contains("mozart-infiniband+here") && both.contains("2 ranks each"), "{both}");
}

#[test]
fn impossible_measurements_are_refused_before_they_start() {
    let said = |arguments: &[&str]| {
        let output = evenkeel(arguments);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&["model", "show", "mozart"]).contains("mozart-infiniband-send-normal-min"));
    assert!(
        said(&["model", "measure", "--json", "/nowhere/x.json"]).contains("there is no directory /nowhere")
    );
    assert!(said(&["model", "measure", "--cores", "5000"]).contains("core 5000"));
    let one = said(&["model", "measure", "--hosts", "far.example"]);
    assert!(
        one.starts_with(
            "evenkeel: cannot measure a network among --hosts far.example: far.example is one host"
        ),
        "{one}"
    );
    // LoP has too many parameters for so few numbers of peers; that is said.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.json");
    let few = said(&["model", "measure", "--ranks", "2", "--model", "lop", "--json", file.to_str().unwrap()]);
    assert!(few.starts_with("evenkeel: cannot fit LoP to 2 ranks") && !file.exists(), "{few}");
}

/// A rank that was not started by a measurement does nothing.
#[test]
fn a_rank_works_only_for_the_measurement_that_started_it() {
    let output = evenkeel(&["model", "rank", "1", "3", "5", "1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("not started by a measurement"), "{said}");
}
