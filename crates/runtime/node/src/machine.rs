//! What a node of a job does: messages and times in, actions out. Pure: it has no clock and no sockets.
//!
//! The nodes are a tree. Its root is the *client*, the process that the user has started; every other node
//! stands for a host and has the job's processes there. A node knows its parent and its children alone.
//!
//! The rules, each of which has a twin without it in the tests:
//!
//! * Nothing starts before all hosts are ready.
//! * A node that has not heard of its parent for longer than the patience kills what it has started, and has
//!   its children do so. One that has not heard of a child tells its parent.
//! * Every node says that it lives, ten times within the patience. One that was stopped itself gives the
//!   others that time, too.
//! * The client takes the first failure that it hears of for the cause, and ends the job everywhere. One on
//!   another host that did not know of the end yet is told with it: it may have been the first. A failure
//!   that ends nothing (`--keep-going`) keeps the exit code; what ends the job later is told.
//!
//! ```text
//! machine       what a node does with what it is told
//! verdict       what the client takes for the cause of a job's end
//! liveness      signs of life: who has been silent for too long
//! barrier       the values that ranks give each other, on their way up
//! children      how far the children are
//! rules         the rules by name, for tests that leave one out
//! messages      what nodes tell each other, and what a node is told and is to do
//! ```

mod barrier;
mod children;
mod liveness;
mod messages;
mod rules;
mod verdict;

pub use messages::{Action, Down, EXIT_LOST, Failure, Input, Local, Millis, Up, Values};
pub use rules::Rule;

