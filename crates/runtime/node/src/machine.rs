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

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A time in milliseconds, from any moment on.
pub type Millis = u64;

/// How often within the patience a node says that it lives.
const SIGNS_OF_LIFE: Millis = 10;

/// Keys and values that ranks give each other.
pub type Values = Vec<(String, String)>;

/// Something that went wrong on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The exit code of the job if this is the cause of its end.
    pub code: u8,
    /// A sentence that names the host.
    pub text: String,
    /// Whether the other processes may go on for a while: they may end by themselves.
    pub is_patient: bool,
    /// Whether it ends nothing (`--keep-going`).
    pub is_only_noted: bool,
    /// Whether a process has ended because it noticed that another one had failed, which is the cause then.
    pub is_consequence: bool,
    /// Whether it is a process's own, and its host had not been told by then that the job ends. Of two such
    /// failures the one that the client hears of later may have been the first.
    pub is_before_end: bool,
}

/// What goes from a parent to a child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Down {
    /// The parent lives.
    Alive,
    /// All hosts are ready: start.
    Start,
    /// Keys and values of all ranks at a barrier.
    Values(Values),
    /// A signal of the user's for all processes.
    Signal(i32),
    /// The job ends; processes may have time to end by themselves first.
    End {
        /// Whether they have.
        is_patient: bool,
    },
    /// Kill everything.
    Kill,
    /// The client is stopped (Ctrl-Z): its silence says nothing.
    Pause,
    /// It goes on.
    Resume,
}

/// What goes from a child to its parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Up {
    /// The child lives.
    Alive,
    /// The child's host and all below it could start, but for those that refuse, with a sentence each.
    Ready(Vec<String>),
    /// What the ranks below have put before a barrier; all of them are in it.
    Values(Values),
    /// Something went wrong below.
    Failed(Failure),
    /// Nothing runs below any more, and nothing will.
    Done,
}

/// What happens on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Local {
    /// Whether the job could start here.
    Checked(Result<(), String>),
    /// All ranks here are in a barrier, and have put these.
    Values(Values),
    /// A process has failed.
    Failed(Failure),
    /// All processes here have ended.
    Ended,
}

/// What a node is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// By its parent.
    Down(Down),
    /// By a child.
    Up(usize, Up),
    /// By what runs here.
    Local(Local),
    /// The parent has sent something else, such as input: it lives.
    ParentHeard,
    /// So has this child.
    Heard(usize),
    /// There is a connection to this child now.
    Linked(usize),
    /// This child could not be started, or is lost; the sentence says why.
    Lost(usize, String),
    /// The connection to the parent is lost.
    ParentLost,
    /// The user wants a signal to reach the job. Only the client is told so.
    Signal(i32),
    /// The client is about to be stopped, or goes on.
    Pause(bool),
    /// Time has passed.
    Tick,
}

/// What a node is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send to the parent.
    ToParent(Up),
    /// Send to a child.
    ToChild(usize, Down),
    /// Start the processes here.
    Run,
    /// Give the ranks here these, and let them leave the barrier.
    Release(Values),
    /// Send the processes here a signal of the user's.
    Signal(i32),
    /// End them.
    End {
        /// Whether they have time to end by themselves first.
        is_patient: bool,
    },
    /// Kill them.
    Kill,
    /// Nothing is left to do: this process may end.
    Leave,
}

/// The parts of the rules that can be left out, for tests that show what they are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing starts before all hosts are ready.
    AllReady,
    /// Who is cut off from the parent kills.
    KillAlone,
    /// Silence counts as loss.
    Silence,
    /// Nodes say that they live.
    SignsOfLife,
    /// A node that was stopped gives the others that time.
    OwnStop,
    /// What ends is ended below, too.
    Forward,
    /// The first failure is the cause.
    FirstCause,
    /// What may have failed before it is told, too.
    BothCauses,
    /// Who takes its parent for lost tells it so: the parent may live.
    TellParent,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChildPhase {
    Starting,
    Linked,
    Ready,
    /// It is done, or lost.
    Over,
}

#[derive(Clone, Debug)]
struct Child {
    host: String,
    phase: ChildPhase,
    heard: Millis,
    values: Option<Values>,
}

