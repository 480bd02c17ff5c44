//! A node's part in operations: it says what it thinks of each, waits for the decision, carries it out,
//! and passes all of that up and down the tree.
//!
//! From its vote to the decision a node is *in doubt*: what the operation would change is read by
//! nobody. Should the sequencer fall silent meanwhile, the nodes in doubt settle the matter among
//! themselves. First each *promises* not to follow the sequencer any more. If one of them has carried
//! the operation out, or has given it up, so do all; if all have promised, nobody has carried it out
//! and nobody ever will, so all give it up. (Two-phase commit with cooperative termination: Skeen 1981,
//! Bernstein et al. 1987, chapter 7. The promise is what keeps a sequencer that was only cut off from
//! being obeyed late.)

use crate::collector::Gather;
use crate::context::Here;
use crate::message::{Ack, Message, Told, Turn, Vote};
use crate::operation::{EventId, NodeSet, Operation};
use crate::tree::{below, children};
use crate::view::{View, view_of};
use evenkeel_fabric::NodeId;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waits until an earlier one is out of doubt.
    Blocked,
    /// Has voted, or is about to; follows the sequencer.
    Prepared,
    /// In doubt, and follows the sequencer no more.
    Promised,
    Applied,
    Aborted,
    /// A comparison without a write: nothing to decide.
    Read,
}

impl State {
    fn in_doubt(self) -> bool {
        matches!(self, State::Prepared | State::Promised)
    }

    fn settled(self) -> bool {
        matches!(self, State::Applied | State::Aborted | State::Read)
    }
}

/// A vote being gathered.
struct Voting {
    asker: NodeId,
    below: Gather<Vote>,
    sent: Option<Vote>,
}

/// A decision being passed on.
struct Deciding {
    decider: NodeId,
    commit: bool,
    below: Gather<Ack>,
}

struct Record {
    set: NodeSet,
    /// None: others asked about it before the sequencer did.
    operation: Option<Operation>,
    state: State,
    since: Duration,
    own: Option<Vote>,
    /// The bytes of a transfer whose data came ahead; from this node's vote on they are the operation's.
    data: Vec<u8>,
    voting: Option<Voting>,
    deciding: Option<Deciding>,
    told: BTreeMap<NodeId, Told>,
    ask_again: Duration,
}

impl Record {
    fn new(set: NodeSet, operation: Option<Operation>, state: State, now: Duration) -> Record {
        Record {
            set,
            operation,
            state,
            since: now,
            own: None,
            data: Vec::new(),
            voting: None,
            deciding: None,
            told: BTreeMap::new(),
            ask_again: now,
        }
    }
}

/// What a node knows of the operations that it takes part in.
#[derive(Default)]
pub(crate) struct Participant {
    records: BTreeMap<Turn, Record>,
    /// Of each view: all turns below are settled everywhere.
    horizons: BTreeMap<View, Turn>,
}

impl Participant {
    /// Whether nothing that is in doubt would change these bytes.
    pub fn readable(&self, range: &Range<usize>) -> bool {
        let range = std::slice::from_ref(range);
        let in_doubt = |record: &&Record| record.state.in_doubt();
        !self
            .records
            .values()
            .filter(in_doubt)
            .filter_map(|record| record.operation.as_ref())
            .any(|operation| crate::operation::overlap(&operation.touches(), range))
    }

    /// How many operations it remembers.
    pub fn remembered(&self) -> usize {
        self.records.len()
    }

    /// All turns of the same view below this one are settled everywhere.
    fn horizon(&self, turn: Turn) -> Turn {
        self.horizons.get(&view_of(turn)).copied().unwrap_or_default()
    }

    fn forget(&mut self, horizon: Turn) {
        let view = view_of(horizon);
        let known = self.horizons.entry(view).or_default();
        *known = horizon.max(*known);
        let horizon = *known;
        self.records
            .retain(|&turn, record| view_of(turn) != view || turn >= horizon || !record.state.settled());
    }

    // ---- voting ----

