//! The book's page of all algorithms, with a picture of each.

use super::{Picture, svg::svg};
use crate::algorithm::{Algorithm, Operation, Order};
use crate::algorithms;
use crate::check::{Defect, figures};
use crate::problem::Problem;
use crate::schedule::Schedule;
use std::fmt::Write;

/// A file of the gallery: its name within the book's `src`, and its content.
pub struct File {
    pub name: String,
    pub content: String,
}

/// With how many ranks an algorithm is drawn: 9 where that shows what happens beyond a power, 8 elsewhere.
fn schedule(algorithm: &'static Algorithm) -> Schedule {
    let ranks = match algorithm.name {
        "pairwise-exchange" | "n-way-dissemination" | "n-wise-exchange" | "hierarchical" | "butterfly" => 9,
        _ => 8,
    };
    let elements = if algorithm.operation == Operation::Barrier { 0 } else { 8 };
    Schedule::new(algorithm, Problem::new(ranks).with_elements(elements), &[]).expect("defaults fit a few ranks")
}

/// The page and its pictures.
pub fn gallery() -> Result<Vec<File>, Defect> {
    let mut files = Vec::new();
    let mut page = String::from(INTRODUCTION);
    page += "\n| operation | algorithm | rounds | messages | most sent by one rank | elements moved | flags | scratch | must respond |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for algorithm in algorithms::ALL {
        let elements = if algorithm.operation == Operation::Barrier { 0 } else { 16 };
        let schedule = Schedule::new(algorithm, Problem::new(16).with_elements(elements), &[]).expect("defaults fit 16 ranks");
        let f = figures(&schedule)?;
        let respond = if f.responders == f.least_responders { f.responders.to_string() } else { format!("{}-{}", f.least_responders, f.responders) };
        let _ = writeln!(
            page,
            "| {} | [{1}](#{1}) | {2} | {3} | {4} | {5} | {6} | {7} | {respond} |",
            algorithm.operation.name(),
            algorithm.name,
            f.rounds,
            f.messages,
            f.sent,
            f.elements,
            f.flags,
            f.scratch
        );
    }
    page += MEANING;
    for operation in Operation::ALL {
        let _ = write!(page, "\n# {}\n", title(operation));
        for algorithm in algorithms::of(operation) {
            let schedule = schedule(algorithm);
            let picture = Picture::of(&schedule)?;
            files.push(File { name: format!("schedules/{}.svg", algorithm.name), content: svg(&picture) });
            section(&mut page, algorithm, &picture);
        }
    }
    files.push(File { name: "schedules.md".into(), content: page });
    Ok(files)
}

fn title(operation: Operation) -> String {
    let name = operation.name();
    name[..1].to_uppercase() + &name[1..]
}

fn section(page: &mut String, algorithm: &Algorithm, picture: &Picture) {
    let _ = write!(page, "\n## {}\n\n{}\n\n", algorithm.name, algorithm.about);
    let _ = writeln!(page, "- Source: {}.", algorithm.source);
    let _ = writeln!(page, "- Cost: {}.", algorithm.cost.replace('|', "\\|"));
    if algorithm.order != Order::Nothing {
        let order = match algorithm.order {
            Order::Fold => "that of ranks, grouped as the engine groups: x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁))",
            Order::Ranks => "that of ranks, in another grouping than the engine's",
            _ => "another one than that of ranks: for commutative operations only",
        };
        let _ = writeln!(page, "- Order of combining: {order}.");
    }
    for parameter in algorithm.parameters {
        let range = if parameter.choices.is_empty() { parameter.range() } else { parameter.choices.join(", ") };
        let _ = writeln!(page, "- `{}`: {} ({range}; {} if nothing is said).", parameter.name, parameter.about, parameter.show(parameter.default));
    }
    let _ = write!(page, "\n![{}](schedules/{}.svg)\n", picture.title(), algorithm.name);
}

const INTRODUCTION: &str = "\
# Schedules: the collective algorithms

Every collective algorithm is written once, as a function from the number of ranks and some parameters to the steps of each rank:
put a flag or data, wait, count, combine, copy. From that one function it is checked, drawn and simulated. This page is
generated from the list of algorithms: `evenkeel schedule gallery docs/src`.

    evenkeel schedule list --ranks 64
    evenkeel schedule show n-way-dissemination --ranks 9 --param n=2
    evenkeel schedule show allreduce-ring --ranks 5 --elements 10 --svg ring.svg
    evenkeel schedule check n-wise-exchange --ranks 100 --param n=3

**What is checked.** Every algorithm, for 1 to 64 ranks and with many values of its parameters: it completes, epoch after epoch, in every
order in which steps may be taken and messages may arrive; nobody leaves a barrier before all have entered; the data is right, and
combined in the stated order; no flag is mistaken for another, no memory is overwritten that is still needed, and no more of it is used
than stated. One run is enough to prove that of an algorithm without branches: the run keeps account of which event lies in the past of which,
and that is the same in every order. Algorithms in which it is decided while running who goes on (`central-counter`, `climbing-tree`) are run in
all orders with few ranks, and in many random ones with more. `evenkeel schedule check` does it for any size.

**With 16 ranks**, and a vector of 16 elements for each rank (for each pair of ranks in an all-to-all):
";

const MEANING: &str = "
*rounds*: messages that must follow one another. *messages*: of all ranks, acknowledgements among them; a write into memory that all see
is one. *flags*: flags and counters of a rank; *scratch*: elements of a rank's memory that others write to; both in all banks.
*must respond*: how many other ranks must do something between a rank's entering and its leaving, of the rank with fewest and
of that with most: whoever is late among these holds it up.

In the pictures time goes down. A message is in round r if r - 1 others had to arrive, one after the other, before it could be sent.
";