use barrier::Barrier;
use children::Children;
use liveness::Liveness;
use rules::Rules;
use verdict::{Upshot, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Preparing,
    Running,
    Ending,
    Left,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Processes {
    /// This node has none: it is the client.
    None,
    /// It is not known whether they could start.
    Unchecked,
    Checked,
    Running,
    Ended,
}

/// One node.
#[derive(Clone, Debug)]
pub struct Machine {
    has_parent: bool,
    /// The parent is lost.
    is_cut_off: bool,
    phase: Phase,
    processes: Processes,
    children: Children,
    refusals: Vec<String>,
    is_ready: bool,
    liveness: Liveness,
    barrier: Barrier,
    /// Of the client only.
    verdict: Verdict,
    rules: Rules,
}

impl Machine {
    /// The client of a job, whose children are these hosts.
    pub fn client(children: Vec<String>, patience: Millis, now: Millis) -> Machine {
        Machine::new(false, children, patience, now)
    }

    /// The node of a host, whose parent has just been heard of.
    pub fn host(children: Vec<String>, patience: Millis, now: Millis) -> Machine {
        Machine::new(true, children, patience, now)
    }

    fn new(has_parent: bool, children: Vec<String>, patience: Millis, now: Millis) -> Machine {
        Machine {
            has_parent,
            is_cut_off: false,
            phase: Phase::Preparing,
            processes: if has_parent { Processes::Unchecked } else { Processes::None },
            liveness: Liveness::new(patience, children.len(), now),
            barrier: Barrier::new(children.len()),
            children: Children::new(children),
            refusals: Vec::new(),
            is_ready: false,
            verdict: Verdict::default(),
            rules: Rules::default(),
        }
    }

    /// The same without a rule, for tests.
    pub fn without(self, rule: Rule) -> Machine {
        Machine { rules: Rules::without(rule), ..self }
    }

    /// How often [`Input::Tick`] is to come, at least.
    pub fn interval(&self) -> Millis {
        self.liveness.interval()
    }

    /// Why the job has failed, if it has: what has ended it, with the exit code of what failed first; else
    /// what was only noted. Of the client only.
    pub fn cause(&self) -> Option<&Failure> {
        self.verdict.cause()
    }

    /// A failure on another host that may have come before the cause, and be what it followed from.
    pub fn rival(&self) -> Option<&Failure> {
        self.verdict.rival()
    }

    /// Whether the parent is lost: no process takes what goes to it.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// Why nothing was started; empty if all hosts were ready.
    pub fn refusals(&self) -> &[String] {
        &self.refusals
    }

    /// Whether the job was started: all hosts were ready.
    pub fn has_started(&self) -> bool {
        self.is_ready && self.refusals.is_empty()
    }

    /// Takes what has happened, at the time `now`, and says what is to be done, in this order.
    pub fn take(&mut self, now: Millis, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        self.liveness.look(now, self.rules);
        match input {
            Input::Down(message) => {
                self.liveness.hear_parent(now);
                self.take_down(message, &mut actions);
            }
            Input::Up(child, message) => {
                self.liveness.hear_child(child, now);
                self.take_up(child, message, &mut actions);
            }
            Input::Local(event) => self.take_local(event, &mut actions),
            Input::ParentHeard => self.liveness.hear_parent(now),
            Input::Heard(child) => self.liveness.hear_child(child, now),
            Input::Linked(child) => {
                if self.children.link(child) {
                    self.liveness.hear_child(child, now);
                }
            }
            Input::Lost(child, why) => self.lose(child, why, &mut actions),
            Input::ParentLost => self.lose_parent(&mut actions),
            Input::Signal(number) => self.interrupt(number, &mut actions),
            Input::Pause(is_paused) => self.pause(is_paused, &mut actions),
            Input::Tick => self.tick(now, &mut actions),
        }
        self.check_ready(&mut actions);
        self.check_barrier(&mut actions);
        self.check_over(&mut actions);
        actions
    }

    fn take_down(&mut self, message: Down, actions: &mut Vec<Action>) {
        match message {
            Down::Alive => {}
            Down::Start if self.phase == Phase::Preparing => self.start(actions),
            Down::Start => {}
            Down::Values(values) => {
                self.children.tell(&Down::Values(values.clone()), actions);
                if self.processes == Processes::Running {
                    actions.push(Action::Release(values));
                }
            }
            Down::Signal(number) => {
                self.children.tell(&Down::Signal(number), actions);
                if self.processes == Processes::Running {
                    actions.push(Action::Signal(number));
                }
            }
            Down::End { is_patient } => self.end(is_patient, actions),
            Down::Kill => self.kill(actions),
            Down::Pause => self.pause(true, actions),
            Down::Resume => self.pause(false, actions),
        }
    }

    fn take_up(&mut self, child: usize, message: Up, actions: &mut Vec<Action>) {
        if self.children.is_over(child) {
            return;
        }
        match message {
            Up::Alive => {}
            Up::Ready(refusals) => {
                self.children.is_prepared(child);
                self.refusals.extend(refusals);
            }
            Up::Values(values) => self.barrier.enter_below(child, values),
            Up::Failed(failure) => self.fail(failure, actions),
            Up::Done => {
                self.children.end(child);
            }
        }
    }

    fn take_local(&mut self, event: Local, actions: &mut Vec<Action>) {
        match event {
            Local::Checked(Ok(())) if self.processes == Processes::Unchecked => {
                self.processes = Processes::Checked;
            }
            Local::Checked(Err(why)) if self.processes == Processes::Unchecked => {
                self.processes = Processes::Checked;
                self.refusals.push(why);
            }
            Local::Checked(_) => {}
            Local::Values(values) => self.barrier.enter(values),
            Local::Failed(failure) => {
                let is_before_end = self.phase != Phase::Ending;
                self.fail(Failure { is_before_end, ..failure }, actions);
            }
            Local::Ended => self.processes = Processes::Ended,
        }
    }

    /// A failure on this host or below: the client ends the job, any other node tells its parent.
    fn fail(&mut self, failure: Failure, actions: &mut Vec<Action>) {
        if self.has_parent {
            return actions.push(Action::ToParent(Up::Failed(failure)));
        }
        match self.verdict.hear(failure, self.rules) {
            Upshot::GoesOn => {}
            Upshot::Ends { is_patient } => self.end(is_patient, actions),
        }
    }

    /// A child could not be started, or is lost.
    fn lose(&mut self, child: usize, why: String, actions: &mut Vec<Action>) {
        if !self.children.end(child) {
            return;
        }
        if self.phase == Phase::Preparing && !self.is_ready {
            return self.refusals.push(why);
        }
        self.fail(Failure::lost(why), actions);
    }

    fn lose_parent(&mut self, actions: &mut Vec<Action>) {
        if self.has_parent && !self.is_cut_off && self.rules.has(Rule::KillAlone) {
            self.is_cut_off = true;
            self.kill(actions);
        }
    }

    fn start(&mut self, actions: &mut Vec<Action>) {
        self.phase = Phase::Running;
        self.children.tell(&Down::Start, actions);
        if self.processes == Processes::Checked {
            self.processes = Processes::Running;
            actions.push(Action::Run);
        }
    }

    fn interrupt(&mut self, number: i32, actions: &mut Vec<Action>) {
        let ends = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT].contains(&number);
        if ends {
            self.verdict.interrupt(number);
        }
        match self.phase {
            Phase::Preparing if ends => self.kill(actions),
            Phase::Preparing | Phase::Left => {}
            Phase::Running | Phase::Ending => self.children.tell(&Down::Signal(number), actions),
        }
    }

    fn pause(&mut self, is_paused: bool, actions: &mut Vec<Action>) {
        self.liveness.pause(is_paused);
        self.children.tell(if is_paused { &Down::Pause } else { &Down::Resume }, actions);
    }

    fn end(&mut self, is_patient: bool, actions: &mut Vec<Action>) {
        let is_new = matches!(self.phase, Phase::Preparing | Phase::Running);
        if is_new || !is_patient {
            self.stop(&Down::End { is_patient }, Action::End { is_patient }, actions);
        }
    }

    fn kill(&mut self, actions: &mut Vec<Action>) {
        self.stop(&Down::Kill, Action::Kill, actions);
    }

    /// What runs below is ended by a message, what runs here by an action.
    fn stop(&mut self, below: &Down, here: Action, actions: &mut Vec<Action>) {
        self.phase = if self.phase == Phase::Left { Phase::Left } else { Phase::Ending };
        if self.rules.has(Rule::Forward) || !self.has_parent {
            self.children.tell(below, actions);
        }
        match self.processes {
            Processes::Running => actions.push(here),
            Processes::Unchecked | Processes::Checked => self.processes = Processes::Ended,
            Processes::None | Processes::Ended => {}
        }
        self.children.abandon_starting();
    }

    fn tick(&mut self, now: Millis, actions: &mut Vec<Action>) {
        if self.rules.has(Rule::SignsOfLife) && self.liveness.speaks(now) {
            self.children.tell(&Down::Alive, actions);
            if self.has_parent && self.phase != Phase::Left {
                actions.push(Action::ToParent(Up::Alive));
            }
        }
        if !self.rules.has(Rule::Silence) {
            return;
        }
        let patience = self.liveness.patience();
        if self.has_parent && !self.is_cut_off && self.liveness.is_parent_silent(now) {
            // It may live and hear this: then it must not take the job for a success.
            let why = format!(
                "a host has not heard of the one that started it for {patience} ms, and has ended the job. \
                 Check the hosts and the network, or raise --node-patience."
            );
            if self.rules.has(Rule::TellParent) {
                actions.push(Action::ToParent(Up::Failed(Failure::lost(why))));
            }
            self.lose_parent(actions);
        }
        for child in self.children.numbers() {
            if self.children.is_linked(child) && self.liveness.is_child_silent(child, now) {
                let host = self.children.host(child);
                let why = format!(
                    "host {host} has not been heard of for {patience} ms. Check it and the network, or \
                     raise --node-patience."
                );
                self.lose(child, why, actions);
            }
        }
    }

    /// All below have said whether they can start, and so has this host.
    fn check_ready(&mut self, actions: &mut Vec<Action>) {
        let all_known = self.children.are_known() && self.processes != Processes::Unchecked;
        if self.phase != Phase::Preparing || self.is_ready || !all_known {
            return;
        }
        self.is_ready = true;
        if self.has_parent {
            return actions.push(Action::ToParent(Up::Ready(self.refusals.clone())));
        }
        if self.refusals.is_empty() || !self.rules.has(Rule::AllReady) {
            self.start(actions);
        } else {
            self.kill(actions);
        }
    }

    /// All ranks here and below are in a barrier: the values go up, and from the client down to all.
    fn check_barrier(&mut self, actions: &mut Vec<Action>) {
        let has_ranks = self.processes == Processes::Running;
        // A node whose processes have all ended will not come to the barrier, and no process leaves it then.
        if self.phase == Phase::Preparing || self.has_parent && !has_ranks {
            return;
        }
        let Some(all) = self.barrier.complete(has_ranks) else { return };
        if self.has_parent {
            actions.push(Action::ToParent(Up::Values(all)));
        } else {
            self.children.tell(&Down::Values(all), actions);
        }
    }

    /// Nothing is left, here and below.
    fn check_over(&mut self, actions: &mut Vec<Action>) {
        let is_over =
            matches!(self.processes, Processes::None | Processes::Ended) && self.children.are_over();
        let has_begun = matches!(self.phase, Phase::Running | Phase::Ending);
        if is_over && has_begun {
            self.phase = Phase::Left;
            if self.has_parent {
                actions.push(Action::ToParent(Up::Done));
            }
            actions.push(Action::Leave);
        }
    }
}