    pub fn prepare(
        &mut self,
        here: &mut Here,
        from: NodeId,
        turn: Turn,
        horizon: Turn,
        set: NodeSet,
        operation: Operation,
    ) {
        self.forget(horizon);
        if let Some(record) = self.records.get_mut(&turn) {
            if let Some(voting) = &mut record.voting {
                voting.asker = from;
                let answer = voting.sent.map_or(Message::Busy { turn }, |vote| Message::Vote { turn, vote });
                here.send(from, answer);
            } else {
                here.send(from, Message::Vote { turn, vote: Vote::Refused(here.node) });
            }
            return;
        }
        if turn < self.horizon(turn) {
            return;
        }
        if view_of(turn) < *here.view && here.settings.rules.fenced {
            here.send(from, Message::Vote { turn, vote: Vote::Refused(here.node) });
            return here.send(here.sequencer(turn), Message::View { view: *here.view });
        }
        let down = children(&set, here.sequencer(turn), here.node, here.settings.fanout);
        // The sequencer asks itself as one of those below it, and asks the others itself.
        let down = if here.node == here.sequencer(turn) { Vec::new() } else { down };
        for &child in &down {
            here.send(
                child,
                Message::Prepare {
                    turn,
                    horizon: self.horizon(turn),
                    set: set.clone(),
                    operation: operation.clone(),
                },
            );
        }
        let mut record = Record::new(set, Some(operation), State::Blocked, here.now);
        record.voting = Some(Voting { asker: from, below: Gather::asking(&down, here), sent: None });
        self.records.insert(turn, record);
        self.evaluate(here, turn);
        self.report(here, turn);
    }

    /// Forms this node's own opinion, unless that depends on what is in doubt.
    fn evaluate(&mut self, here: &mut Here, turn: Turn) {
        let operation = self.records[&turn].operation.clone().expect("what is evaluated has been asked for");
        let depends = |(&other, record): (&Turn, &Record)| {
            other != turn
                && record.state.in_doubt()
                && record.operation.as_ref().is_some_and(|other| other.conflicts(&operation))
        };
        if here.settings.rules.reads_wait && self.records.iter().any(depends) {
            return;
        }
        let mut data = Vec::new();
        let mut lacking = false;
        let holds = match &operation {
            Operation::Xfer { .. } => true,
            Operation::Staged { length, origin, number, .. } => {
                data = here.staged.remove(&(*origin, *number, 0)).unwrap_or_default();
                data.append(&mut here.staged.remove(&(*origin, *number, 1)).unwrap_or_default());
                // nothing was heard of it for so long that it was forgotten
                lacking = data.len() != *length && here.settings.rules.data_first;
                !lacking
            }
            Operation::Compare { variable, comparison, value, .. } => {
                comparison.holds(here.memory.load(*variable), *value)
            }
        };
        let record = self.records.get_mut(&turn).expect("looked at above");
        record.since = here.now;
        record.data = data;
        record.own = Some(match (holds, lacking) {
            (true, _) => Vote::Yes,
            (false, true) => Vote::Refused(here.node),
            (false, false) => Vote::No,
        });
        record.state = match (operation.writes(), holds) {
            (false, _) => State::Read,
            (true, true) => State::Prepared,
            (true, false) => State::Aborted,
        };
        if record.state == State::Prepared && !here.settings.rules.all_or_none {
            self.settle(here, turn, true);
        }
    }

    /// Sends the vote of this part of the tree up, once there is one.
    fn report(&mut self, here: &mut Here, turn: Turn) {
        let Some(record) = self.records.get_mut(&turn) else { return };
        let (Some(own), Some(voting)) = (record.own, &mut record.voting) else { return };
        if voting.sent.is_some() {
            return;
        }
        let silent = voting.below.silent.iter().map(|&node| Vote::Silent(node));
        let vote = voting.below.answers.iter().map(|&(_, vote)| vote).chain(silent).fold(own, Vote::and);
        // One that does not agree is enough; for agreement all are needed.
        if vote != Vote::Yes || voting.below.complete() {
            voting.sent = Some(vote);
            here.send(voting.asker, Message::Vote { turn, vote });
        }
    }

    pub fn vote(&mut self, here: &mut Here, from: NodeId, turn: Turn, vote: Vote) {
        if let Some(voting) = self.records.get_mut(&turn).and_then(|record| record.voting.as_mut()) {
            voting.below.answered(from, vote);
            self.report(here, turn);
        }
    }

    // ---- the decision ----

