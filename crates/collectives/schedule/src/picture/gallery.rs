//! The book's page of all algorithms, with a picture of each.

use super::content::Picture;
use super::svg::svg;
use crate::algorithm::Algorithm;
use crate::algorithms;
use crate::check::{CheckError, costs};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::schedule::Schedule;
use std::fmt::Write;

/// A file of the gallery.
pub struct GalleryFile {
    /// Its path within the book's `src`.
    pub name: String,
    /// Its text.
    pub content: String,
}

/// The schedule that is drawn of an algorithm. 8 ranks, unless more ranks show what happens beyond a
/// power, or fewer ranks show everything.
fn schedule(algorithm: &'static Algorithm) -> Schedule {
    let ranks = match algorithm.name {
        "pairwise-exchange" | "n-way-dissemination" | "hierarchical" | "butterfly" => 9,
        "n-wise-exchange" => 11,
        // Every rank sends to every rank.
        "allreduce-simultaneous-broadcast"
        | "allreduce-parts"
        | "allgather-flat"
        | "alltoall-flat"
        | "reduce-scatter-flat"
        | "scan-flat"
        | "exscan-flat" => 4,
        _ => 8,
    };
    with_ranks(algorithm, ranks, 8)
}

fn with_ranks(algorithm: &'static Algorithm, ranks: u32, elements: u32) -> Schedule {
    let elements = if algorithm.collective == Collective::Barrier { 0 } else { elements };
    Schedule::new(algorithm, Problem::new(ranks).with_elements(elements), &[]).expect("the defaults fit")
}

/// The page `schedules.md` and its pictures.
pub fn gallery() -> Result<Vec<GalleryFile>, CheckError> {
    let mut files = Vec::new();
    let mut page = String::from(INTRODUCTION);
    page += TABLE_HEAD;
    for algorithm in algorithms::ALL {
        table_row(&mut page, algorithm)?;
    }
    page += MEANING;
    for collective in Collective::ALL {
        let _ = write!(page, "\n# {}\n", title(collective));
        for algorithm in algorithms::for_collective(collective) {
            let schedule = schedule(algorithm);
            let picture = Picture::of(&schedule)?;
            let name = format!("schedules/{}.svg", algorithm.name);
            files.push(GalleryFile { name, content: svg(&picture) });
            section(&mut page, algorithm, &picture);
        }
    }
    page += DEVICES;
    files.push(GalleryFile { name: "schedules.md".into(), content: page });
    Ok(files)
}

fn table_row(page: &mut String, algorithm: &'static Algorithm) -> Result<(), CheckError> {
    let c = costs(&with_ranks(algorithm, 16, 16))?;
    let respond = if c.responders == c.least_responders {
        c.responders.to_string()
    } else {
        format!("{}-{}", c.least_responders, c.responders)
    };
    let _ = writeln!(
        page,
        "| {} | [{1}](#{1}) | {2} | {3} | {4} | {5} | {6} | {7} | {respond} |",
        algorithm.collective.name(),
        algorithm.name,
        c.rounds,
        c.messages,
        c.sent,
        c.elements,
        c.flags,
        c.scratch
    );
    Ok(())
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
            CombiningOrder::Fold => "that of ranks, in the engine's grouping: x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁))",
            CombiningOrder::Ranks => "that of ranks, in a grouping other than the engine's",
            _ => "not that of ranks: for commutative operators only",
        };
        let _ = writeln!(page, "- Order of combining: {order}.");
    }
    for parameter in algorithm.parameters {
        let range =
            if parameter.choices.is_empty() { parameter.range() } else { parameter.choices.join(", ") };
        let _ = writeln!(
            page,
            "- `{}`: {} ({range}; default {}).",
            parameter.name,
            parameter.about,
            parameter.show(parameter.default)
        );
    }
    let _ = write!(page, "\n![{}](schedules/{}.svg)\n", picture.title(), algorithm.name);
}

const INTRODUCTION: &str = "\
# Schedules: the collective algorithms

