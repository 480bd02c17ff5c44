//! The process that the user has started: the root of the tree.

use crate::children::{ChildEvent, Children};
use crate::delivery::{Dispatch, Originals};
use crate::frame::{Assignment, Frame, LONGEST_PART, Stream};
use crate::identity;
use crate::input::Input;
use crate::job::{HostJob, InputChoice, NodeError, NodeSettings, Place, mapping};
use crate::machine::{Action, Input as MachineInput, Machine, Millis, Up};
use evenkeel_launch::{Signals, Sink};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How a job has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit code: that of the process that failed first, or 0.
    pub code: u8,
    /// What the user is to be told.
    pub sentence: Option<String>,
    /// The signal by which the user has ended it.
    pub signal: Option<i32>,
}

/// Runs a job on several hosts, and returns when nothing of it is left.
///
/// # Errors
/// If it was not started anywhere, because a host refuses, cannot be reached, or the like.
pub fn run(places: &[Place], job: HostJob, settings: NodeSettings) -> Result<Ended, NodeError> {
    let client = Client::start(places, job, settings)?;
    client.run()
}

struct Client {
    machine: Machine,
    children: Children,
    sinks: [Sink; 2],
    /// What each child is to be told for each stream, while the sink is full.
    untold: Vec<[u32; 2]>,
    is_full: [bool; 2],
    is_closed: [bool; 2],
    originals: Originals,
    dispatch: Dispatch,
    input: Input,
    input_choice: InputChoice,
    is_input_over: bool,
    signals: Signals,
    signal: Option<i32>,
    begun: Instant,
    hosts: usize,
    is_left: bool,
}

impl Client {
    fn start(places: &[Place], job: HostJob, settings: NodeSettings) -> Result<Client, NodeError> {
        let system = |what| move |why| NodeError::System { what, why };
        let originals = Originals::new(&job.sent);
        let identity = identity::own().map_err(system("this program's own file"))?;
        let input_choice = job.input;
        let patience_ms = settings.patience_ms;
        let assignment = Assignment {
            places: Vec::new(),
            name: name().map_err(system("a name for the job"))?,
            all_ranks: places.iter().map(|place| place.ranks).sum(),
            mapping: mapping(places),
            reads_input: false,
            job,
            settings,
        };
        let duplicate = |fd: std::os::fd::BorrowedFd| fd.try_clone_to_owned().and_then(Sink::start);
        let sinks = [
            duplicate(rustix::stdio::stdout()).map_err(system("standard output"))?,
            duplicate(rustix::stdio::stderr()).map_err(system("standard error"))?,
        ];
        let signals = Signals::catch_also(&[libc::SIGTTIN, libc::SIGTTOU]).map_err(system("signals"))?;
        let first_reads = input_choice == InputChoice::First;
        let children =
            Children::start(places, &assignment, first_reads, &identity).map_err(system("an eventfd"))?;
        let mut input = Input::new(children.len());
        if input_choice != InputChoice::All {
            let readers = usize::from(input_choice == InputChoice::First);
            (readers..children.len()).for_each(|child| input.gone(child));
        }
        Ok(Client {
            machine: Machine::client(children.hosts(), patience_ms, 0),
            untold: vec![[0; 2]; children.len()],
            originals,
            dispatch: Dispatch::new(children.len()),
            children,
            sinks,
            is_full: [false; 2],
            is_closed: [false; 2],
            input,
            input_choice,
            is_input_over: input_choice == InputChoice::None,
            signals,
            signal: None,
            begun: Instant::now(),
            hosts: places.len(),
            is_left: false,
        })
    }

    fn now(&self) -> Millis {
        self.begun.elapsed().as_millis() as Millis
    }