    #[allow(clippy::too_many_arguments, reason = "the parts of one message")]
    pub fn decide(
        &mut self,
        here: &mut Here,
        from: NodeId,
        turn: Turn,
        horizon: Turn,
        set: NodeSet,
        commit: bool,
        alone: bool,
    ) {
        if !self.records.contains_key(&turn) {
            if turn < self.horizon(turn) {
                // Settled, acknowledged and forgotten; the acknowledgement was lost. The sequencer knows what
                // became of it.
                return here.send(from, Message::Ack { turn, ack: Ack { alone, ..Ack::default() } });
            }
            if commit {
                return; // cannot be: nothing is carried out without this node's vote
            }
            self.records.insert(turn, Record::new(set.clone(), None, State::Aborted, here.now));
        }
        match self.records[&turn].state {
            State::Prepared => self.settle(here, turn, commit),
            State::Blocked if !commit => self.settle(here, turn, false),
            State::Promised if !here.settings.rules.promises => self.settle(here, turn, commit),
            _ => {}
        }
        let below_horizon = self.horizon(turn);
        let record = self.records.get_mut(&turn).expect("inserted above");
        if alone {
            let applied = record.state == State::Applied;
            let ack = Ack { alone, applied, overruled: commit && !applied, missing: Vec::new() };
            here.send(
                from,
                if record.state.settled() { Message::Ack { turn, ack } } else { Message::Busy { turn } },
            );
            return self.forget(horizon);
        }
        match &mut record.deciding {
            Some(deciding) => deciding.decider = from,
            None => {
                let down = if here.node == here.sequencer(turn) {
                    Vec::new()
                } else {
                    children(&set, here.sequencer(turn), here.node, here.settings.fanout)
                };
                for &child in &down {
                    here.send(
                        child,
                        Message::Decide {
                            turn,
                            horizon: below_horizon,
                            set: set.clone(),
                            commit,
                            alone: false,
                        },
                    );
                }
                record.deciding =
                    Some(Deciding { decider: from, commit, below: Gather::asking(&down, here) });
                if !down.is_empty() {
                    return self.forget(horizon); // who asks once does not want to hear that it takes a while
                }
            }
        }
        self.acknowledge(here, turn);
        self.forget(horizon);
    }

    /// Says what became of the decision in this part of the tree, or that this is not known yet.
    fn acknowledge(&mut self, here: &mut Here, turn: Turn) {
        let Some(record) = self.records.get(&turn) else { return };
        let Some(deciding) = &record.deciding else { return };
        if !record.state.settled() || !deciding.below.complete() {
            return here.send(deciding.decider, Message::Busy { turn });
        }
        let applied = record.state == State::Applied;
        let mut ack =
            Ack { alone: false, applied, overruled: deciding.commit && !applied, missing: Vec::new() };
        for (_, other) in &deciding.below.answers {
            ack.applied |= other.applied;
            ack.overruled |= other.overruled;
            ack.missing.extend(&other.missing);
        }
        for &silent in &deciding.below.silent {
            ack.missing.extend(below(&record.set, here.sequencer(turn), silent, here.settings.fanout));
        }
        here.send(deciding.decider, Message::Ack { turn, ack });
    }

    pub fn ack(&mut self, here: &mut Here, from: NodeId, turn: Turn, ack: Ack) {
        if let Some(deciding) = self.records.get_mut(&turn).and_then(|record| record.deciding.as_mut()) {
            if deciding.below.answered(from, ack) && deciding.below.complete() {
                self.acknowledge(here, turn);
            }
        }
    }

    fn apply(&self, here: &mut Here, turn: Turn) {
        let record = &self.records[&turn];
        let mut write = |at: usize, bytes: &[u8], event: &Option<EventId>| {
            here.memory.write(at, bytes);
            if let Some(event) = event {
                *here.events.entry(*event).or_default() += 1;
            }
        };
        match record.operation.as_ref().expect("only what was voted for is carried out") {
            Operation::Xfer { at, bytes, event } => write(*at, bytes, event),
            Operation::Staged { at, event, .. } => write(*at, &record.data, event),
            Operation::Compare { write: Some((at, value)), .. } => here.memory.store(*at, *value),
            Operation::Compare { write: None, .. } => {}
        }
    }

    /// Ends the doubt, and with it that of those which depended on it.
    fn settle(&mut self, here: &mut Here, turn: Turn, commit: bool) {
        if commit {
            self.apply(here, turn);
        }
        let record = self.records.get_mut(&turn).expect("what is settled is known");
        record.state = if commit { State::Applied } else { State::Aborted };
        record.data = Vec::new();
        if record.own.is_none() {
            record.own = Some(Vote::Refused(here.node));
        }
        if record.deciding.is_some() {
            self.acknowledge(here, turn);
        }
        self.report(here, turn);
        let blocked: Vec<Turn> = self
            .records
            .iter()
            .filter(|(_, record)| record.state == State::Blocked)
            .map(|(&turn, _)| turn)
            .collect();
        for turn in blocked {
            if self.records[&turn].state == State::Blocked {
                self.evaluate(here, turn);
                self.report(here, turn);
            }
        }
    }

    // ---- without the sequencer ----

    /// Another node is in doubt.
    pub fn ask(&mut self, here: &mut Here, from: NodeId, turn: Turn) {
        let in_touch = !here.silent(here.sequencer(turn), Duration::ZERO);
        let told = match self.records.get(&turn).map(|record| record.state) {
            None if turn < self.horizon(turn) => Told::Forgotten,
            Some(State::Applied) => Told::Applied,
            Some(State::Aborted | State::Read) => Told::Aborted,
            Some(State::Promised) => Told::Promised,
            _ if in_touch => Told::Pending,
            Some(State::Prepared) => {
                self.records.get_mut(&turn).expect("looked at above").state = State::Promised;
                Told::Promised
            }
            Some(State::Blocked) => {
                self.settle(here, turn, false);
                Told::Aborted
            }
            // Never asked for a vote, and from now on it would be refused.
            None => {
                self.records.insert(turn, Record::new(NodeSet::default(), None, State::Aborted, here.now));
                Told::Aborted
            }
        };
        here.send(from, Message::Tell { turn, told });
    }

