//! The roles of a node, and which role takes which message.

use crate::context::Context;
use crate::dissemination::Disseminator;
use crate::message::{Body, Decide, Prepare};
use crate::operation::OperationNumber;
use crate::origin::Origin;
use crate::participant::Participant;
use crate::sequencer::Sequencer;
use crate::settings::Settings;
use crate::view::{View, Viewstamp};
use crate::view_change::ViewChange;
use evenkeel_fabric::NodeId;
use std::time::Duration;

/// Every node has all roles. Only the current sequencer orders operations.
#[derive(Default)]
pub(crate) struct Roles {
    pub origin: Origin,
    pub participant: Participant,
    pub disseminator: Disseminator,
    sequencer: Sequencer,
    view_change: ViewChange,
}

impl Roles {
    /// Follows a higher view from now on.
    fn follow(&mut self, context: &mut Context, view: View) {
        if view > *context.view {
            self.view_change.adopt(context, view);
            self.sequencer.step_down(context);
            self.origin.change_view(context, &mut self.disseminator);
        }
    }

    /// An operation is requested of this node, which has no right to order yet. While it campaigns, the
    /// request will come again. A campaign that was lost is begun anew, and the origin is told which node
    /// it did not reach.
    fn request_too_early(&mut self, context: &mut Context, from: NodeId, number: OperationNumber) {
        let Some(lacking) = self.view_change.lacking(context) else { return };
        self.sequencer.refuse(context, from, number, lacking);
        if self.view_change.campaign(context) {
            self.sequencer.begin(*context.view);
        }
    }

    /// Takes a message.
    pub fn receive(&mut self, context: &mut Context, from: NodeId, message: Body) {
        if let Body::Prepare(Prepare { stamp, .. }) | Body::Decide(Decide { stamp, .. }) = message {
            self.follow(context, stamp.view());
        }
        match message {
            Body::Request { .. } | Body::Underway { .. } | Body::Outcome { .. } => {
                self.receive_of_origins(context, from, message)
            }
            Body::Chunk(_) | Body::ChunkProgress(_) | Body::ChunkLost { .. } => {
                self.receive_of_transfers(context, from, message)
            }
            Body::Vote { stamp, .. } | Body::Ack { stamp, .. } | Body::Inquiry { stamp }
                if context.sequencer_of(stamp) == context.node =>
            {
                self.receive_as_sequencer(context, from, stamp, message)
            }
            Body::Prepare(_)
            | Body::Vote { .. }
            | Body::Busy { .. }
            | Body::Decide(_)
            | Body::Ack { .. }
            | Body::Inquiry { .. }
            | Body::InquiryAnswer { .. }
            | Body::FinalDecision { .. } => self.receive_as_participant(context, from, message),
            _ => self.receive_of_views(context, from, message),
        }
    }

    /// Between origins and the sequencer.
    fn receive_of_origins(&mut self, context: &mut Context, from: NodeId, message: Body) {
        match message {
            Body::Request { .. } if context.sequencer() != context.node => {
                context.send(from, Body::NewView { view: *context.view })
            }
            Body::Request { number, .. }
                if !self.view_change.may_order(context) && !self.sequencer.knows(from, number) =>
            {
                self.request_too_early(context, from, number)
            }
            Body::Request { number, settled, set, operation } => {
                self.sequencer.request(context, from, number, settled, set, operation)
            }
            Body::Outcome { number, outcome } => {
                self.origin.conclude(context, &mut self.disseminator, number, outcome)
            }
            _ => {} // a sign of life, which has been noted
        }
    }

    fn receive_of_transfers(&mut self, context: &mut Context, from: NodeId, message: Body) {
        match message {
            Body::Chunk(chunk) => return self.disseminator.receive(context, from, chunk),
            Body::ChunkProgress(progress) => self.disseminator.progress(context, from, progress),
            Body::ChunkLost { key, node } => self.disseminator.lose(context, key, node),
            _ => {}
        }
        self.origin.take_disseminated(context, &mut self.disseminator);
    }

    /// About an operation that this node has ordered.
    fn receive_as_sequencer(&mut self, context: &mut Context, from: NodeId, stamp: Viewstamp, message: Body) {
        match message {
            Body::Vote { vote, .. } => self.sequencer.add_vote(context, from, stamp, vote),
            Body::Ack { ack, .. } => self.sequencer.add_ack(context, from, stamp, ack),
            _ => self.sequencer.inquire(context, from, stamp),
        }
    }

    fn receive_as_participant(&mut self, context: &mut Context, from: NodeId, message: Body) {
        let participant = &mut self.participant;
        match message {
            Body::Prepare(prepare) => participant.prepare(context, from, prepare),
            Body::Vote { stamp, vote } => participant.add_vote(context, from, stamp, vote),
            Body::Decide(decide) => participant.decide(context, from, decide),
            Body::Ack { stamp, ack } => participant.add_ack(context, from, stamp, ack),
            Body::Inquiry { stamp } => participant.inquire(context, from, stamp),
            Body::InquiryAnswer { stamp, knowledge } => {
                participant.inquiry_answered(context, from, stamp, knowledge)
            }
            Body::FinalDecision { stamp, commit } => participant.decide_finally(context, stamp, commit),
            _ => {} // busy: a sign of life, which has been noted
        }
    }

    /// About the sequencer's life, and who succeeds it.
    fn receive_of_views(&mut self, context: &mut Context, from: NodeId, message: Body) {
        let current = *context.view;
        match message {
            Body::Suspect { view } if view == current => self.view_change.suspect(context, true),
            Body::Suspect { view } if view < current => context.send(from, Body::NewView { view: current }),
            Body::Probe if context.sequencer() == context.node => context.send(from, Body::Alive),
            Body::Probe => context.send(from, Body::NewView { view: current }),
            Body::Alive => self.view_change.alive(context, from),
            Body::Campaign { view } => {
                let is_higher = self.view_change.campaign_of(context, from, view);
                if is_higher {
                    self.follow(context, view);
                }
            }
            Body::Promise { view } => {
                let has_won = self.view_change.add_promise(context, from, view);
                if has_won {
                    self.sequencer.begin(view);
                }
            }
            Body::NewView { view } => self.follow(context, view),
            _ => {} // another node suspects the sequencer of a view of which this one has not heard
        }
    }

    /// Does what is due.
    pub fn tick(&mut self, context: &mut Context) {
        self.disseminator.tick(context);
        self.origin.tick(context, &mut self.disseminator);
        self.participant.tick(context);
        self.sequencer.tick(context);
        if self.origin.has_waited_long(context) {
            self.view_change.suspect(context, false);
        }
        if let Some(view) = self.view_change.tick(context) {
            self.follow(context, view);
            if self.view_change.campaign(context) {
                self.sequencer.begin(view);
            }
        }
    }

    /// When `tick` has to be called next; None: not before something arrives.
    pub fn next_due(&self, node: NodeId, nodes: usize, settings: &Settings) -> Option<Duration> {
        let orders = |stamp: Viewstamp| stamp.view().sequencer(nodes) == node;
        let due = [
            self.origin.next_due(),
            self.participant.next_due(settings.limit, orders),
            self.sequencer.next_due(),
            self.view_change.next_due(),
            self.disseminator.next_due(settings.limit),
        ];
        due.into_iter().flatten().min()
    }
}
