//! The optimal tree of the postal model: a received message can be sent on λ send times after its own
//! sending began.

use super::{DATA, READ, own, receive};
use crate::algorithm::{Algorithm, Parameter};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Place, Rank, Step};

/// λ = 1 gives the binomial tree. The larger λ, the flatter the tree.
pub(super) const LAMBDA: Parameter = Parameter {
    name: "lambda",
    default: 3,
    min: 1,
    max: 1 << 12,
    choices: &[],
    about: "time until a message can be sent on, in send times",
};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-postal",
    collective: Collective::Bcast,
    order: CombiningOrder::Nothing,
    about: "A tree in which each rank keeps sending, and a rank that receives early gets a larger subtree: \
            F(t) = F(t-1) + F(t-λ).",
    source: "Bar-Noy, Kipnis 1992; Buntinas, Panda, Duato, Sadayappan 2000 (CANPC)",
    cost: "T send times, T the least with F(T) ≥ P; λ = (o + L + o + M·G) / max(g, o + M·G)",
    parameters: &[LAMBDA],
    resources: |problem| {
        Resources::flags(1, 1).and_counters(1).and_scratch(problem.elements.into()).in_banks(2)
    },
    round: |problem, rank, _, out| whole(problem, rank, false, out),
};

/// All steps of a rank. With `repeat`, each message after the first is marked as a repetition of the
/// first.
pub(super) fn whole(problem: &Problem, rank: Rank, repeat: bool, out: &mut Round) {
    let tree = Tree::of(problem.values[0], problem.ranks);
    let place = tree.place(problem.from_root(rank), problem.ranks);
    if let Some(parent) = place.parent {
        receive(problem, problem.to_rank(parent), out);
    }
    let acknowledged = out.steps.len();
    let mut children = 0;
    tree.children(place, |child| {
        let (to, from) = (problem.to_rank(child), own(problem, rank));
        let is_repeat = repeat && children > 0;
        out.push(Step::Send {
            to,
            flag: DATA,
            turn: 1,
            is_repeat,
            from,
            at: Place::scratch(0),
            length: problem.elements,
        });
        children += 1;
    });
    if children > 0 {
        out.steps.insert(acknowledged, Step::AwaitCount { counter: READ, of: children, previous: true });
    }
}

/// How many ranks can be reached by time: F(0), F(1), … up to the first value that suffices.
struct Tree {
    lambda: usize,
    reach: Vec<u32>,
}

/// A rank of the tree when it begins to send, with the ranks it is responsible for: its own and those
/// above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    parent: Option<u32>,
    me: u32,
    ranks: u32,
    /// Send times that are left.
    time: usize,
}

impl Tree {
    fn of(lambda: u32, ranks: u32) -> Tree {
        let lambda = lambda as usize;
        let mut reach = vec![1u32];
        while reach[reach.len() - 1] < ranks {
            let now = reach.len();
            let more = if now < lambda { 0 } else { reach[now - lambda] };
            reach.push(reach[now - 1].saturating_add(more));
        }
        Tree { lambda, reach }
    }

    /// Splits off a child if there are ranks left. Ties go to the rank that already has the message: it
    /// keeps all ranks that it can still reach by itself.
    fn split(&self, from: &mut Position) -> Option<Position> {
        if from.ranks == 1 {
            return None;
        }
        // There are at most F(time) ranks, so at most F(time - λ) are not kept, and time is at least λ.
        let kept = self.reach[from.time - 1].min(from.ranks - 1);
        let child = Position {
            parent: Some(from.me),
            me: from.me + kept,
            ranks: from.ranks - kept,
            time: from.time - self.lambda,
        };
        from.ranks = kept;
        from.time -= 1;
        Some(child)
    }

    fn place(&self, me: u32, ranks: u32) -> Position {
        let mut here = Position { parent: None, me: 0, ranks, time: self.reach.len() - 1 };
        while here.me != me {
            let child = self.split(&mut here).expect("the ranks from `here` on contain it");
            if me >= child.me {
                here = child;
            }
        }
        here
    }

    fn children(&self, mut place: Position, mut child: impl FnMut(u32)) {
        while let Some(position) = self.split(&mut place) {
            child(position.me);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(lambda: u32, ranks: u32, me: u32) -> Vec<u32> {
        let (tree, mut found) = (Tree::of(lambda, ranks), Vec::new());
        tree.children(tree.place(me, ranks), |child| found.push(child));
        found
    }

    #[test]
    fn lambda_1_is_binomial_and_a_large_one_is_flat() {
        assert_eq!(children(1, 8, 0), [4, 2, 1]);
        assert_eq!(children(1, 8, 4), [6, 5]);
        assert_eq!(children(2, 4, 0), [3, 2, 1], "the tree of four that Buntinas et al. call flat");
        assert_eq!(children(100, 9, 0).len(), 8);
    }

    /// Over all trees: a rank that has the message and is responsible for m ranks first gives some of
    /// them away, then continues with the rest.
    #[test]
    fn no_tree_is_faster() {
        for lambda in 1..=6u32 {
            let mut best = vec![0, 0];
            for ranks in 2..=64usize {
                let time = (1..ranks)
                    .map(|given| (1 + best[ranks - given]).max(lambda + best[given]))
                    .min()
                    .unwrap();
                best.push(time);
                assert_eq!(time as usize, Tree::of(lambda, ranks as u32).reach.len() - 1, "{lambda} {ranks}");
            }
        }
    }

    #[test]
    fn the_last_rank_receives_when_the_recurrence_says() {
        for lambda in 1..=6 {
            for ranks in 1..=64u32 {
                let mut heard = vec![0; ranks as usize];
                for me in 0..ranks {
                    for (i, child) in children(lambda, ranks, me).into_iter().enumerate() {
                        heard[child as usize] = heard[me as usize] + i as u32 + lambda;
                    }
                }
                let last = *heard.iter().max().unwrap() as usize;
                assert_eq!(last, Tree::of(lambda, ranks).reach.len() - 1, "{lambda} {ranks}");
            }
        }
    }
}
