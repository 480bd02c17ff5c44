//! `evenkeel cluster` from the command line to what is printed.

use clap::Parser;
use evenkeel_cli::commands::cluster::cluster;
use evenkeel_cli::commands::{Command, CommandLine};

fn run(line: &str) -> Result<String, String> {
    let words = ["evenkeel", "cluster"].into_iter().chain(line.split_whitespace());
    let parsed = CommandLine::try_parse_from(words).map_err(|e| e.to_string())?;
    let Command::Cluster(arguments) = parsed.command else { panic!("it is `cluster`") };
    cluster(&arguments).map_err(|e| e.to_string())
}

#[test]
fn tables_have_a_row_for_each_policy() {
    let text = run("scenario balanced --policies fcfs,gs").unwrap();
    assert!(text.contains("quanta of 25.0 ms, switches of 20.0 µs"), "{text}");
    let is_row =
        |line: &str| line.starts_with("balanced") && line.contains("FCFS") && line.contains("120.12");
    assert!(text.lines().any(is_row), "{text}");
    let text = run("workload --jobs 20 --policies easy,fcs --seeds 2 --cores 8").unwrap();
    assert!(text.contains("20 jobs on 8 cores, load 0.7, 2 seeds"), "{text}");
    assert!(text.contains("\nEASY") && text.contains("\nFCS") && text.contains('±'), "{text}");
    let text = run("saturation --jobs 20 --policies easy --seeds 1 --loads 0.5,1").unwrap();
    assert!(text.contains("\nEASY") && !text.contains('±'), "{text}");
}

#[test]
fn refusals_say_what_to_do() {
    let said = run("saturation --loads 0.9,0.7").unwrap_err();
    assert_eq!(said, "--loads must ascend: 0.9 stands before 0.7. Give them as in --loads 0.5,0.7,0.9.");
    let said = run("workload --jobs 20 --quantum 0").unwrap_err();
    assert!(said.contains("quanta and time slices must be longer than 0"), "{said}");
}
