//! This host's part of the job, as its node sees it: the launcher, and what its processes write and read.

use crate::frame::{Assignment, Stream};
use crate::input::Input;
use crate::machine::{Failure, Local};
use evenkeel_launch::{Hosted, HostedJob, Lines, Order, Report};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// So long a program that reads standard input may leave a line without an end before it is shown.
const PROMPT: Duration = Duration::from_millis(50);
/// How much is read at once, bytes: a pipe holds as much.
const PART: usize = 64 * 1024;
/// Variables that belong to a host or to a login there. What the client's are says nothing here.
const OF_HOSTS: [&str; 14] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "HOST",
    "HOSTNAME",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "SSH_AUTH_SOCK",
    "DISPLAY",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_ID",
    "DBUS_SESSION_BUS_ADDRESS",
];

pub(super) struct Processes {
    hosted: Hosted,
    /// The program's file, when it is known.
    pub program: PathBuf,
    lines: [Lines; 2],
    /// Since when there is the beginning of a line.
    rest_since: [Option<Instant>; 2],
    /// Who takes what the user types: 0 is the program here, then the children.
    pub input: Input,
    /// What the program here has not read yet.
    unread: Vec<u8>,
    is_input_over: bool,
    reads_input: bool,
    runs: bool,
    has_reported_end: bool,
    is_end_taken: bool,
    /// When the launcher was told last that this process lives.
    said_alive: Instant,
}

impl Processes {
    pub fn new(hosted: Hosted, assignment: &Assignment, children: usize) -> Processes {
        let mut input = Input::new(children + 1);
        if !assignment.reads_input {
            input.gone(0);
        }
        if !assignment.job.relays_input() {
            (1..=children).for_each(|child| input.gone(child));
        }
        Processes {
            hosted,
            program: PathBuf::new(),
            lines: [Lines::new(String::new()), Lines::new(String::new())],
            rest_since: [None; 2],
            input,
            unread: Vec::new(),
            is_input_over: false,
            reads_input: assignment.reads_input,
            runs: false,
            has_reported_end: false,
            is_end_taken: false,
            said_alive: Instant::now(),
        }
    }

    /// Starts them.
    pub fn run(&mut self, assignment: &Assignment) {
        let (place, job) = (&assignment.places[0], &assignment.job);
        let order = Order::Run(Box::new(HostedJob {
            name: assignment.name.clone(),
            host: place.host.clone(),
            host_number: place.number,
            program: self.program.clone().into(),
            arguments: job.arguments.clone(),
            environment: environment(&job.environment),
            directory: job.directory.clone(),
            ranks: place.ranks,
            first_rank: place.first_rank,
            all_ranks: assignment.all_ranks,
            mapping: assignment.mapping.clone(),
            is_mpi: job.is_mpi,
            label: job.label,
            reads_input: self.reads_input,
            grace_ms: job.grace_ms,
            keep_going: job.keep_going,
            patience_ms: assignment.settings.patience_ms,
        }));
        self.runs = true;
        self.order(&order);
    }

    pub fn order(&mut self, order: &Order) {
        self.hosted.channel.send(order);
    }

    /// Tells the launcher that this process lives, at most once in an interval.
    pub fn say_alive(&mut self, interval: Duration) {
        if self.runs && !self.has_reported_end && self.said_alive.elapsed() >= interval {
            self.said_alive = Instant::now();
            self.order(&Order::Alive);
        }
    }

    /// What has happened to them. `shells` are no processes of the job.
    pub fn take(&mut self, host: &str, shells: &HashSet<i32>) -> Vec<Local> {
        if !self.runs || self.has_reported_end {
            return Vec::new();
        }
        self.hosted.channel.flush();
        let mut events = Vec::new();
        for report in self.hosted.channel.receive::<Report>() {
            match report {
                Report::Values(values) => events.push(Local::Values(values)),
                Report::Failed { code, text, is_patient, is_only_noted, is_consequence } => {
                    events.push(Local::Failed(Failure {
                        code,
                        text,
                        is_patient,
                        is_only_noted,
                        is_consequence,
                        is_before_end: false, // the machine knows
                    }));
                }
                Report::Ended => self.has_reported_end = true,
            }
        }
        if self.hosted.channel.is_closed() && !self.has_reported_end {
            self.has_reported_end = true;
            // It was killed: what it has started is below this process now.
            self.hosted.end_all_but(shells);
            events.push(Local::Failed(Failure {
                code: 128 + 9,
                text: format!("the process that ran the job on {host} was killed."),
                is_patient: false,
                is_only_noted: false,
                is_consequence: false,
                is_before_end: false,
            }));
        }
        events
    }

