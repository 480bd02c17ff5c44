//! The book's page of all algorithms, with a picture of each.

use super::{Picture, svg::svg};
use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms;
use crate::check::{CheckError, costs};
use crate::problem::Problem;
use crate::schedule::Schedule;
use std::fmt::Write;

/// A file of the gallery: its name within the book's `src`, and its content.
pub struct File {
    pub name: String,
    pub content: String,
}

/// With how many ranks an algorithm is drawn: 8, unless more show what happens beyond a power, or fewer
/// all that there is to be seen.
fn schedule(algorithm: &'static Algorithm) -> Schedule {
    let ranks = match algorithm.name {
        "pairwise-exchange" | "n-way-dissemination" | "hierarchical" | "butterfly" => 9,
        "n-wise-exchange" => 11,
        // From each to each.
        "allreduce-simultaneous-broadcast"
        | "allreduce-parts"
        | "allgather-flat"
        | "alltoall-flat"
        | "reduce-scatter-flat"
        | "scan-flat"
        | "exscan-flat" => 4,
        _ => 8,
    };
    let elements = if algorithm.collective == Collective::Barrier { 0 } else { 8 };
    Schedule::new(algorithm, Problem::new(ranks).with_elements(elements), &[])
        .expect("defaults fit a few ranks")
}

