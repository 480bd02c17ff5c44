//! Which node orders operations when the sequencer falls silent: the next living one.
//!
//! A node that waits in vain for half of the limit for the sequencer's answer tells all others, and all
//! nodes ask the sequencer for a sign of life. A node that gets none for the limit *campaigns* for its
//! own next view: the first node after the silent one at once, each further one half a limit later. Nodes
//! that hear of a higher view than theirs follow it, and *never again* a lower one: they refuse to take
//! part in anything that is ordered there. A campaign is won with the promises of a majority of all nodes
//! that have not been declared dead.
//!
//! What the silent sequencer had under way is not taken over: nodes in doubt settle it among themselves
//! (see [`participant`](crate::participant)), and what conflicts with it waits for that. The origin of an
//! operation there is told that its outcome is unknown, since requested again it might be carried out
//! twice. (Views and promises are those of viewstamped replication, Oki and Liskov 1988. Only the right
//! to order is replicated here, because each node keeps what it has voted for.)
//!
//! May use: the context, collectors. Must never: settle an operation.

use crate::collector::Collector;
use crate::context::Context;
use crate::message::Body;
use crate::view::View;
use evenkeel_fabric::NodeId;
use std::collections::BTreeSet;
use std::time::Duration;

/// What a node does about the sequencer.
enum Stance {
    /// It follows the sequencer, or is the sequencer.
    Following,
    /// It has asked the sequencer for a sign of life.
    Probing(Collector<()>),
    /// It takes the sequencer for dead, and lets the nodes before it campaign until then.
    Deferring(Duration),
    /// It campaigns.
    Campaigning { promises: Collector<()>, promised: BTreeSet<NodeId> },
    /// Its campaign did not reach enough nodes; this is one of those that it did not reach.
    Defeated(NodeId),
}

/// A node's part in changes of the view.
pub(crate) struct ViewChange {
    stance: Stance,
    /// The view in which this node may order. Node 0 may order in view 0 without a campaign.
    established: View,
}

impl Default for ViewChange {
    fn default() -> ViewChange {
        ViewChange { stance: Stance::Following, established: View::default() }
    }
}

/// All other nodes that have not been declared dead.
fn others(context: &Context) -> Vec<NodeId> {
    let all = (0..context.nodes as u32).map(NodeId);
    all.filter(|&node| node != context.node && !context.evicted.contains(&node)).collect()
}

impl ViewChange {
    /// Whether this node has the right to order in the current view, if that is one of its own.
    pub fn may_order(&self, context: &Context) -> bool {
        self.established == *context.view
    }

    /// The sequencer does not answer this node; or, if `is_told`, another node says that of itself.
    pub fn suspect(&mut self, context: &mut Context, is_told: bool) {
        let sequencer = context.sequencer();
        if sequencer == context.node || !matches!(self.stance, Stance::Following) {
            return;
        }
        self.stance = Stance::Probing(Collector::new(&[sequencer], context));
        context.send(sequencer, Body::Probe);
        if !is_told {
            for other in others(context).into_iter().filter(|&other| other != sequencer) {
                context.send(other, Body::Suspect { view: *context.view });
            }
        }
    }

    /// A node has given a sign of life.
    pub fn alive(&mut self, context: &Context, from: NodeId) {
        if from == context.sequencer() && matches!(self.stance, Stance::Probing(_) | Stance::Deferring(_)) {
            self.stance = Stance::Following;
        }
    }

    /// Another node campaigns for a view, and asks for this one's promise. True: this node has to follow that
    /// view from now on.
    pub fn campaign_of(&mut self, context: &mut Context, from: NodeId, view: View) -> bool {
        if view < *context.view {
            context.send(from, Body::NewView { view: *context.view });
            return false;
        }
        let is_higher = view > *context.view;
        context.send(from, Body::Promise { view });
        is_higher
    }

    /// Follows a higher view from now on.
    pub fn adopt(&mut self, context: &mut Context, view: View) {
        *context.view = view;
        self.stance = Stance::Following;
    }

    /// A node has given its promise. True: this node orders from now on.
    pub fn add_promise(&mut self, context: &Context, from: NodeId, view: View) -> bool {
        if view != *context.view {
            return false;
        }
        let Stance::Campaigning { promises, promised } = &mut self.stance else { return false };
        promises.add(from, ());
        promised.insert(from);
        self.has_won(context)
    }

    fn has_won(&mut self, context: &Context) -> bool {
        let Stance::Campaigning { promised, .. } = &self.stance else { return false };
        let members = context.nodes - context.evicted.len();
        let has_won = promised.iter().filter(|node| !context.evicted.contains(node)).count() > members / 2;
        if has_won {
            self.established = *context.view;
            self.stance = Stance::Following;
        }
        has_won
    }

    /// Does what is due. Returns the view for which this node has to campaign now, if any.
    pub fn tick(&mut self, context: &mut Context) -> Option<View> {
        let sequencer = context.sequencer();
        match &mut self.stance {
            Stance::Following | Stance::Deferring(_) | Stance::Defeated(_) => {}
            Stance::Probing(probe) => {
                let is_due = !probe.due(context).is_empty();
                if probe.is_complete() {
                    let earlier = nodes_before(context) as u32;
                    self.stance = Stance::Deferring(context.now + context.settings.limit / 2 * earlier);
                } else if is_due {
                    context.send(sequencer, Body::Probe);
                }
            }
            Stance::Campaigning { promises, .. } => {
                let view = *context.view;
                for node in promises.due(context) {
                    context.send(node, Body::Campaign { view });
                }
                if promises.is_complete() {
                    // Too few nodes could be heard. The next request makes this node try again.
                    let lacking = promises.silent.first().copied().unwrap_or(context.node);
                    self.stance = Stance::Defeated(lacking);
                }
            }
        }
        match self.stance {
            Stance::Deferring(until) if until <= context.now => {
                Some(context.view.next_of(context.node, context.nodes))
            }
            _ => None,
        }
    }

    /// A node that this one's campaign did not reach, if the campaign was lost.
    pub fn lacking(&self, context: &Context) -> Option<NodeId> {
        match self.stance {
            Stance::Defeated(lacking) => Some(lacking),
            // The view came to this node without a campaign of its own. No other node orders in it.
            Stance::Following if context.sequencer() == context.node => Some(context.node),
            _ => None,
        }
    }

    /// Asks all nodes for their promise, in a view that this node has adopted. True: it needs no promise
    /// but its own.
    pub fn campaign(&mut self, context: &mut Context) -> bool {
        let others = others(context);
        for &other in &others {
            context.send(other, Body::Campaign { view: *context.view });
        }
        self.stance = Stance::Campaigning {
            promises: Collector::new(&others, context),
            promised: BTreeSet::from([context.node]),
        };
        self.has_won(context)
    }

    /// When `tick` has to be called next.
    pub fn next_due(&self) -> Option<Duration> {
        match &self.stance {
            Stance::Following | Stance::Defeated(_) => None,
            Stance::Probing(collector) | Stance::Campaigning { promises: collector, .. } => {
                collector.next_due()
            }
            Stance::Deferring(until) => Some(*until),
        }
    }
}

/// How many living nodes come before this one after the sequencer.
fn nodes_before(context: &Context) -> usize {
    (1..context.nodes as u64)
        .map(|views| context.view.after(views).sequencer(context.nodes))
        .take_while(|&node| node != context.node)
        .filter(|node| !context.evicted.contains(node))
        .count()
}
