//! Broadcasts that this node passes on before its ranks have called them.
//!
//! A node that passes on what it gets learns from the message what the collective is, and begins with
//! that. The result stays here until the ranks call it. So a node all of whose ranks are late holds up
//! nobody. Nobody is further ahead than [`crate::communicator::run_ahead`] says, so there are no more of these than
//! that.

use crate::communicator::collective::{Early, Running};
use crate::exchange::run::Sent;
use crate::exchange::schedule::Plans;
use crate::position::Position;
use evenkeel_engine::collective::call::Kind;
use evenkeel_spanning::PieceDescription as Description;
use std::collections::HashMap;

/// The broadcasts of one numbering that nobody here has called.
#[derive(Default)]
pub struct Passing {
    under_way: HashMap<u64, Running>,
}

impl Passing {
    /// The one with that number, if it has not begun; what `early` has of it came before, and did not say
    /// what it was. An error says that it is none to be passed on.
    pub fn begin(
        &mut self,
        number: u64,
        description: Description,
        early: &mut HashMap<u64, Vec<Early>>,
        position: &Position,
    ) -> Result<(), String> {
        let root = description.root.node as usize;
        if description.kind != Kind::Bcast || root >= position.nodes() || root == position.me {
            return Err(format!(
                "another node has sent a part of {}, which is nothing to be passed on: do all nodes have the same evenkeel?",
                what(description)
            ));
        }
        self.under_way
            .entry(number)
            .or_insert_with(|| Running::new(number, description, early.remove(&number).unwrap_or_default()));
        Ok(())
    }

    /// The one with that number.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut Running> {
        self.under_way.get_mut(&number)
    }

    /// Passes on what has come; whether anything happened. `send` gets each message with the number and
    /// description of its collective.
    pub fn advance(
        &mut self,
        position: &Position,
        plans: &mut Plans,
        mut send: impl FnMut(u64, Description, Sent<'_>),
    ) -> Result<bool, String> {
        let mut moved = false;
        for (number, running) in &mut self.under_way {
            let description = running.description;
            moved |= running.exchange(position, plans, |sent| send(*number, description, sent))?;
        }
        Ok(moved)
    }

    /// The ranks here call a collective: what has been done of it, if anything. An error says that they
    /// call another than its root has.
    pub fn take(&mut self, number: u64, called: Description) -> Result<Option<Running>, String> {
        let Some(running) = self.under_way.remove(&number) else { return Ok(None) };
        agree(number, called, running.description)?;
        Ok(Some(running))
    }
}

/// Whether the ranks here have called what those of another node have; an error says that they have not.
pub fn agree(number: u64, here: Description, elsewhere: Description) -> Result<(), String> {
    if here == elsewhere {
        return Ok(());
    }
    Err(format!(
        "a rank here has called {} where another node's ranks have called {} (number {number} of a communicator); all members of a communicator have to call the same, in the same order and with the same root and length. Look what the ranks of this node do there, or let a checker of MPI calls look",
        what(here),
        what(elsewhere)
    ))
}