    /// Another node's answer to our own question.
    pub fn told(&mut self, here: &mut Here, from: NodeId, turn: Turn, told: Told) {
        let Some(record) = self.records.get_mut(&turn).filter(|record| record.state.in_doubt()) else {
            return;
        };
        record.told.insert(from, told);
        match told {
            Told::Applied => self.settle(here, turn, true),
            Told::Aborted => self.settle(here, turn, false),
            _ => self.conclude(here, turn),
        }
    }

    /// If everybody has promised, nobody has carried it out.
    fn conclude(&mut self, here: &mut Here, turn: Turn) {
        let record = &self.records[&turn];
        let promised = |node: NodeId| {
            node == here.node
                || node == here.sequencer(turn)
                || here.evicted.contains(&node)
                || record.told.get(&node) == Some(&Told::Promised)
        };
        if record.state == State::Promised && record.set.iter().all(promised) {
            self.settle(here, turn, false);
        }
    }

    /// The sequencer's last word. It agrees with what nodes have settled among themselves: see `sequencer`.
    pub fn finally(&mut self, here: &mut Here, turn: Turn, commit: bool) {
        if self
            .records
            .get(&turn)
            .is_some_and(|record| record.state.in_doubt() || (record.state == State::Blocked && !commit))
        {
            self.settle(here, turn, commit);
        }
    }

    // ---- time ----

    pub fn tick(&mut self, here: &mut Here) {
        for turn in self.records.keys().copied().collect::<Vec<_>>() {
            self.repeat(here, turn);
            if self.records.get(&turn).is_some_and(|record| record.state.in_doubt()) {
                self.doubt(here, turn);
            }
        }
    }

    fn repeat(&mut self, here: &mut Here, turn: Turn) {
        let horizon = self.horizon(turn);
        let Some(record) = self.records.get_mut(&turn) else { return };
        if let (Some(voting), Some(operation)) = (&mut record.voting, &record.operation) {
            let (due, silent) = (voting.below.due(here), voting.below.silent.len());
            for child in due {
                here.send(
                    child,
                    Message::Prepare { turn, horizon, set: record.set.clone(), operation: operation.clone() },
                );
            }
            if silent > 0 {
                self.report(here, turn);
            }
        }
        let Some(record) = self.records.get_mut(&turn) else { return };
        if let Some(deciding) = &mut record.deciding {
            let before = deciding.below.complete();
            for child in deciding.below.due(here) {
                let message = Message::Decide {
                    turn,
                    horizon,
                    set: record.set.clone(),
                    commit: deciding.commit,
                    alone: false,
                };
                here.send(child, message);
            }
            if deciding.below.complete() && !before {
                self.acknowledge(here, turn);
            }
        }
    }

    /// Asks about what has been in doubt for long: the sequencer, and once that is silent everybody.
    fn doubt(&mut self, here: &mut Here, turn: Turn) {
        let record = self.records.get_mut(&turn).expect("looked at by the caller");
        if here.now < record.since + here.settings.limit / 2
            || here.now < record.ask_again
            || here.node == here.sequencer(turn)
        {
            return;
        }
        record.ask_again = here.now + here.settings.limit / 8;
        here.send(here.sequencer(turn), Message::Ask { turn });
        if here.silent(here.sequencer(turn), record.since) {
            record.state = State::Promised;
            let others: Vec<NodeId> =
                record.set.iter().filter(|&node| node != here.node && node != here.sequencer(turn)).collect();
            for other in others {
                here.send(other, Message::Ask { turn });
            }
            self.conclude(here, turn);
        }
    }

    /// When `tick` has to be called next. A node that orders operations itself asks nobody about them.
    pub fn alarm(&self, limit: Duration, orders: impl Fn(Turn) -> bool) -> Option<Duration> {
        let of = |(&turn, record): (&Turn, &Record)| {
            let asks = record.state.in_doubt() && !orders(turn);
            let doubt = asks.then(|| record.ask_again.max(record.since + limit / 2));
            let voting = record.voting.as_ref().and_then(|voting| voting.below.alarm());
            let deciding = record.deciding.as_ref().and_then(|deciding| deciding.below.alarm());
            [doubt, voting, deciding].into_iter().flatten().min()
        };
        self.records.iter().filter_map(of).min()
    }
}
