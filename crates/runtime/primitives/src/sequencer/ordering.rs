//! The node that orders all operations: it starts each when its turn has come, asks all nodes whether
//! they agree, decides, and answers the origin.
//!
//! Two operations whose order matters, and any two of the same origin, are never under way at once. A
//! decision against an operation is final when it is made. One for it is *final* once some other node
//! is known to have carried it out: until then the others, should they lose sight of this node, may
//! have settled it the other way. Hence this node itself, if it is one of the set, follows last.

use crate::collector::Gather;
use crate::context::Here;
use crate::message::{Ack, Message, Turn, Vote};
use crate::operation::{Failure, Fault, NodeSet, Operation, Outcome};
use crate::tree::{below, children};
use crate::view::{View, first_turn};
use evenkeel_fabric::NodeId;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

/// An operation that waits for its turn.
struct Queued {
    origin: NodeId,
    number: u64,
    set: NodeSet,
    operation: Operation,
}

/// An operation under way.
struct Active {
    job: Queued,
    votes: Gather<Vote>,
    /// The origin has its answer.
    answered: bool,
    decided: Option<Decided>,
}

struct Decided {
    commit: bool,
    acks: Gather<Ack>,
    /// The second round, to each node alone, has begun.
    alone: bool,
    applied: bool,
    overruled: bool,
    missing: BTreeSet<NodeId>,
    /// This node, being one of the set, has been told.
    told_self: bool,
}

impl Decided {
    /// What it will be, if that can no longer change.
    fn last_word(&self) -> Option<bool> {
        match self {
            Decided { commit: false, .. } | Decided { overruled: true, .. } => Some(false),
            Decided { applied: true, .. } => Some(true),
            _ => None,
        }
    }
}

/// A decision that some nodes have not heard of: they have been silent.
struct Unheard {
    set: NodeSet,
    missing: BTreeSet<NodeId>,
    /// None: none of them was heard, so they may settle it either way.
    commit: Option<bool>,
    again: Duration,
}

#[derive(Default)]
struct Origin {
    next: u64,
    early: BTreeMap<u64, (NodeSet, Operation)>,
    outcomes: BTreeMap<u64, Outcome>,
}

/// What the ordering node knows.
pub(crate) struct Sequencer {
    next: Turn,
    queue: VecDeque<Queued>,
    active: BTreeMap<Turn, Active>,
    unheard: BTreeMap<Turn, Unheard>,
    origins: HashMap<NodeId, Origin>,
}

impl Default for Sequencer {
    fn default() -> Sequencer {
        Sequencer {
            next: 1,
            queue: VecDeque::new(),
            active: BTreeMap::new(),
            unheard: BTreeMap::new(),
            origins: HashMap::new(),
        }
    }
}

impl Sequencer {
    /// All turns below are settled everywhere, and nobody who lives is in doubt about one: should this node
    /// fall silent, nobody needs to know more than that.
    fn horizon(&self) -> Turn {
        let open = self.unheard.keys().next().copied();
        self.active.keys().next().copied().into_iter().chain(open).min().unwrap_or(self.next)
    }

    // ---- requests ----

    pub fn request(
        &mut self,
        here: &mut Here,
        from: NodeId,
        number: u64,
        settled: u64,
        set: NodeSet,
        operation: Operation,
    ) {
        let origin = self.origins.entry(from).or_default();
        origin.outcomes.retain(|&number, _| number >= settled);
        if number < settled {
            return;
        }
        if let Some(outcome) = origin.outcomes.get(&number) {
            return here.send(from, Message::Outcome { number, outcome: outcome.clone() });
        }
        if number < origin.next {
            let is_it = |job: &Queued| job.origin == from && job.number == number;
            let underway =
                self.active.values().any(|active| is_it(&active.job)) || self.queue.iter().any(is_it);
            // Had it been carried out its outcome would be known: it was refused before it came.
            let refused = Message::Outcome {
                number,
                outcome: Err(Fault { node: here.node, what: Failure::OutOfTouch, undone: true }),
            };
            return here.send(from, if underway { Message::Underway { number } } else { refused });
        }
        here.send(from, Message::Underway { number });
        origin.early.insert(number, (set, operation));
        // What the origin has given up and we never heard of leaves a gap.
        origin.next = origin.next.max(settled);
        origin.early.retain(|&number, _| number >= origin.next);
        while let Some((set, operation)) = origin.early.remove(&origin.next) {
            self.queue.push_back(Queued { origin: from, number: origin.next, set, operation });
            origin.next += 1;
        }
        self.start_ready(here);
    }