/// The page and its pictures.
pub fn gallery() -> Result<Vec<File>, CheckError> {
    let mut files = Vec::new();
    let mut page = String::from(INTRODUCTION);
    page += "\n| collective | algorithm | rounds | messages | most sent by one rank | elements moved | flags | scratch | must respond |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for algorithm in algorithms::ALL {
        let elements = if algorithm.collective == Collective::Barrier { 0 } else { 16 };
        let schedule = Schedule::new(algorithm, Problem::new(16).with_elements(elements), &[])
            .expect("defaults fit 16 ranks");
        let f = costs(&schedule)?;
        let respond = if f.responders == f.least_responders {
            f.responders.to_string()
        } else {
            format!("{}-{}", f.least_responders, f.responders)
        };
        let _ = writeln!(
            page,
            "| {} | [{1}](#{1}) | {2} | {3} | {4} | {5} | {6} | {7} | {respond} |",
            algorithm.collective.name(),
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
    for collective in Collective::ALL {
        let _ = write!(page, "\n# {}\n", title(collective));
        for algorithm in algorithms::for_collective(collective) {
            let schedule = schedule(algorithm);
            let picture = Picture::of(&schedule)?;
            files.push(File { name: format!("schedules/{}.svg", algorithm.name), content: svg(&picture) });
            section(&mut page, algorithm, &picture);
        }
    }
    page += DEVICES;
    files.push(File { name: "schedules.md".into(), content: page });
    Ok(files)
}

fn title(collective: Collective) -> String {
    let name = collective.name();
    name[..1].to_uppercase() + &name[1..]
}

fn section(page: &mut String, algorithm: &Algorithm, picture: &Picture) {
    let _ = write!(page, "\n## {}\n\n{}\n\n", algorithm.name, algorithm.about);
    let _ = writeln!(page, "- Source: {}.", algorithm.source);
    let _ = writeln!(page, "- Cost: {}.", algorithm.cost.replace('|', "\\|"));
    if algorithm.order != CombiningOrder::Nothing {
        let order = match algorithm.order {
            CombiningOrder::Fold => "that of ranks, grouped as the engine groups: x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁))",
            CombiningOrder::Ranks => "that of ranks, in another grouping than the engine's",
            _ => "another one than that of ranks: for commutative operations only",
        };
        let _ = writeln!(page, "- Order of combining: {order}.");
    }
    for parameter in algorithm.parameters {
        let range =
            if parameter.choices.is_empty() { parameter.range() } else { parameter.choices.join(", ") };
        let _ = writeln!(
            page,
            "- `{}`: {} ({range}; {} if nothing is said).",
            parameter.name,
            parameter.about,
            parameter.show(parameter.default)
        );
    }
    let _ = write!(page, "\n![{}](schedules/{}.svg)\n", picture.title(), algorithm.name);
}

const INTRODUCTION: &str = "\
# Schedules: the collective algorithms

Every collective algorithm is written once, as a function from the number of ranks and some parameters to the steps of each rank:
put a flag or data, wait, count, combine, copy. From that one function it is checked, drawn and simulated, and
barriers are run by it in the engine where a [table](tuning.md) says so; what the engine does within a node otherwise is
[in this list too](decisions/engine-schedules.md). This page is generated from the list of algorithms: `evenkeel schedule gallery docs/src`.

    evenkeel schedule list --ranks 64
    evenkeel schedule show n-way-dissemination --ranks 9 --param n=2
    evenkeel schedule show allreduce-ring --ranks 5 --elements 10 --svg ring.svg
    evenkeel schedule check n-wise-exchange --ranks 100 --param n=3

**What is checked.** Every algorithm, for 1 to 64 ranks and with many values of its parameters: it completes, epoch after epoch, in every
order in which steps may be taken and messages may arrive; nobody leaves a barrier before all have entered; the data is right, and
combined in the stated order; no flag is mistaken for another, no memory is overwritten that is still needed, and no more of it is used
than stated. One run is enough to prove that of an algorithm without branches: the run keeps account of which event lies in the past of which,
and that is the same in every order. Algorithms in which it is decided while running who goes on (`central-counter`, `climbing-tree`, `allreduce-central-counter`) are run in
all orders with few ranks, and in many random ones with more. `evenkeel schedule check` does it for any size. [Algorithms as data](decisions/schedules.md)
says why one run is enough.

**Writing one**: a file in `crates/collectives/schedule/src/algorithms/` with an `Algorithm` in it (name, source, cost, parameters, the memory it resources, and a
function that appends one round of one rank's steps), and a line in the list `ALL` of `crates/collectives/schedule/src/algorithms/mod.rs`. Being listed, it is tested like
all others, and shown on this page. `evenkeel schedule show NAME --steps RANK` prints what a rank does.

**With 16 ranks**, and a vector of 16 elements for each rank (for each pair of ranks in an all-to-all):
";

const MEANING: &str = "
*rounds*: messages that must follow one another. *messages*: of all ranks, acknowledgements and the answers of counters among them; a write into memory that
all see is one. *flags*: flags and counters of a rank; *scratch*: elements of a rank's memory that others write to; both in all banks.
*must respond*: how many other ranks must do something between a rank's entering and its leaving, of the rank with fewest and
of that with max: whoever is late among these holds it up. The same for any other number of ranks: `evenkeel schedule list --ranks N`.

In the pictures time goes down. A message is in round r if r - 1 others had to arrive, one after the other, before it could be sent.
";

const DEVICES: &str = "
# Devices

Two devices that hold barriers by themselves are simulated as state machines, in `crates/collectives/schedule/src/devices/`.

**The barrier unit of a switch** (Höfler 2005, section 3.1; designed, not built): hosts report to the switch in packets of 11 bits, 4 for the
type and 7 for the barrier's number, and say everything again until it is acknowledged. As printed, a packet that is repeated cannot be told from a
new one: a host that has entered once is counted for the next barrier too, and the others leave early; a request that is repeated uses up
a second barrier. The test that goes all ways through three ports finds it. With an epoch behind the 11 bits (and the number of the request in
packets that set up), lost, repeated and reordered packets do no harm: every way through three ports with up to three packets on their way is
right, and from each state all can still get to the end. What remains of the design: one bit for each port, so one rank for each host; and a
host that has died blocks its barrier. 512 ports and 128 barriers take 131,328 flip-flops, besides the epochs.

**The dedicated network** (section 3.2; built for four nodes): a wire from each node, a wire to all, and a machine of two states between them
that shows 1 once all inputs are 1, and 0 once all are 0. Nodes enter by turning their level over and leave when they see it. All orders for up to four
nodes are gone through, also with nodes that are not in the group; without the state the second barrier would let nodes go early. With the
thesis's times (1.2 µs for each access to the port, 10 ns for each node) a barrier of four takes 2.44 µs; 2.57 were measured there.
";