    /// Whether they have all ended, and their output has been read. Says so once.
    pub fn is_over(&mut self) -> bool {
        let is_read = self.hosted.stdout.is_none() && self.hosted.stderr.is_none();
        let is_over = self.runs && self.has_reported_end && is_read && !self.is_end_taken;
        if is_over {
            self.is_end_taken = true;
            self.input.gone(0);
            self.hosted.stdin = None;
            // Nothing is waited for any more; the launcher ends by itself.
            self.hosted.has_ended();
        }
        is_over
    }

    fn pipe(&mut self, stream: Stream) -> &mut Option<OwnedFd> {
        match stream {
            Stream::Stdout => &mut self.hosted.stdout,
            Stream::Stderr => &mut self.hosted.stderr,
        }
    }

    /// Reads what they have written: whole lines. None: nothing has come, or all has been read.
    pub fn read(&mut self, stream: Stream) -> Option<Vec<u8>> {
        if !self.runs {
            return None;
        }
        let number = stream as usize;
        let mut out = Vec::new();
        let mut part = vec![0; PART];
        while let Some(pipe) = self.pipe(stream) {
            match rustix::io::read(&*pipe, &mut part) {
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => break,
                Err(_) | Ok(0) => {
                    self.lines[number].finish(&mut out);
                    *self.pipe(stream) = None;
                }
                Ok(read) => {
                    self.lines[number].take(&part[..read], &mut out);
                    self.rest_since[number] = self.lines[number].has_rest().then(Instant::now);
                    if !out.is_empty() {
                        break;
                    }
                }
            }
        }
        let is_prompt = self.reads_input && self.rest_since[number].is_some_and(|at| at.elapsed() >= PROMPT);
        if is_prompt {
            self.lines[number].flush(&mut out);
            self.rest_since[number] = None;
        }
        (!out.is_empty()).then_some(out)
    }

    /// When the beginning of a line is to be shown.
    pub fn prompt_after(&self) -> Option<Duration> {
        let since = self.rest_since.iter().flatten().min().filter(|_| self.reads_input)?;
        Some(PROMPT.saturating_sub(since.elapsed()) + Duration::from_millis(1))
    }

    /// No process reads a stream any more: the kernel tells those that write there.
    pub fn close_output(&mut self, stream: Stream) {
        *self.pipe(stream) = None;
    }

    /// The user has typed something.
    pub fn take_input(&mut self, bytes: &[u8]) {
        self.input.came(bytes.len());
        if self.reads_input && self.hosted.stdin.is_some() {
            self.unread.extend_from_slice(bytes);
        }
    }

    pub fn end_input(&mut self) {
        self.is_input_over = true;
    }

    /// Gives the program as much as it takes.
    pub fn write_input(&mut self) {
        while let Some(stdin) = self.hosted.stdin.as_ref().filter(|_| !self.unread.is_empty()) {
            match rustix::io::write(stdin, &self.unread) {
                Ok(written) => {
                    self.unread.drain(..written);
                    self.input.taken(0, written);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => {
                    self.unread.clear();
                    self.hosted.stdin = None;
                    self.input.gone(0);
                }
            }
        }
        if self.is_input_over && self.unread.is_empty() {
            self.hosted.stdin = None;
        }
    }

    /// What this is to be woken up for.
    pub fn watch<'a>(&'a self, has_room: impl Fn(Stream) -> bool, fds: &mut Vec<PollFd<'a>>) {
        if !self.runs {
            return;
        }
        if !self.has_reported_end {
            let channel = &self.hosted.channel;
            let flags = if channel.has_output() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            fds.push(PollFd::from_borrowed_fd(channel.descriptor(), flags));
        }
        for (stream, pipe) in [(Stream::Stdout, &self.hosted.stdout), (Stream::Stderr, &self.hosted.stderr)] {
            if let Some(pipe) = pipe.as_ref().filter(|_| has_room(stream)) {
                fds.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
            }
        }
        if let Some(stdin) = self.hosted.stdin.as_ref().filter(|_| !self.unread.is_empty()) {
            fds.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::OUT));
        }
    }
}

/// The job's environment on this host.
fn environment(of_job: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let is_of_host = |name: &OsString| OF_HOSTS.iter().any(|host| name == host);
    let given = of_job.iter().filter(|(name, _)| !is_of_host(name)).cloned();
    given.chain(std::env::vars_os().filter(|(name, _)| is_of_host(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_host_stays_there() {
        let given = [("HOME", "/of/client"), ("MY_VARIABLE", "1"), ("SSH_AUTH_SOCK", "/tmp/agent")];
        let given = given.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let found = environment(&given);
        assert!(found.contains(&("MY_VARIABLE".into(), "1".into())));
        assert!(!found.contains(&given[0]) && !found.contains(&given[2]));
    }
}