    /// Whether an operation was asked for while this node ordered; its outcome is this node's to tell.
    pub fn knows(&self, from: NodeId, number: u64) -> bool {
        self.origins.get(&from).is_some_and(|origin| number < origin.next)
    }

    /// An operation that is not known here never will be carried out from here, not even if the question
    /// comes once more.
    pub fn refuse(&mut self, here: &mut Here, from: NodeId, number: u64, because_of: NodeId) {
        let outcome = Err(Fault { node: because_of, what: Failure::Silent, undone: true });
        let origin = self.origins.entry(from).or_default();
        origin.next = origin.next.max(number + 1);
        origin.early.retain(|&early, _| early > number);
        origin.outcomes.insert(number, outcome.clone());
        here.send(from, Message::Outcome { number, outcome });
    }

    /// Begins to order in a view.
    pub fn begin(&mut self, view: View) {
        self.next = first_turn(view);
    }

    /// Another node orders now. What has not been started never will be here; what has is brought to its end.
    pub fn depose(&mut self, here: &mut Here) {
        for job in std::mem::take(&mut self.queue) {
            let outcome = Err(Fault { node: here.node, what: Failure::OutOfTouch, undone: true });
            self.origins.entry(job.origin).or_default().outcomes.insert(job.number, outcome.clone());
            here.send(job.origin, Message::Outcome { number: job.number, outcome });
        }
        self.origins.values_mut().for_each(|origin| origin.early.clear());
    }

    /// Starts what waits and need not wait any longer. Nothing overtakes what it conflicts with.
    fn start_ready(&mut self, here: &mut Here) {
        let mut waiting: VecDeque<Queued> = VecDeque::new();
        while let Some(job) = self.queue.pop_front() {
            let conflicts =
                |other: &Queued| other.origin == job.origin || other.operation.conflicts(&job.operation);
            let must_wait =
                self.active.values().any(|active| conflicts(&active.job)) || waiting.iter().any(conflicts);
            if must_wait && here.settings.rules.in_turn {
                waiting.push_back(job);
            } else {
                self.start(here, job);
            }
        }
        self.queue = waiting;
    }

    fn start(&mut self, here: &mut Here, job: Queued) {
        let turn = self.next;
        self.next += 1;
        let mut asked = children(&job.set, here.node, here.node, here.settings.fanout);
        if job.set.contains(here.node) {
            asked.push(here.node);
        }
        let horizon = self.horizon().min(turn);
        for &node in &asked {
            here.send(
                node,
                Message::Prepare { turn, horizon, set: job.set.clone(), operation: job.operation.clone() },
            );
        }
        let votes = Gather::asking(&asked, here);
        self.active.insert(turn, Active { job, votes, answered: false, decided: None });
    }

    fn answer(&mut self, here: &mut Here, turn: Turn, outcome: Outcome) {
        let active = self.active.get_mut(&turn).expect("only what is under way is answered");
        if !std::mem::replace(&mut active.answered, true) {
            let (origin, number) = (active.job.origin, active.job.number);
            self.origins.entry(origin).or_default().outcomes.insert(number, outcome.clone());
            here.send(origin, Message::Outcome { number, outcome });
        }
    }

    // ---- votes ----

    pub fn vote(&mut self, here: &mut Here, from: NodeId, turn: Turn, vote: Vote) {
        if let Some(active) = self.active.get_mut(&turn).filter(|active| active.decided.is_none()) {
            active.votes.answered(from, vote);
            self.count(here, turn);
        }
    }

