//! Broadcasts that this node forwards before its ranks have called them.
//!
//! A node that forwards what it gets learns from the message what the collective is, and begins with
//! that. The result stays here until the ranks call it. So a node whose ranks are all late holds up no
//! other node. No node is further ahead than [`run_ahead`](crate::communicator::run_ahead) allows, which
//! bounds how many of these there are.

use crate::communicator::collective::CollectiveUnderWay;
use crate::error::AgentError;
use crate::exchange::schedule::ScheduleCache;
use crate::message::{OutgoingMessage, StepMessage, Stream};
use evenkeel_spanning::{CollectiveKind, NodePosition, PieceDescription};
use std::collections::HashMap;

/// The broadcasts of one stream that no rank here has called.
pub struct ForwardedBroadcasts {
    stream: Stream,
    under_way: HashMap<u64, CollectiveUnderWay>,
}

impl ForwardedBroadcasts {
    /// None so far.
    pub fn new(stream: Stream) -> ForwardedBroadcasts {
        ForwardedBroadcasts { stream, under_way: HashMap::new() }
    }

    /// Begins the broadcast with this number, if it has not begun. `early`: steps of it that came before
    /// and did not say what it is.
    ///
    /// # Errors
    /// If it is nothing that this node could have to forward.
    pub fn begin(
        &mut self,
        number: u64,
        description: PieceDescription,
        early: &mut HashMap<u64, Vec<StepMessage>>,
        position: NodePosition<'_>,
    ) -> Result<(), AgentError> {
        let root = description.root.node as usize;
        if description.kind != CollectiveKind::Bcast
            || root >= position.counts.nodes()
            || root == position.node
        {
            return Err(AgentError::NotForwardable(description));
        }
        self.under_way.entry(number).or_insert_with(|| {
            let early = early.remove(&number).unwrap_or_default();
            CollectiveUnderWay::new(self.stream, number, description, position, early)
        });
        Ok(())
    }

    /// The broadcast with this number.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut CollectiveUnderWay> {
        self.under_way.get_mut(&number)
    }

    /// Forwards what has come. Whether anything happened. Adds what is to be sent to `out`.
    pub fn advance(
        &mut self,
        position: NodePosition<'_>,
        schedules: &mut ScheduleCache,
        out: &mut Vec<OutgoingMessage>,
    ) -> Result<bool, AgentError> {
        let mut moved = false;
        for broadcast in self.under_way.values_mut() {
            moved |= broadcast.forward(position, schedules, out)?;
        }
        Ok(moved)
    }

    /// The ranks here call a collective. Returns what has been done of it, if anything.
    ///
    /// # Errors
    /// If they call another one than its root has.
    pub fn take(
        &mut self,
        number: u64,
        called: PieceDescription,
    ) -> Result<Option<CollectiveUnderWay>, AgentError> {
        let Some(broadcast) = self.under_way.remove(&number) else { return Ok(None) };
        check_agreement(number, called, broadcast.description)?;
        Ok(Some(broadcast))
    }
}

