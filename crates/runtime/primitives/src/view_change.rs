//! Who follows when the node that orders operations falls silent: the next that lives.
//!
//! Who waits for an answer of it in vain for half of the limit tells all others, and everybody asks it
//! for a sign of life. A node that gets none for the limit *campaigns* for its own next view: the first
//! after the silent one at once, each further one half a limit later. Nodes that hear of a higher view
//! than theirs follow it, and *never again* a lower one: they refuse to take part in anything that is
//! ordered there. A campaign is won with the promises of more than half of all nodes that have not been
//! declared dead.
//!
//! What the silent one had under way is not taken over: nodes in doubt settle it among themselves
//! (`participant`), and what conflicts with it waits for that. Who had an operation there is told that
//! its outcome is unknown; asked for again it might be carried out twice. (Views and promises as in
//! viewstamped replication, Oki and Liskov 1988; what is replicated here is the right to order alone,
//! for each node keeps what it has voted for.)

use crate::collector::Gather;
use crate::context::Here;
use crate::message::Message;
use crate::view::{View, next_own, sequencer_of};
use evenkeel_fabric::NodeId;
use std::collections::BTreeSet;
use std::time::Duration;

/// What a node does about a sequencer that it does not hear.
enum State {
    Content,
    /// It has been asked for a sign of life.
    Asking(Gather<()>),
    /// It is taken for dead; somebody before this node should have campaigned by then.
    Waiting(Duration),
    Campaigning {
        asked: Gather<()>,
        promised: BTreeSet<NodeId>,
    },
    /// Its campaign did not reach enough nodes, this one among them.
    Lost(NodeId),
}

/// A node's part in it.
pub(crate) struct Succession {
    state: State,
    /// The view in which this node may order; view 0 is node 0's without a campaign.
    pub established: View,
}

impl Default for Succession {
    fn default() -> Succession {
        Succession { state: State::Content, established: 0 }
    }
}

impl Succession {
    fn others(here: &Here) -> Vec<NodeId> {
        (0..here.nodes as u32)
            .map(NodeId)
            .filter(|&node| node != here.node && !here.evicted.contains(&node))
            .collect()
    }

    /// The sequencer does not answer this node; `told`: another node says so of itself.
    pub fn suspect(&mut self, here: &mut Here, told: bool) {
        let leader = here.leader();
        if leader == here.node || !matches!(self.state, State::Content) {
            return;
        }
        self.state = State::Asking(Gather::asking(&[leader], here));
        here.send(leader, Message::Probe);
        if !told {
            for other in Succession::others(here).into_iter().filter(|&other| other != leader) {
                here.send(other, Message::Suspect { view: *here.view });
            }
        }
    }

    /// A sign of life.
    pub fn alive(&mut self, here: &Here, from: NodeId) {
        if from == here.leader() && matches!(self.state, State::Asking(_) | State::Waiting(_)) {
            self.state = State::Content;
        }
    }

    /// Another node asks for this one's promise. True: it has a higher view.
    pub fn campaign(&mut self, here: &mut Here, from: NodeId, view: View) -> bool {
        if view < *here.view {
            here.send(from, Message::View { view: *here.view });
            return false;
        }
        let higher = view > *here.view;
        here.send(from, Message::Promise { view });
        higher
    }

    /// Follows a higher view from now on.
    pub fn adopt(&mut self, here: &mut Here, view: View) {
        *here.view = view;
        self.state = State::Content;
    }

    /// A promise has come. True: this node orders from now on.
    pub fn promise(&mut self, here: &Here, from: NodeId, view: View) -> bool {
        if view != *here.view {
            return false;
        }
        let State::Campaigning { asked, promised } = &mut self.state else { return false };
        asked.answered(from, ());
        promised.insert(from);
        self.won(here)
    }

    fn won(&mut self, here: &Here) -> bool {
        let State::Campaigning { promised, .. } = &self.state else { return false };
        let members = here.nodes - here.evicted.len();
        let won = promised.iter().filter(|node| !here.evicted.contains(node)).count() > members / 2;
        if won {
            self.established = *here.view;
            self.state = State::Content;
        }
        won
    }

    /// What is due: None, or the view that this node now campaigns for.
    pub fn tick(&mut self, here: &mut Here) -> Option<View> {
        let leader = here.leader();
        match &mut self.state {
            State::Content => {}
            State::Asking(asked) => {
                let again = !asked.due(here).is_empty();
                if asked.complete() {
                    let before = (1..here.nodes as u64)
                        .map(|step| sequencer_of(*here.view + step, here.nodes))
                        .take_while(|&node| node != here.node)
                        .filter(|node| !here.evicted.contains(node))
                        .count();
                    self.state = State::Waiting(here.now + here.settings.limit / 2 * before as u32);
                } else if again {
                    here.send(leader, Message::Probe);
                }
            }
            State::Campaigning { asked, .. } => {
                let view = *here.view;
                for node in asked.due(here) {
                    here.send(node, Message::Campaign { view });
                }
                if asked.complete() {
                    // Too few could be heard. Whoever wants something ordered makes this node try again.
                    let lacking = asked.silent.first().copied().unwrap_or(here.node);
                    self.state = State::Lost(lacking);
                }
            }
            State::Waiting(_) | State::Lost(_) => {}
        }
        match self.state {
            State::Waiting(until) if until <= here.now => Some(next_own(*here.view, here.node, here.nodes)),
            _ => None,
        }
    }

    /// A node that this one's campaign did not reach, if it was lost.
    pub fn lost(&self, here: &Here) -> Option<NodeId> {
        match self.state {
            State::Lost(lacking) => Some(lacking),
            // Its view came to it without a campaign of its own; nobody else orders in it.
            State::Content if here.leader() == here.node => Some(here.node),
            _ => None,
        }
    }

    /// Asks all nodes for their promise, in a view that this node has adopted. True: it needs nobody else's.
    pub fn run(&mut self, here: &mut Here) -> bool {
        let others = Succession::others(here);
        for &other in &others {
            here.send(other, Message::Campaign { view: *here.view });
        }
        self.state = State::Campaigning {
            asked: Gather::asking(&others, here),
            promised: BTreeSet::from([here.node]),
        };
        self.won(here)
    }

    /// When `tick` has to be called next.
    pub fn alarm(&self) -> Option<Duration> {
        match &self.state {
            State::Content | State::Lost(_) => None,
            State::Asking(asked) | State::Campaigning { asked, .. } => asked.alarm(),
            State::Waiting(until) => Some(*until),
        }
    }
}