    fn run(mut self) -> Result<Ended, NodeError> {
        while !self.is_left {
            self.take_signals();
            self.take_children();
            self.deliver();
            self.tell(MachineInput::Tick);
            self.take_room();
            self.read_input();
            if !self.is_left {
                self.sleep();
            }
        }
        self.children.finish();
        self.sinks.into_iter().for_each(Sink::finish);
        let cause = self.machine.cause();
        if let Some(number) = self.signal {
            let code = cause.map_or(0, |cause| cause.code);
            let sentence = cause.map(|cause| cause.text.clone()).filter(|text| !text.is_empty());
            return Ok(Ended { code, sentence, signal: Some(number) });
        }
        if !self.machine.has_started() {
            let lost = cause.map(|cause| cause.text.clone());
            let refusals = self.machine.refusals().iter().cloned().chain(lost).collect();
            return Err(NodeError::Refused(refusals));
        }
        let Some(cause) = cause else { return Ok(Ended { code: 0, sentence: None, signal: None }) };
        let end = match self.hosts {
            _ if cause.is_only_noted => "",
            1 => " The job was ended.",
            _ => " The job was ended on all hosts.",
        };
        let rival = self
            .machine
            .rival()
            .map_or(String::new(), |rival| format!(" At about the same time, or before: {}", rival.text));
        let sentence = Some(format!("{}{rival}{end}", cause.text)).filter(|text| !text.is_empty());
        Ok(Ended { code: cause.code, sentence, signal: None })
    }

    fn tell(&mut self, input: MachineInput) {
        for action in self.machine.take(self.now(), input) {
            match action {
                Action::ToChild(child, message) => self.children.send(child, &Frame::Down(message)),
                Action::Leave => self.is_left = true,
                // The client has no parent and no processes.
                _ => {}
            }
        }
    }

    fn take_signals(&mut self) {
        for received in self.signals.take() {
            match received.number {
                libc::SIGCHLD => {}
                // The terminal stops the whole group if one of it reads, or writes, in the background.
                libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => self.stop(),
                libc::SIGCONT => {}
                number => {
                    let ends = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
                    let runs = self.machine.cause().is_none_or(|cause| cause.is_only_noted);
                    if ends.contains(&number) && runs {
                        self.signal = Some(number);
                    }
                    self.tell(MachineInput::Signal(number));
                }
            }
        }
    }

    /// Stops the job and this process (Ctrl-Z), until it is continued.
    fn stop(&mut self) {
        self.tell(MachineInput::Signal(libc::SIGSTOP));
        self.tell(MachineInput::Pause(true));
        // The connections are read and written meanwhile by no process; the nodes know.
        self.children.arm();
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
        self.tell(MachineInput::Pause(false));
        self.tell(MachineInput::Signal(libc::SIGCONT));
    }

    fn take_children(&mut self) {
        for (child, event) in self.children.take() {
            // Output may hold up its signs of life on a slow network.
            if matches!(event, ChildEvent::Frame(_)) {
                self.tell(MachineInput::Heard(child));
            }
            match event {
                ChildEvent::Linked => self.tell(MachineInput::Linked(child)),
                ChildEvent::Lost(why) => {
                    self.input.gone(child);
                    self.tell(MachineInput::Lost(child, why));
                }
                ChildEvent::Frame(Frame::Up(message)) => {
                    let is_done = message == Up::Done;
                    self.tell(MachineInput::Up(child, message));
                    if is_done {
                        self.input.gone(child);
                        self.children.done(child);
                    }
                }
                ChildEvent::Frame(Frame::Output(stream, bytes)) => self.show(child, stream, &bytes),
                ChildEvent::Frame(Frame::InputTaken(bytes)) => self.input.taken(child, bytes as usize),
                ChildEvent::Frame(Frame::WantFile(file)) => self.dispatch.want(child, file as usize),
                ChildEvent::Frame(Frame::FileTaken(bytes)) => self.dispatch.taken(child, bytes.into()),
                ChildEvent::Frame(_) => {}
            }
        }
    }

    fn deliver(&mut self) {
        let children = &mut self.children;
        self.dispatch.send(&mut self.originals, |child, frame| children.send(child, frame));
    }

