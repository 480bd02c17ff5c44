//! One rank's part in a direct collective, without any waiting: what it says, and whether it has what it
//! needs.

use super::answer::{Aligned, combine, result};
use super::description::Description;
use crate::collective::call::CollectiveKind;
use evenkeel_segment::statements::Statements;
use evenkeel_segment::sync::Words;

/// What is to be sent.
#[derive(Clone, Copy)]
pub enum Outgoing<'a> {
    /// What this node says in the collective, to one node of the communicator.
    ToHub(usize, Description, &'a Aligned),
    /// The same, to all other nodes.
    ToOthers(Description, &'a Aligned),
    /// To all other nodes: how many collectives the ranks here have finished.
    Credit(u64),
}

/// How far a collective has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This rank's part is over.
    Done,
    /// It waits for ranks of this node.
    AwaitsRanks,
    /// It waits for what other nodes say.
    AwaitsNodes,
}

/// Another node, or a rank here, takes part in another collective than this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The node, among those of the communicator.
    pub node: usize,
    /// What is called there.
    pub theirs: Description,
}

/// One rank's part in a direct collective.
pub struct DirectCollective {
    number: u64,
    description: Description,
    /// This rank among the members here.
    me: usize,
    /// This node among those of the communicator.
    here: usize,
    has_begun: bool,
    is_over: bool,
    /// What this rank contributes; at the end the result.
    data: Aligned,
    /// Ranks of this node may sleep for what this rank has just done.
    news: bool,
}

impl DirectCollective {
    /// Collective `number` of the communicator. `data`: what this rank contributes, if it contributes.
    pub fn new(number: u64, description: Description, me: usize, here: usize, data: Aligned) -> Self {
        DirectCollective {
            number,
            description,
            me,
            here,
            has_begun: false,
            is_over: false,
            data,
            news: false,
        }
    }

    /// What it is.
    pub fn description(&self) -> Description {
        self.description
    }

    /// Its number among those of the communicator.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The result, once it is over, at a rank that needs one.
    pub fn data(&self) -> &Aligned {
        &self.data
    }

    /// Whether this rank has done something, since it was asked last, that ranks of this node may sleep for.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }

    fn is_hub(&self) -> bool {
        self.here == self.description.hub
    }

    fn is_root(&self) -> bool {
        self.is_hub() && self.me == self.description.root
    }

    /// Whether this rank needs something of others.
    pub(super) fn needs_result(&self) -> bool {
        match self.description.kind {
            CollectiveKind::Reduce => self.is_root(),
            CollectiveKind::Bcast => !self.is_root(),
            _ => true,
        }
    }

    /// Does what can be done now. `send` sends to other nodes; `parts` is room to work in.
    ///
    /// # Errors
    /// If it sees that another collective is called elsewhere.
    pub fn poll<M: Words>(
        &mut self,
        statements: &Statements<M>,
        parts: &mut Vec<Aligned>,
        mut send: impl FnMut(Outgoing<'_>),
    ) -> Result<Progress, Mismatch> {
        if self.is_over {
            return Ok(Progress::Done);
        }
        if !self.has_begun {
            if let Some(waits) = self.lacks_room(statements) {
                return Ok(waits);
            }
            self.contribute(statements, parts, &mut send)?;
            self.has_begun = true;
        }
        if self.needs_result() {
            if let Some(waits) = self.take_result(statements, parts, &mut send)? {
                return Ok(waits);
            }
        }
        self.is_over = true;
        if let Some(finished) = statements.leave(self.number) {
            self.news = true;
            if self.description.synchronizes() {
                statements.note_announced(self.number); // as what all nodes have said here tells them
            } else if statements.claim_announcement(finished, statements.geometry.window / 2) {
                send(Outgoing::Credit(finished));
            }
        }
        Ok(Progress::Done)
    }

    /// What has to end before this rank may begin, if anything.
    fn lacks_room<M: Words>(&self, statements: &Statements<M>) -> Option<Progress> {
        if !statements.has_room_here(self.number) {
            return Some(Progress::AwaitsRanks);
        }
        // Of all nodes, also of those that this one tells nothing: a node that lacks something can only be
        // answered while what all have said is still there.
        (!statements.may_begin(self.number, self.here)).then_some(Progress::AwaitsNodes)
    }

    fn contribute<M: Words>(
        &mut self,
        statements: &Statements<M>,
        parts: &mut Vec<Aligned>,
        send: &mut impl FnMut(Outgoing<'_>),
    ) -> Result<(), Mismatch> {
        let (number, description, here) = (self.number, self.description, self.here);
        let (word, bytes) = (description.to_word(), description.bytes);
        if !description.gathers() {
            if self.is_root() {
                statements.state(number, here, word, &self.data.0[..bytes]);
                send(Outgoing::ToOthers(description, &self.data));
                self.news = true;
            }
            return Ok(());
        }
        statements.deposit(number, self.me, word, &self.data.0[..bytes]);
        if !statements.arrive(number) {
            return Ok(());
        }
        parts.clear();
        for member in 0..statements.geometry.members {
            let mut part = Aligned::default();
            let theirs = statements.deposited(number, member, bytes, &mut part.0);
            if theirs != word {
                return Err(Mismatch { node: here, theirs: Description::from_word(theirs) });
            }
            parts.push(part);
        }
        let part = combine(description, parts).expect("the operator and the length are the call's");
        statements.state(number, here, word, &part.0[..bytes]);
        self.news = true;
        if description.is_exchange(statements.geometry.nodes) {
            send(Outgoing::ToOthers(description, &part));
        } else if !self.is_hub() {
            send(Outgoing::ToHub(description.hub, description, &part));
        }
        Ok(())
    }

    /// Takes the result. What has to happen before, if it is not there.
    fn take_result<M: Words>(
        &mut self,
        statements: &Statements<M>,
        parts: &mut Vec<Aligned>,
        send: &mut impl FnMut(Outgoing<'_>),
    ) -> Result<Option<Progress>, Mismatch> {
        let (number, description) = (self.number, self.description);
        let word = description.to_word();
        let waits_here = match description.gathers() {
            // A rank here may be about to write it, and wakes the others when it has.
            true => !statements.is_whole(number, self.here, description.bytes),
            false => self.is_hub(),
        };
        let waits = if waits_here { Progress::AwaitsRanks } else { Progress::AwaitsNodes };
        let speaks = |node: usize| match statements.described(number, node) {
            Some(theirs) if theirs != word => Err(Mismatch { node, theirs: Description::from_word(theirs) }),
            said => Ok(said.is_some()),
        };
        let nodes = statements.geometry.nodes;
        if description.computes(self.here, nodes) {
            for node in 0..nodes {
                if !speaks(node)? {
                    return Ok(Some(waits));
                }
            }
            let Some(result) = result(statements, number, description, parts) else {
                return Ok(Some(waits));
            };
            self.data = result;
            let answers = description.answers() && !description.is_exchange(nodes);
            if answers && statements.claim_answer(number) {
                send(Outgoing::ToOthers(description, &result));
                self.news = true;
            }
        } else if !speaks(description.hub)?
            || !statements.read(number, description.hub, description.bytes, &mut self.data.0)
        {
            return Ok(Some(waits));
        }
        Ok(None)
    }
}
