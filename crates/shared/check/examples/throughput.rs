//! How many events a second are checked: `cargo run --release -p evenkeel-check --example throughput
//! DIRECTORY`.

use evenkeel_check::finding::Rule;
use evenkeel_trace::checks::file::Checks;
use std::time::Instant;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder that --trace-level checks has written");
    let bytes: Vec<Vec<u8>> =
        (0..).map_while(|rank| std::fs::read(format!("{folder}/rank-{rank}.checks")).ok()).collect();
    let begin = Instant::now();
    let ranks: Vec<Checks> = bytes.iter().map(|file| Checks::parse(file).expect("a whole file")).collect();
    let parsed = begin.elapsed();
    let report = evenkeel_check::check(&ranks, &Rule::ALL);
    let whole = begin.elapsed();
    let events: usize = ranks.iter().map(|rank| rank.events.len()).sum();
    for finding in &report.findings {
        println!(
            "{} [{}] {:?} +{}: {}",
            finding.severity, finding.rule, finding.places, finding.more, finding.sentence
        );
    }
    for remark in &report.remarks {
        println!("{remark}");
    }
    let rate = events as f64 / whole.as_secs_f64() / 1e6;
    println!(
        "{} ranks, {events} events, read in {parsed:?}, all in {whole:?}: {rate:.2} million events/s",
        ranks.len()
    );
}
