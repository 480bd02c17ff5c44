//! The butterfly, in which ranks stand in for those that are missing to a power of two.

use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Flag, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "butterfly",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "In stage s everybody exchanges flags with the rank whose number differs in bit s; some ranks play two.",
    source: "Brooks 1986; Höfler 2005, section 2.2.2.1; epochs take the place of its handshake",
    cost: "(L + 2o)·log₂ P for powers of two, else 2(L + 2o)·⌈log₂ P⌉",
    parameters: &[],
    resources: |problem| {
        let stages = ceil_log(2, problem.ranks);
        // In the last stage a rank's two parts would exchange with each other.
        Resources::flags(stages, (2 * stages).saturating_sub(1))
    },
    round,
};

/// Each stage has a flag for each of the two parts that a rank may play.
fn round(problem: &Problem, rank: Rank, stage: u32, out: &mut Round) {
    let half = power(2, ceil_log(2, problem.ranks)) / 2;
    // Part 0 is the rank itself, part 1 the missing one half a power of two above it.
    let parts = if rank.0 < half && rank.0 + half >= problem.ranks { 2 } else { 1 };
    let player = |part: u32| if part < problem.ranks { (Rank(part), 0) } else { (Rank(part - half), 1) };
    let partner = |part: u32| player((rank.0 + part * half) ^ power(2, stage));
    for part in 0..parts {
        let (other, its_part) = partner(part);
        if other != rank {
            out.put(other, Flag(2 * stage + its_part));
        }
    }
    for part in 0..parts {
        if partner(part).0 != rank {
            out.wait(Flag(2 * stage + part));
        }
    }
}