    /// Decides, if the votes so far allow it.
    fn count(&mut self, here: &mut Here, turn: Turn) {
        let active = &self.active[&turn];
        let silent = active.votes.silent.iter().map(|&node| Vote::Silent(node));
        let vote =
            active.votes.answers.iter().map(|&(_, vote)| vote).chain(silent).fold(Vote::Yes, Vote::and);
        let failed = |node, what| Err(Fault { node, what, undone: true });
        let outcome = match vote {
            Vote::Yes if !active.votes.complete() => return,
            Vote::Yes if active.job.operation.writes() => return self.decide(here, turn, true),
            Vote::Yes => Ok(true),
            Vote::No => Ok(false),
            Vote::Refused(node) => failed(node, Failure::OutOfTouch),
            Vote::Silent(node) if here.evicted.contains(&node) => failed(node, Failure::Evicted),
            Vote::Silent(node) => failed(node, Failure::Silent),
        };
        self.answer(here, turn, outcome);
        if self.active[&turn].job.operation.writes() {
            self.decide(here, turn, false);
        } else {
            self.active.remove(&turn);
            self.start_ready(here);
        }
    }

    // ---- the decision ----

    fn decide(&mut self, here: &mut Here, turn: Turn, commit: bool) {
        let horizon = self.horizon();
        let active = self.active.get_mut(&turn).expect("decided while under way");
        let set = &active.job.set;
        let down = children(set, here.node, here.node, here.settings.fanout);
        for &node in &down {
            here.send(node, Message::Decide { turn, horizon, set: set.clone(), commit, alone: false });
        }
        let acks = Gather::asking(&down, here);
        // Alone in the set there is nobody who could settle it otherwise.
        let applied = commit && down.is_empty();
        let (alone, told_self, missing) = (false, !set.contains(here.node), BTreeSet::new());
        active.decided = Some(Decided { commit, acks, alone, applied, overruled: false, missing, told_self });
        self.conclude(here, turn);
    }

    pub fn ack(&mut self, here: &mut Here, from: NodeId, turn: Turn, ack: Ack) {
        if let Some(decided) = self.active.get_mut(&turn).and_then(|active| active.decided.as_mut()) {
            // What one node says of itself alone is no answer for those below it.
            if (decided.alone || !ack.alone) && decided.acks.answered(from, ack) {
                self.conclude(here, turn);
            }
        } else if let Some(unheard) = self.unheard.get_mut(&turn) {
            unheard.missing.remove(&from);
            if unheard.commit.is_none() && (ack.applied || ack.overruled) {
                unheard.commit = Some(ack.applied);
                let commit = ack.applied;
                here.send(here.node, Message::Final { turn, commit });
            }
            if unheard.missing.is_empty() {
                self.unheard.remove(&turn);
            }
        }
    }

    /// Goes on with a decision as far as what has been heard allows.
    fn conclude(&mut self, here: &mut Here, turn: Turn) {
        let horizon = self.horizon();
        let active = self.active.get_mut(&turn).expect("decided while under way");
        let set = active.job.set.clone();
        let decided = active.decided.as_mut().expect("decided");
        for (_, ack) in decided.acks.answers.drain(..) {
            decided.applied |= ack.applied;
            decided.overruled |= ack.overruled;
            decided.missing.extend(ack.missing);
        }
        let last_word = decided.last_word();
        if let (Some(commit), false) = (last_word, decided.told_self) {
            decided.told_self = true;
            here.send(here.node, Message::Final { turn, commit });
        }
        if !decided.acks.complete() {
            return;
        }
        for silent in std::mem::take(&mut decided.acks.silent) {
            let all = if decided.alone {
                vec![silent]
            } else {
                below(&set, here.node, silent, here.settings.fanout)
            };
            decided.missing.extend(all);
        }
        if !decided.alone && !decided.missing.is_empty() {
            // Some are out of reach because a node above them in the tree is: ask each by itself.
            decided.alone = true;
            let missing: Vec<NodeId> = std::mem::take(&mut decided.missing).into_iter().collect();
            for &node in &missing {
                here.send(
                    node,
                    Message::Decide { turn, horizon, set: set.clone(), commit: decided.commit, alone: true },
                );
            }
            decided.acks = Gather::asking(&missing, here);
            return;
        }
        let missing = std::mem::take(&mut decided.missing);
        self.finish(here, turn, set, last_word, missing);
    }