/// Fails unless the ranks here have called what those of another node have.
pub fn check_agreement(
    number: u64,
    here: PieceDescription,
    elsewhere: PieceDescription,
) -> Result<(), AgentError> {
    if here == elsewhere { Ok(()) } else { Err(AgentError::Mismatch { number, here, elsewhere }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::run::ScheduleRun;
    use crate::exchange::schedule::{ExchangeSchedule, ScheduleKey};
    use crate::message::Content;
    use bytes::Bytes;
    use evenkeel_random::Random;
    use evenkeel_schedule::Rank;
    use evenkeel_spanning::{Location, NodeCounts};
    use std::sync::Arc;

    const BYTES: usize = 9000;

    fn broadcast(root: usize, bytes: usize) -> PieceDescription {
        let root = Location { node: root as u32, local_rank: 0 };
        PieceDescription { kind: CollectiveKind::Bcast, root, bytes, operator: 0 }
    }

    fn data(number: usize) -> Bytes {
        (0..BYTES).map(|i| (i * 7 + number) as u8).collect::<Vec<u8>>().into()
    }

    /// What the root of a broadcast sends.
    fn sent_by_root(number: usize, root: usize, nodes: usize) -> Vec<OutgoingMessage> {
        let key = ScheduleKey { kind: CollectiveKind::Bcast, root, elements: BYTES, element_bytes: 1 };
        let schedule = Arc::new(ExchangeSchedule::new(key, nodes, true));
        let mut run = ScheduleRun::new(schedule, Rank(root as u32), 1, None, data(number).to_vec());
        let mut steps = Vec::new();
        assert!(run.advance(&mut steps), "a root waits for no node");
        let message = |outgoing: crate::exchange::run::OutgoingStep| OutgoingMessage {
            to: outgoing.to.0 as usize,
            content: Content::Step {
                stream: Stream::Blocking,
                number: number as u64,
                description: outgoing.receiver_sends.then_some(broadcast(root, BYTES)),
                step: outgoing.step,
            },
        };
        steps.into_iter().map(message).collect()
    }

    /// Broadcasts among nodes of which only the roots have called any.
    struct Uncalled {
        counts: NodeCounts,
        roots: [usize; 3],
        nodes: Vec<(ForwardedBroadcasts, ScheduleCache)>,
        /// What each node has got of each broadcast that it does not forward.
        got: Vec<[Option<Bytes>; 3]>,
    }

    impl Uncalled {
        fn new(nodes: usize) -> Uncalled {
            let node = |_| (ForwardedBroadcasts::new(Stream::Blocking), ScheduleCache::new(nodes, true));
            Uncalled {
                counts: NodeCounts::new(vec![1; nodes]),
                roots: [0, nodes / 2, nodes - 1],
                nodes: (0..nodes).map(node).collect(),
                got: vec![[None, None, None]; nodes],
            }
        }

        fn deliver(&mut self, message: OutgoingMessage, out: &mut Vec<OutgoingMessage>) {
            let OutgoingMessage { to, content } = message;
            let Content::Step { number, description, step, .. } = content else { panic!("{content:?}") };
            let Some(description) = description else {
                self.got[to][number as usize] = Some(step.data);
                return;
            };
            assert_eq!(description, broadcast(self.roots[number as usize], BYTES));
            let here = NodePosition { counts: &self.counts, node: to };
            let (forwarded, schedules) = &mut self.nodes[to];
            forwarded.begin(number, description, &mut HashMap::new(), here).unwrap();
            forwarded.get_mut(number).unwrap().receive(step).unwrap();
            forwarded.advance(here, schedules, out).unwrap();
        }

        /// What a node has of a broadcast when its ranks call it.
        fn call(&mut self, node: usize, number: usize) -> Option<Bytes> {
            let called = broadcast(self.roots[number], BYTES);
            match self.nodes[node].0.take(number as u64, called).unwrap() {
                Some(broadcast) => broadcast.into_result(),
                None => self.got[node][number].clone(),
            }
        }
    }

    /// Messages arrive in any order, and some of them twice. In the end every node that forwards has each
    /// broadcast whole, and every other node has got its message.
    #[test]
    fn broadcasts_that_no_rank_has_called_are_forwarded() {
        let mut random = Random::new(5);
        for nodes in 2..=20 {
            let mut uncalled = Uncalled::new(nodes);
            let mut on_the_way = Vec::new();
            for (number, root) in uncalled.roots.into_iter().enumerate() {
                on_the_way.extend(sent_by_root(number, root, nodes));
                uncalled.got[root][number] = Some(data(number));
            }
            while !on_the_way.is_empty() {
                let at = random.below(on_the_way.len());
                let arrives_again = random.below(5) == 0;
                let message = if arrives_again { on_the_way[at].clone() } else { on_the_way.swap_remove(at) };
                uncalled.deliver(message, &mut on_the_way);
            }
            for (node, number) in (0..nodes).flat_map(|node| [0, 1, 2].map(|number| (node, number))) {
                let got = uncalled.call(node, number);
                assert_eq!(got, Some(data(number)), "broadcast {number} at node {node} of {nodes}");
            }
        }
    }

    #[test]
    fn ranks_that_call_something_else_are_told() {
        let counts = NodeCounts::new(vec![1; 4]);
        let here = NodePosition { counts: &counts, node: 1 };
        let allreduce =
            PieceDescription { kind: CollectiveKind::Allreduce, operator: 3, ..broadcast(0, 100) };
        for called in [broadcast(0, 99), broadcast(2, 100), allreduce] {
            let mut forwarded = ForwardedBroadcasts::new(Stream::Blocking);
            forwarded.begin(7, broadcast(0, 100), &mut HashMap::new(), here).unwrap();
            let Err(error) = forwarded.take(7, called) else { panic!("{called:?} was accepted") };
            let sentence = error.to_string();
            assert!(sentence.contains("MPI_Bcast of 100 bytes with member 0 of node 0"), "{sentence}");
        }
    }

    #[test]
    fn only_broadcasts_from_other_nodes_are_forwarded() {
        let counts = NodeCounts::new(vec![1; 4]);
        let here = NodePosition { counts: &counts, node: 1 };
        let mut forwarded = ForwardedBroadcasts::new(Stream::Blocking);
        let reduce = PieceDescription { kind: CollectiveKind::Reduce, ..broadcast(0, 100) };
        for wrong in [broadcast(1, 100), broadcast(4, 100), reduce] {
            let outcome = forwarded.begin(7, wrong, &mut HashMap::new(), here);
            assert!(matches!(outcome, Err(AgentError::NotForwardable(description)) if description == wrong));
        }
        assert!(forwarded.take(7, broadcast(0, 100)).unwrap().is_none());
    }
}