/// One node.
#[derive(Clone, Debug)]
pub struct Machine {
    has_parent: bool,
    parent_heard: Millis,
    is_paused: bool,
    /// The parent is lost.
    is_cut_off: bool,
    patience: Millis,
    phase: Phase,
    processes: Processes,
    values: Option<Values>,
    children: Vec<Child>,
    refusals: Vec<String>,
    is_ready: bool,
    /// What has ended the job.
    cause: Option<Failure>,
    /// What may have failed before it, elsewhere.
    rival: Option<Failure>,
    /// What has failed before, and has ended nothing.
    noted: Option<Failure>,
    said_alive: Millis,
    ticked: Millis,
    left_out: Option<Rule>,
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
        let child = |host| Child { host, phase: ChildPhase::Starting, heard: now, values: None };
        Machine {
            has_parent,
            parent_heard: now,
            is_paused: false,
            is_cut_off: false,
            patience: patience.max(SIGNS_OF_LIFE),
            phase: Phase::Preparing,
            processes: if has_parent { Processes::Unchecked } else { Processes::None },
            values: None,
            children: children.into_iter().map(child).collect(),
            refusals: Vec::new(),
            is_ready: false,
            cause: None,
            rival: None,
            noted: None,
            said_alive: now,
            ticked: now,
            left_out: None,
        }
    }

    /// The same without a rule, for tests.
    pub fn without(self, rule: Rule) -> Machine {
        Machine { left_out: Some(rule), ..self }
    }

    fn has(&self, rule: Rule) -> bool {
        self.left_out != Some(rule)
    }

    /// How often [`Input::Tick`] is to come, at least.
    pub fn interval(&self) -> Millis {
        self.patience / SIGNS_OF_LIFE
    }

    /// Why the job has failed, if it has: what has ended it, with the exit code of what failed first; else
    /// what was only noted. Of the client only.
    pub fn cause(&self) -> Option<&Failure> {
        self.cause.as_ref().or(self.noted.as_ref())
    }

    /// A failure on another host that may have come before the cause, and be what it followed from.
    pub fn rival(&self) -> Option<&Failure> {
        self.cause.as_ref().and(self.rival.as_ref())
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
        self.note_own_stop(now);
        match input {
            Input::Down(message) => {
                self.parent_heard = now;
                self.take_down(message, &mut actions);
            }
            Input::Up(child, message) => {
                self.children[child].heard = now;
                self.take_up(child, message, &mut actions);
            }
            Input::Local(event) => self.take_local(event, &mut actions),
            Input::ParentHeard => self.parent_heard = now,
            Input::Heard(child) => self.children[child].heard = now,
            Input::Linked(child) => {
                let child = &mut self.children[child];
                if child.phase == ChildPhase::Starting {
                    (child.phase, child.heard) = (ChildPhase::Linked, now);
                }
            }
            Input::Lost(child, why) => self.lose(child, why, &mut actions),
            Input::ParentLost => self.lose_parent(&mut actions),
            Input::Signal(number) => self.interrupt(number, &mut actions),
            Input::Pause(is_paused) => {
                self.is_paused = is_paused;
                self.tell_children(if is_paused { &Down::Pause } else { &Down::Resume }, &mut actions);
            }
            Input::Tick => self.tick(now, &mut actions),
        }
        self.check_ready(&mut actions);
        self.check_values(&mut actions);
        self.check_over(&mut actions);
        actions
    }

    /// This node was stopped, or had no core: it could not hear the others meanwhile.
    fn note_own_stop(&mut self, now: Millis) {
        let gap = now.saturating_sub(self.ticked);
        if gap > 2 * self.interval() && self.has(Rule::OwnStop) {
            self.parent_heard += gap;
            self.children.iter_mut().for_each(|child| child.heard += gap);
        }
        self.ticked = now;
    }

    fn take_down(&mut self, message: Down, actions: &mut Vec<Action>) {
        match message {
            Down::Alive => {}
            Down::Start if self.phase == Phase::Preparing => self.start(actions),
            Down::Start => {}
            Down::Values(values) => {
                self.tell_children(&Down::Values(values.clone()), actions);
                if self.processes == Processes::Running {
                    actions.push(Action::Release(values));
                }
            }
            Down::Signal(number) => {
                self.tell_children(&Down::Signal(number), actions);
                if self.processes == Processes::Running {
                    actions.push(Action::Signal(number));
                }
            }
            Down::End { is_patient } => self.end(is_patient, actions),
            Down::Kill => self.kill(actions),
            Down::Pause | Down::Resume => {
                self.is_paused = message == Down::Pause;
                self.tell_children(&message, actions);
            }
        }
    }

    fn take_up(&mut self, child: usize, message: Up, actions: &mut Vec<Action>) {
        if self.children[child].phase == ChildPhase::Over {
            return;
        }
        match message {
            Up::Alive => {}
            Up::Ready(refusals) => {
                self.children[child].phase = ChildPhase::Ready;
                self.refusals.extend(refusals);
            }
            Up::Values(values) => self.children[child].values = Some(values),
            Up::Failed(failure) => self.fail(failure, actions),
            Up::Done => self.children[child].phase = ChildPhase::Over,
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
            Local::Values(values) => self.values = Some(values),
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
        if failure.is_only_noted {
            if self.cause.is_none() && self.comes_before(&failure, self.noted.as_ref()) {
                self.noted = Some(failure);
            }
            return;
        }
        let is_patient = failure.is_patient;
        if self.comes_before(&failure, self.cause.as_ref()) {
            let first = self.noted.as_ref().filter(|noted| !self.comes_before(&failure, Some(noted)));
            let code = first.map_or(failure.code, |first| first.code);
            self.cause = Some(Failure { code, ..failure });
        } else if failure.is_before_end && !failure.is_consequence && self.has(Rule::BothCauses) {
            self.rival.get_or_insert(failure);
        }
        self.end(is_patient, actions);
    }

    /// Whether a failure that is heard of now takes the place of one that is known.
    fn comes_before(&self, failure: &Failure, known: Option<&Failure>) -> bool {
        known.is_none_or(|known| {
            known.is_consequence && !failure.is_consequence || !self.has(Rule::FirstCause)
        })
    }

    /// A child could not be started, or is lost.
    fn lose(&mut self, child: usize, why: String, actions: &mut Vec<Action>) {
        let was = std::mem::replace(&mut self.children[child].phase, ChildPhase::Over);
        if was == ChildPhase::Over {
            return;
        }
        if self.phase == Phase::Preparing && !self.is_ready {
            return self.refusals.push(why);
        }
        self.fail(lost(why), actions);
    }

    fn lose_parent(&mut self, actions: &mut Vec<Action>) {
        if self.has_parent && !self.is_cut_off && self.has(Rule::KillAlone) {
            self.is_cut_off = true;
            self.kill(actions);
        }
    }

    fn start(&mut self, actions: &mut Vec<Action>) {
        self.phase = Phase::Running;
        self.tell_children(&Down::Start, actions);
        if self.processes == Processes::Checked {
            self.processes = Processes::Running;
            actions.push(Action::Run);
        }
    }

    fn interrupt(&mut self, number: i32, actions: &mut Vec<Action>) {
        let ends = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT].contains(&number);
        if ends && self.cause.is_none() {
            self.cause = Some(Failure {
                code: 128 + number as u8,
                // The user knows of the signal, and not of what has failed before.
                text: self.noted.as_ref().map(|noted| noted.text.clone()).unwrap_or_default(),
                is_patient: true,
                is_only_noted: false,
                is_consequence: false,
                is_before_end: false,
            });
        }
        match self.phase {
            Phase::Preparing if ends => self.kill(actions),
            Phase::Preparing | Phase::Left => {}
            Phase::Running | Phase::Ending => self.tell_children(&Down::Signal(number), actions),
        }
    }

    fn end(&mut self, is_patient: bool, actions: &mut Vec<Action>) {
        let is_new = matches!(self.phase, Phase::Preparing | Phase::Running);
        if !is_new && is_patient {
            return;
        }
        self.phase = if self.phase == Phase::Left { Phase::Left } else { Phase::Ending };
        if self.has(Rule::Forward) || !self.has_parent {
            self.tell_children(&Down::End { is_patient }, actions);
        }
        match self.processes {
            Processes::Running => actions.push(Action::End { is_patient }),
            Processes::Unchecked | Processes::Checked => self.processes = Processes::Ended,
            Processes::None | Processes::Ended => {}
        }
        self.abandon_starting();
    }

    fn kill(&mut self, actions: &mut Vec<Action>) {
        self.phase = if self.phase == Phase::Left { Phase::Left } else { Phase::Ending };
        if self.has(Rule::Forward) || !self.has_parent {
            self.tell_children(&Down::Kill, actions);
        }
        match self.processes {
            Processes::Running => actions.push(Action::Kill),
            Processes::Unchecked | Processes::Checked => self.processes = Processes::Ended,
            Processes::None | Processes::Ended => {}
        }
        self.abandon_starting();
    }

    /// A child that is being started is not waited for: it ends when no process answers it.
    fn abandon_starting(&mut self) {
        for child in self.children.iter_mut().filter(|child| child.phase == ChildPhase::Starting) {
            child.phase = ChildPhase::Over;
        }
    }

    fn tell_children(&self, message: &Down, actions: &mut Vec<Action>) {
        for (number, child) in self.children.iter().enumerate() {
            if matches!(child.phase, ChildPhase::Linked | ChildPhase::Ready) {
                actions.push(Action::ToChild(number, message.clone()));
            }
        }
    }

    fn tick(&mut self, now: Millis, actions: &mut Vec<Action>) {
        if now >= self.said_alive + self.interval() && self.has(Rule::SignsOfLife) {
            self.said_alive = now;
            self.tell_children(&Down::Alive, actions);
            if self.has_parent && self.phase != Phase::Left {
                actions.push(Action::ToParent(Up::Alive));
            }
        }
        if !self.has(Rule::Silence) {
            return;
        }
        // The last sign of life may have come a whole interval before the silence began.
        let longest = self.patience + self.interval();
        let is_silent = |heard: Millis| now > heard + longest;
        if self.has_parent && !self.is_paused && !self.is_cut_off && is_silent(self.parent_heard) {
            // It may live and hear this: then it must not take the job for a success.
            let why = format!(
                "a host has not heard of the one that started it for {} ms, and has ended the job. Check the \
                 hosts and the network, or raise --node-patience.",
                self.patience
            );
            if self.has(Rule::TellParent) {
                actions.push(Action::ToParent(Up::Failed(lost(why))));
            }
            self.lose_parent(actions);
        }
        for number in 0..self.children.len() {
            let child = &self.children[number];
            let is_linked = matches!(child.phase, ChildPhase::Linked | ChildPhase::Ready);
            if is_linked && is_silent(child.heard) {
                let (host, patience) = (child.host.clone(), self.patience);
                let why = format!(
                    "host {host} has not been heard of for {patience} ms. Check it and the network, or raise \
                     --node-patience."
                );
                self.lose(number, why, actions);
            }
        }
    }

    /// All below have said whether they can start, and so has this host.
    fn check_ready(&mut self, actions: &mut Vec<Action>) {
        let is_known = |child: &Child| matches!(child.phase, ChildPhase::Ready | ChildPhase::Over);
        let all_known = self.children.iter().all(is_known) && self.processes != Processes::Unchecked;
        if self.phase != Phase::Preparing || self.is_ready || !all_known {
            return;
        }
        self.is_ready = true;
        if self.has_parent {
            return actions.push(Action::ToParent(Up::Ready(self.refusals.clone())));
        }
        if self.refusals.is_empty() || !self.has(Rule::AllReady) {
            self.start(actions);
        } else {
            self.kill(actions);
        }
    }

    /// All ranks here and below are in a barrier: the values go up, and from the client down to all.
    fn check_values(&mut self, actions: &mut Vec<Action>) {
        let takes_part = self.processes == Processes::Running;
        // A node whose processes have all ended will not come to the barrier, and no process leaves it then.
        let is_complete = self.phase != Phase::Preparing
            && (!self.has_parent || takes_part)
            && (!takes_part || self.values.is_some())
            && self.children.iter().all(|child| child.values.is_some());
        if !is_complete || self.children.is_empty() && !takes_part {
            return;
        }
        let mut all: BTreeMap<String, String> = self.values.take().into_iter().flatten().collect();
        for child in &mut self.children {
            all.extend(child.values.take().into_iter().flatten());
        }
        let all: Values = all.into_iter().collect();
        if self.has_parent {
            actions.push(Action::ToParent(Up::Values(all)));
        } else {
            self.tell_children(&Down::Values(all), actions);
        }
    }

    /// Nothing is left, here and below.
    fn check_over(&mut self, actions: &mut Vec<Action>) {
        let is_over = matches!(self.processes, Processes::None | Processes::Ended)
            && self.children.iter().all(|child| child.phase == ChildPhase::Over);
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

/// The exit code of a job that has lost a host.
pub const EXIT_LOST: u8 = 1;

/// A host is lost.
fn lost(text: String) -> Failure {
    Failure {
        code: EXIT_LOST,
        text,
        is_patient: false,
        is_only_noted: false,
        is_consequence: false,
        is_before_end: false,
    }
}
