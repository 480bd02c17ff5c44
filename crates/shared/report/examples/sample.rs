//! Prints a simulated run record, or its summary, page or digest:
//! `cargo run -p evenkeel-report --example sample -- sixteen json|text|colour|html|digest`.

#[path = "../tests/sample/mod.rs"]
mod sample;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(run) = sample::sample(&name) else {
        eprintln!("no sample \"{name}\"; there are: {}", sample::NAMES.join(", "));
        std::process::exit(2);
    };
    match arguments.next().as_deref().unwrap_or("text") {
        "json" => println!("{}", serde_json::to_string(&run).expect("plain data has a JSON form")),
        "digest" => {
            println!(
                "{}",
                serde_json::to_string(&evenkeel_report::digest(&run)).expect("plain data has a JSON form")
            )
        }
        "html" => print!("{}", evenkeel_report::html(&run)),
        "colour" => print!("{}", evenkeel_report::summary(&run, 80, true)),
        _ => print!("{}", evenkeel_report::summary(&run, 80, false)),
    }
}