    fn show(&mut self, child: usize, stream: Stream, bytes: &[u8]) {
        let number = stream as usize;
        self.untold[child][number] += bytes.len() as u32;
        if !self.is_closed[number] && !self.sinks[number].add(bytes) {
            self.is_full[number] = true;
        }
        self.pay(stream);
    }

    /// Tells the children what has been taken, unless the reader is behind.
    fn pay(&mut self, stream: Stream) {
        let number = stream as usize;
        if self.is_full[number] {
            return;
        }
        for child in 0..self.untold.len() {
            let untold = std::mem::take(&mut self.untold[child][number]);
            if untold > 0 {
                self.children.send(child, &Frame::OutputTaken(stream, untold));
            }
        }
    }

    /// There is room again in a sink, or no process reads it any more.
    fn take_room(&mut self) {
        for stream in Stream::BOTH {
            let number = stream as usize;
            let mut fds = [PollFd::from_borrowed_fd(self.sinks[number].room(), PollFlags::IN)];
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            if self.is_closed[number] || !matches!(poll(&mut fds, Some(&zero)), Ok(1)) {
                continue;
            }
            if !self.sinks[number].has_reader() {
                self.is_closed[number] = true;
                for child in 0..self.children.len() {
                    self.children.send(child, &Frame::OutputClosed(stream));
                }
            }
            self.is_full[number] = false;
            self.pay(stream);
        }
    }

    /// Asked again at each tick: the user may fetch this process to the foreground.
    fn wants_input(&self) -> bool {
        let is_wanted = !self.is_input_over && self.input.room() > 0 && self.input.has_taker();
        is_wanted && self.machine.has_started() && !is_in_background(rustix::stdio::stdin())
    }

    fn read_input(&mut self) {
        while self.wants_input() {
            let stdin = rustix::stdio::stdin();
            let mut fds = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            if !matches!(poll(&mut fds, Some(&zero)), Ok(1)) {
                return;
            }
            let mut bytes = vec![0; LONGEST_PART.min(self.input.room())];
            match rustix::io::read(stdin, &mut bytes) {
                Err(Errno::INTR | Errno::AGAIN) => return,
                Err(_) | Ok(0) => {
                    self.is_input_over = true;
                    self.tell_readers(&Frame::InputEnd);
                }
                Ok(read) => {
                    bytes.truncate(read);
                    self.input.came(read);
                    self.tell_readers(&Frame::Input(bytes));
                }
            }
        }
    }

    fn tell_readers(&mut self, frame: &Frame) {
        let readers = if self.input_choice == InputChoice::All { self.children.len() } else { 1 };
        for child in 0..readers.min(self.children.len()) {
            self.children.send(child, frame);
        }
    }

    fn sleep(&mut self) {
        if !self.children.arm() {
            return;
        }
        let timeout = Timespec::try_from(Duration::from_millis(self.machine.interval() / 2 + 1));
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.children.news(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN),
        ];
        fds.extend(self.children.descriptors().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        for stream in Stream::BOTH.into_iter().filter(|stream| !self.is_closed[*stream as usize]) {
            fds.push(PollFd::from_borrowed_fd(self.sinks[stream as usize].room(), PollFlags::IN));
        }
        if self.wants_input() {
            fds.push(PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN));
        }
        // An interrupted wait comes with a signal.
        let _ = poll(&mut fds, timeout.ok().as_ref());
    }
}

/// A name that no other job has.
fn name() -> std::io::Result<String> {
    let random: [u8; 8] = evenkeel_secret::random()?;
    Ok(format!("{}x{}", std::process::id(), identity::to_hexadecimal(&random)))
}

/// Whether reading would stop this process: its input is a terminal, whose foreground is another group.
fn is_in_background(stdin: impl AsFd) -> bool {
    rustix::termios::tcgetpgrp(stdin).is_ok_and(|foreground| foreground != rustix::process::getpgrp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_terminal_is_always_read() {
        let (pipe, _writer) = rustix::pipe::pipe().unwrap();
        assert!(!is_in_background(&pipe));
        assert!(!is_in_background(std::fs::File::open("/dev/null").unwrap()));
    }
}