Every collective algorithm is written once, as a function from the number of ranks and some parameters to
the steps of each rank: raise a flag, send data, wait, count, combine, copy. From that one function the
algorithm is checked, drawn and simulated. The engine runs barriers by it where a [table](tuning.md) says
so. What the engine otherwise does within a node is [on this list too](decisions/engine-schedules.md).
This page is generated from the list of algorithms: `evenkeel schedule gallery docs/src`.

    evenkeel schedule list --ranks 64
    evenkeel schedule show n-way-dissemination --ranks 9 --param n=2
    evenkeel schedule show allreduce-ring --ranks 5 --elements 10 --svg ring.svg
    evenkeel schedule check n-wise-exchange --ranks 100 --param n=3

**What is checked.** For every algorithm, for 1 to 64 ranks and for many values of its parameters:

- It completes, epoch after epoch, in every order in which steps may be taken and messages may arrive.
- No rank leaves a barrier before all ranks have entered.
- The data is right, and combined in the stated order.
- No flag is mistaken for another, no memory is overwritten that is still needed, and no more memory is
  used than stated.

One execution is enough to prove that for an algorithm without branches: it records which event lies in
the past of which, and that relation is the same in every order. In three algorithms (`central-counter`,
`climbing-tree`, `allreduce-central-counter`) the execution decides which rank continues. They are
executed in all orders with few ranks, and in many random orders with more. `evenkeel schedule check` does
this for any size. [Algorithms as data](decisions/schedules.md) explains why one execution is enough.

**To add an algorithm**, write a file in `crates/collectives/schedule/src/algorithms/` with an `Algorithm`
in it: name, source, cost, parameters, the memory it needs, and a function that appends the steps of one
rank in one round. Add a line to the list `ALL` in `crates/collectives/schedule/src/algorithms/list.rs`.
Then the algorithm is tested like all others and appears on this page. `evenkeel schedule show NAME
--steps RANK` prints the steps of a rank.

**With 16 ranks**, and a vector of 16 elements for each rank (in an alltoall, for each pair of ranks):
";

const TABLE_HEAD: &str = "
| collective | algorithm | rounds | messages | most sent by one rank | elements moved | flags | scratch | \
must respond |
|---|---|--:|--:|--:|--:|--:|--:|--:|
";

const MEANING: &str = "
*rounds*: the length of the longest chain of messages. *messages*: of all ranks, including
acknowledgements and the answers of counters; a write into memory that all ranks see counts as one.
*flags*: flags and counters of a rank. *scratch*: elements of a rank's memory that other ranks write to.
Both count all banks. *must respond*: how many other ranks must do something between a rank's entering and
its leaving, for the rank with fewest and the rank with most; if one of them is late, the rank waits for
it. The same for any other number of ranks: `evenkeel schedule list --ranks N`.

In the pictures time runs downwards. A message is in round r if r - 1 other messages, one after the other,
had to arrive before it could be sent.
";

const DEVICES: &str = "
# Devices

Two devices that perform barriers in hardware are simulated as state machines, in
`crates/collectives/schedule/src/devices/`.

**The barrier unit of a switch** (Höfler 2005, section 3.1; designed, not built). Hosts report to the
switch in packets of 11 bits, 4 for the type and 7 for the number of the barrier, and repeat each packet
until it is acknowledged. In the printed protocol a repeated packet cannot be told from a new one. A host
that has entered once is counted for the next barrier too, and the others leave early; a repeated request
uses up a second barrier. The test that visits all states of three ports finds both. With an epoch behind
the 11 bits (and the number of the request in set-up packets), lost, repeated and reordered packets do no
harm: with up to three packets in flight every state of three ports is right, and from each state all
hosts can still reach the end. Two limits of the design remain. One bit for each port means one rank for
each host. A host that has died blocks its barrier. 512 ports and 128 barriers take 131,328 flip-flops,
besides the epochs.

**The dedicated network** (section 3.2; built for four nodes). It has a wire from each node, a wire to all
nodes, and a state machine with two states between them that shows 1 once all inputs are 1, and 0 once all
are 0. A node enters by inverting its level and leaves when it sees that level. The tests visit all orders
for up to four nodes, also with nodes outside the group. Without the state, the second barrier would let
nodes leave early. With the thesis's times (1.2 µs for each access to the port, 10 ns for each node) a
barrier of four nodes takes 2.44 µs; 2.57 µs were measured.
";
