//! The butterfly: each stage exchanges flags with a partner, and some ranks act for the ranks that are
//! missing to a power of two.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "butterfly",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "In stage s each rank exchanges flags with the rank whose number differs in bit s; some ranks \
            also act for a missing one.",
    source: "Brooks 1986; Höfler 2005, section 2.2.2.1; epochs replace its handshake",
    cost: "(L + 2o)·log₂ P for powers of two, else 2(L + 2o)·⌈log₂ P⌉",
    parameters: &[],
    resources: |problem| {
        let stages = ceil_log(2, problem.ranks);
        // In the last stage a rank that acts for two would exchange with itself.
        Resources::flags(stages, (2 * stages).saturating_sub(1))
    },
    round,
};

/// Each stage has one flag for each of the two members that a rank may act for.
fn round(problem: &Problem, rank: Rank, stage: u32, out: &mut Round) {
    let half = power(2, ceil_log(2, problem.ranks)) / 2;
    // Member 0 is the rank itself, member 1 the missing rank half a power of two above it.
    let members = if rank.0 < half && rank.0 + half >= problem.ranks { 2 } else { 1 };
    let acting = |member: u32| {
        if member < problem.ranks { (Rank(member), 0) } else { (Rank(member - half), 1) }
    };
    let partner = |member: u32| acting((rank.0 + member * half) ^ power(2, stage));
    for member in 0..members {
        let (other, its_member) = partner(member);
        if other != rank {
            out.put(other, Flag(2 * stage + its_member));
        }
    }
    for member in 0..members {
        if partner(member).0 != rank {
            out.wait(Flag(2 * stage + member));
        }
    }
}
