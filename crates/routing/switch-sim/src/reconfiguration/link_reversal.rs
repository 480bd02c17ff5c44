//! Reverses links whose two switches communicate by messages only.
//!
//! When its prerequisites are met, a switch marks the links that it has to reverse as *reversing*, and
//! sends a message to the switch at the other end of each. That switch reverses its end at once and
//! answers. When all have answered, the first switch reverses its ends too. At every moment, the turns that
//! are made are some of the old directions and some of the new ones, and the two meet only at links that
//! are reversing. So they never close a cycle ([`super::reversal_exploration`] tries every order).

use super::directed_graph::DirectedGraph;
use super::link_direction::LinkDirection;
use super::region_merge::RegionMerge;
use super::switch_tables::SwitchTables;
use std::collections::BTreeMap;

/// The progress of a merge.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LinkReversal {
    /// By switch that has not begun: the links that it reverses, and how many prerequisites are missing.
    pub(super) waiting: BTreeMap<u32, (Vec<u32>, u32)>,
    /// By switch that has begun: how many answers are missing.
    missing_answers: BTreeMap<u32, u32>,
}

/// Messages between the two ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ReversalMessage {
    /// Reverse this link.
    Reverse(u32),
    /// This link is reversed at the sender.
    Reversed(u32),
}

impl LinkReversal {
    /// A merge that has not begun.
    pub(super) fn new(merge: &RegionMerge) -> LinkReversal {
        LinkReversal {
            waiting: merge.reversals.iter().map(|t| (t.switch, (t.links.clone(), t.prerequisites))).collect(),
            missing_answers: BTreeMap::new(),
        }
    }

    /// Whether all links are reversed.
    pub(super) fn is_finished(&self) -> bool {
        self.waiting.is_empty() && self.missing_answers.is_empty()
    }

    /// Lets a switch begin, if its prerequisites are met. Returns the messages that it sends.
    pub(super) fn begin(
        &mut self,
        s: u32,
        graph: &DirectedGraph,
        tables: &mut SwitchTables,
    ) -> Vec<ReversalMessage> {
        if self.waiting.get(&s).is_none_or(|(_, prerequisites)| *prerequisites > 0) {
            return Vec::new();
        }
        let (links, _) = self.waiting.remove(&s).expect("the switch was just found");
        if !links.is_empty() {
            self.missing_answers.insert(s, links.len() as u32);
        }
        for link in &links {
            let channel = tables.channel(graph, *link, s);
            tables.direction[channel] = LinkDirection::Reversing;
        }
        links.into_iter().map(ReversalMessage::Reverse).collect()
    }

    /// A switch receives a message. Returns its answer. Its own prerequisites may be met now: call
    /// [`LinkReversal::begin`] afterwards.
    pub(super) fn receive(
        &mut self,
        s: u32,
        message: ReversalMessage,
        graph: &mut DirectedGraph,
        tables: &mut SwitchTables,
    ) -> Option<ReversalMessage> {
        match message {
            ReversalMessage::Reverse(link) => {
                let channel = tables.channel(graph, link, s);
                tables.direction[channel] = LinkDirection::Up;
                if let Some((_, prerequisites)) = self.waiting.get_mut(&s) {
                    *prerequisites -= 1;
                }
                Some(ReversalMessage::Reversed(link))
            }
            ReversalMessage::Reversed(_) => {
                let missing = self.missing_answers.get_mut(&s).expect("the switch has begun");
                *missing -= 1;
                if *missing == 0 {
                    self.missing_answers.remove(&s);
                    // All links change together. Until then no turn between two of them is made.
                    for (link, _) in graph.neighbours(s).collect::<Vec<_>>() {
                        let channel = tables.channel(graph, link, s);
                        if tables.direction[channel] == LinkDirection::Reversing {
                            tables.direction[channel] = LinkDirection::Down;
                            graph.second_is_up[link as usize] ^= true;
                        }
                    }
                }
                None
            }
        }
    }
}