fn what(description: Description) -> String {
    let Description { kind, root, bytes, .. } = description;
    format!("MPI_{kind:?} of {bytes} bytes with member {} of node {} as its root", root.local_rank, root.node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::run::Instance;
    use crate::exchange::schedule::{Key, Plan};
    use bytes::Bytes;
    use evenkeel_random::Random;
    use evenkeel_schedule::Rank;
    use evenkeel_spanning::{Location, NodeCounts};
    use std::sync::Arc;

    fn position(me: usize, nodes: usize) -> Position {
        Position { counts: NodeCounts::new(vec![1; nodes]), me, share_cores: true }
    }

    fn broadcast(root: usize, bytes: usize) -> Description {
        Description {
            kind: Kind::Bcast,
            root: Location { node: root as u32, local_rank: 0 },
            bytes,
            operator: 0,
        }
    }

    /// A message on its way: to whom, the collective, whether it says what it is, and its part.
    #[derive(Clone)]
    struct Flying {
        to: usize,
        number: u64,
        is_described: bool,
        part: Early,
    }

    fn flying(number: u64, sent: &Sent<'_>) -> Flying {
        Flying {
            to: sent.to as usize,
            number,
            is_described: sent.passed_on,
            part: (sent.slot, sent.turn, sent.at, sent.data.clone()),
        }
    }

    /// Several broadcasts, of which nobody but the roots has called any; messages in any order, now and
    /// then twice. Everybody who passes on has each whole in the end, and everybody else has got its
    /// message.
    #[test]
    fn what_nobody_has_called_is_passed_on() {
        let mut dice = Random::new(5);
        let bytes = 9000;
        for nodes in 2..=20 {
            let roots = [0, nodes / 2, nodes - 1];
            let data =
                |number: u64| -> Vec<u8> { (0..bytes).map(|i| (i as u64 * 7 + number) as u8).collect() };
            let (mut all, mut plans): (Vec<Passing>, Plans) =
                ((0..nodes).map(|_| Passing::default()).collect(), Plans::default());
            let mut got: Vec<Vec<Option<Bytes>>> = vec![vec![None; roots.len()]; nodes];
            let mut air = Vec::new();
            for (number, root) in roots.into_iter().enumerate() {
                let key = Key { kind: Kind::Bcast, root, elements: bytes, unit: 1 };
                let plan = Arc::new(Plan::new(key, nodes, true));
                let mut instance = Instance::new(plan, Rank(root as u32), 1, None, data(number as u64));
                assert!(instance.advance(|sent| air.push(flying(number as u64, &sent))));
                got[root][number] = Some(data(number as u64).into());
            }
            while !air.is_empty() {
                let at = dice.below(air.len());
                let message: Flying = if dice.below(5) == 0 { air[at].clone() } else { air.swap_remove(at) };
                let Flying { to, number, is_described, part: (slot, turn, at, data) } = message;
                if !is_described {
                    got[to][number as usize] = Some(data);
                    continue;
                }
                let here = position(to, nodes);
                all[to]
                    .begin(number, broadcast(roots[number as usize], bytes), &mut HashMap::new(), &here)
                    .unwrap();
                all[to].get_mut(number).unwrap().take_in(slot, turn, at, data).unwrap();
                all[to]
                    .advance(&here, &mut plans, |number, description, sent| {
                        assert_eq!(description, broadcast(roots[number as usize], bytes));
                        air.push(flying(number, &sent));
                    })
                    .unwrap();
            }
            for node in 0..nodes {
                for (number, root) in roots.into_iter().enumerate() {
                    if let Some(running) = all[node].take(number as u64, broadcast(root, bytes)).unwrap() {
                        got[node][number] = Some(running.into_result().expect("all of it has come"));
                    }
                    assert_eq!(
                        got[node][number],
                        Some(data(number as u64).into()),
                        "node {node} of {nodes}, from {root}"
                    );
                }
            }
        }
    }

    #[test]
    fn ranks_that_call_something_else_are_told() {
        let here = position(1, 4);
        for called in [
            broadcast(0, 99),
            broadcast(2, 100),
            Description { kind: Kind::Allreduce, operator: 3, ..broadcast(0, 100) },
        ] {
            let mut passing = Passing::default();
            passing.begin(7, broadcast(0, 100), &mut HashMap::new(), &here).unwrap();
            let Err(why) = passing.take(7, called) else { panic!("{called:?} was accepted") };
            assert!(why.contains("MPI_Bcast of 100 bytes with member 0 of node 0"), "{why}");
        }
        let mut passing = Passing::default();
        for wrong in
            [broadcast(1, 100), broadcast(4, 100), Description { kind: Kind::Reduce, ..broadcast(0, 100) }]
        {
            assert!(passing.begin(7, wrong, &mut HashMap::new(), &here).is_err());
        }
        assert!(passing.take(7, broadcast(0, 100)).unwrap().is_none());
    }
}
