//! `evenkeel tune`, as a person types it, and what the doctor says of tables.

use std::path::Path;
use std::process::{Command, Output};

fn evenkeel(arguments: &[&str], configuration: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    command
        .args(arguments)
        .env("COLUMNS", "100")
        .env("XDG_CONFIG_HOME", configuration)
        .env_remove("EVENKEEL_TABLE");
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn refused(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The table of the doctor's words.
fn doctor(configuration: &Path) -> String {
    let said = String::from_utf8(evenkeel(&["doctor"], configuration).stdout).unwrap();
    let begin = said.find("Table of schedules").unwrap_or_else(|| panic!("{said}"));
    said[begin..].split("\n\n").next().unwrap().to_string()
}

/// A short measurement among three ranks. What is chosen depends on the machine; that it is written,
/// told and found again does not.
#[test]
fn the_table_is_written_to_the_usual_place_and_added_to() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("evenkeel/table.json");
    let json = directory.path().join("tried.json");
    assert!(doctor(directory.path()).contains("none"));
    for (ranks, entries) in [("3", vec![3]), ("2", vec![2, 3]), ("3", vec![2, 3])] {
        let told = text(&evenkeel(
            &["tune", "--ranks", ranks, "--time-limit", "0.5", "--json", json.to_str().unwrap()],
            directory.path(),
        ));
        let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(&format!("{ranks}: built-in"))
                && words.contains("evenkeel run --barrier strict uses it from now on"),
            "{told}"
        );
        assert!(told.lines().all(|l| l.chars().count() <= 100 || l.contains("table.json")), "{told}");
        let table: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&place).unwrap()).unwrap();
        let ranks: Vec<u64> =
            table["entries"].as_array().unwrap().iter().map(|e| e["ranks"].as_u64().unwrap()).collect();
        assert_eq!(ranks, entries);
    }
    assert!(doctor(directory.path()).contains("3 ranks on"), "{}", doctor(directory.path()));
    let record: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let ways = record["cases"][0]["ways"].as_array().unwrap();
    assert!(ways[0]["schedule"].is_null() && ways.len() > 10);
    assert!(
        ways.iter()
            .any(|way| way["schedule"] == "n-way-dissemination" && way["predicted_ns"].as_f64() > Some(0.0))
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let told = text(&evenkeel(
        &["tune", "--ranks", "2", "--time-limit", "0.2", "--dry-run", "--all"],
        directory.path(),
    ));
    assert!(told.contains("Nothing was written"), "{told}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn impossible_measurements_are_refused_before_they_start() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("thesis.txt");
    std::fs::write(&file, "years of work").unwrap();
    let said = refused(&evenkeel(&["tune", "--table", file.to_str().unwrap()], directory.path()));
    assert!(said.contains("thesis.txt") && said.contains("does not overwrite it"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "years of work");
    let said = refused(&evenkeel(&["tune", "--ranks", "1"], directory.path()));
    assert!(said.contains("'1'"), "{said}");
    let said = refused(&evenkeel(&["tune", "--machine", "nowhere"], directory.path()));
    assert!(said.contains("nowhere") && said.contains("two-core-vm"), "{said}");
    let said = refused(&evenkeel(&["tune", "--json", "/nowhere/tried.json"], directory.path()));
    assert!(said.contains("/nowhere"), "{said}");
}

#[test]
fn the_doctor_reports_what_is_wrong_with_a_table() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("evenkeel")).unwrap();
    std::fs::write(
        directory.path().join("evenkeel/table.json"),
        "{\"schema\": 1, \"version\": \"0\", \"machine\": {\"processor\": \"abacus\"}, \"entries\": []}",
    )
    .unwrap();
    let said = doctor(directory.path());
    assert!(said.contains("abacus") && said.contains("built-in barrier"), "{said}");
}