    fn finish(
        &mut self,
        here: &mut Here,
        turn: Turn,
        set: NodeSet,
        last_word: Option<bool>,
        missing: BTreeSet<NodeId>,
    ) {
        let fault = |undone| {
            let node = missing.first().copied().unwrap_or(here.node);
            let what = if undone { Failure::OutOfTouch } else { Failure::Silent };
            Err(Fault { node, what, undone })
        };
        let outcome = match last_word {
            Some(true) => Ok(true),
            Some(false) => fault(true), // answered before, unless it was overruled
            None => fault(false),
        };
        self.answer(here, turn, outcome);
        self.active.remove(&turn);
        let missing: BTreeSet<NodeId> =
            missing.into_iter().filter(|node| !here.evicted.contains(node)).collect();
        if !missing.is_empty() {
            let again = here.now + here.settings.limit;
            self.unheard.insert(turn, Unheard { set, missing, commit: last_word, again });
        }
        self.start_ready(here);
    }

    /// A node is in doubt.
    pub fn ask(&mut self, here: &mut Here, from: NodeId, turn: Turn) {
        let horizon = self.horizon();
        let alone =
            |set: &NodeSet| Message::Decide { turn, horizon, set: set.clone(), commit: true, alone: true };
        let answer = if let Some(active) = self.active.get(&turn) {
            match &active.decided {
                None => Message::Tell { turn, told: crate::message::Told::Pending },
                Some(decided) => decided
                    .last_word()
                    .map_or_else(|| alone(&active.job.set), |commit| Message::Final { turn, commit }),
            }
        } else if let Some(unheard) = self.unheard.get(&turn) {
            unheard.commit.map_or_else(|| alone(&unheard.set), |commit| Message::Final { turn, commit })
        } else {
            // Who is in doubt has not heard of the end; had it been carried out, that would be known above.
            Message::Final { turn, commit: false }
        };
        here.send(from, answer);
    }

    // ---- time ----

    pub fn tick(&mut self, here: &mut Here) {
        for turn in self.active.keys().copied().collect::<Vec<_>>() {
            self.repeat(here, turn);
        }
        let horizon = self.horizon();
        for (&turn, unheard) in &mut self.unheard {
            unheard.missing.retain(|node| !here.evicted.contains(node));
            if unheard.again <= here.now {
                unheard.again = here.now + here.settings.limit;
                for &node in &unheard.missing {
                    let commit = unheard.commit != Some(false);
                    here.send(
                        node,
                        Message::Decide { turn, horizon, set: unheard.set.clone(), commit, alone: true },
                    );
                }
            }
        }
        self.unheard.retain(|_, unheard| !unheard.missing.is_empty());
    }

    fn repeat(&mut self, here: &mut Here, turn: Turn) {
        let horizon = self.horizon();
        let Some(active) = self.active.get_mut(&turn) else { return };
        let set = active.job.set.clone();
        match &mut active.decided {
            None => {
                for node in active.votes.due(here) {
                    here.send(
                        node,
                        Message::Prepare {
                            turn,
                            horizon,
                            set: set.clone(),
                            operation: active.job.operation.clone(),
                        },
                    );
                }
                self.count(here, turn);
            }
            Some(decided) => {
                for node in decided.acks.due(here) {
                    here.send(
                        node,
                        Message::Decide {
                            turn,
                            horizon,
                            set: set.clone(),
                            commit: decided.commit,
                            alone: decided.alone,
                        },
                    );
                }
                self.conclude(here, turn);
            }
        }
    }

    /// When `tick` has to be called next.
    pub fn alarm(&self) -> Option<Duration> {
        let active = self.active.values().filter_map(|active| {
            active.decided.as_ref().map_or_else(|| active.votes.alarm(), |decided| decided.acks.alarm())
        });
        active.chain(self.unheard.values().map(|unheard| unheard.again)).min()
    }
}
