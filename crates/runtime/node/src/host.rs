//! The node process of a host: starts further nodes, and this host's part of the job.

mod check;
mod processes;

use crate::boot::{Credentials, EXIT_OTHER_BUILD, Introduction, NODE};
use crate::children::{ChildEvent, Children};
use crate::delivery::{Delivery, Dispatch, Task};
use crate::frame::{Assignment, Frame, Stream};
use crate::identity;
use crate::link::{Link, LinkEvent, open_port};
use crate::machine::{Action, Input as MachineInput, Local, Machine, Millis, Up};
use crate::output::{Output, Source};
use evenkeel_launch::{Hosted, Order};
use evenkeel_secret::JobSecret;
use processes::Processes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::Write;
use std::time::{Duration, Instant};
use tracing::debug;
use zeroize::Zeroizing;

/// How long a node waits to be told what to do.
const START: Duration = Duration::from_secs(60);
/// How long a node that is done waits for its parent to end the connection.
const GOODBYE: Duration = Duration::from_secs(5);
/// The longest line with credentials, bytes.
const LONGEST_CREDENTIALS: usize = 64 * 1024;

/// Runs this process as a node, if it is the build that `wanted` names. `network` and `ports` say where it
/// listens. Returns its exit code.
///
/// Must be called while this process has one thread.
pub fn serve(wanted: &str, network: &str, ports: &str) -> u8 {
    if !identity::own().is_ok_and(|own| own == wanted) {
        return EXIT_OTHER_BUILD;
    }
    match begin(wanted, network, ports) {
        Ok(()) => 0,
        Err(why) => {
            eprintln!("evenkeel: {why}");
            1
        }
    }
}

fn begin(identity: &str, network: &str, ports: &str) -> Result<(), String> {
    // Before there is anything that the launcher must not inherit.
    let hosted = Hosted::start().map_err(|error| error.to_string())?;
    let ports =
        ports.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    let port = open_port(network, ports.unwrap_or((0, 0))).map_err(|error| error.to_string())?;
    let introduction = Introduction { address: identity::to_hexadecimal(port.address()) };
    let text = serde_json::to_string(&introduction).expect("texts can be written as JSON");
    let mut stdout = std::io::stdout().lock();
    // What a login script has printed may lack the end of its line.
    writeln!(stdout, "\n{NODE}{text}").and_then(|()| stdout.flush()).map_err(|error| error.to_string())?;
    let credentials = read_credentials()?;
    if let Some(content) = &credentials.content {
        check_content(content)?;
    }
    let unreadable = || "the key of the connection is damaged.".to_string();
    let secret = Zeroizing::new(identity::from_hexadecimal(&credentials.secret).ok_or_else(unreadable)?);
    let secret = JobSecret::new(secret[..].try_into().map_err(|_| unreadable())?);
    let parent = identity::from_hexadecimal(&credentials.parent).ok_or_else(unreadable)?;
    drop(credentials);
    let mut link = Link::to_parent(port, &secret, parent).map_err(|error| error.to_string())?;
    let assignment = first_frame(&mut link)?;
    debug!(
        "this is the node of {}, which reaches {} hosts",
        assignment.places[0].host,
        assignment.places.len()
    );
    Host::start(assignment, identity, link, hosted)?.run();
    Ok(())
}

/// Reads one line from standard input, byte by byte: what is behind it stays there.
fn read_credentials() -> Result<Credentials, String> {
    let lost = || "the process that started this node has gone.".to_string();
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST_CREDENTIALS));
    let until = Instant::now() + START;
    while line.last() != Some(&b'\n') && line.len() < LONGEST_CREDENTIALS {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("this node was not told the key of its connection in time.".into());
        }
        let stdin = rustix::stdio::stdin();
        let mut fds = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
        if !matches!(poll(&mut fds, Timespec::try_from(left).ok().as_ref()), Ok(1)) {
            continue;
        }
        let mut byte = [0];
        match rustix::io::read(stdin, &mut byte) {
            Ok(1) => line.push(byte[0]),
            Err(rustix::io::Errno::INTR) => {}
            _ => return Err(lost()),
        }
    }
    serde_json::from_slice(&line).map_err(|_| "the key of the connection is damaged.".into())
}

/// This program came over the shell: it must be whole. One that is not is removed.
fn check_content(content: &str) -> Result<(), String> {
    let own = std::fs::read("/proc/self/exe").map_err(|error| error.to_string())?;
    if identity::content_hash(&own) == content {
        return Ok(());
    }
    if let Ok(file) = std::fs::read_link("/proc/self/exe") {
        // It would be found damaged again.
        let _ = std::fs::remove_file(file);
    }
    Err("this program came here damaged. Start the job again.".into())
}

/// Waits for the assignment.
fn first_frame(link: &mut Link) -> Result<Box<Assignment>, String> {
    let until = Instant::now() + START;
    loop {
        match link.next() {
            Some(LinkEvent::Frame(Frame::Assign(assignment))) if !assignment.places.is_empty() => {
                return Ok(assignment);
            }
            Some(LinkEvent::Frame(_)) => return Err("the first message was no assignment.".into()),
            Some(LinkEvent::Lost(why)) => return Err(format!("the connection is lost: {why}.")),
            None => {}
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("no connection has come in time. Check firewalls, --network and --ports.".into());
        }
        if link.arm() {
            let stdin = rustix::stdio::stdin();
            // The end of standard input is the end of the process that started this one.
            let mut fds = [
                PollFd::from_borrowed_fd(link.descriptor(), PollFlags::IN),
                PollFd::from_borrowed_fd(stdin, PollFlags::IN),
            ];
            let woken = poll(&mut fds, Timespec::try_from(left).ok().as_ref());
            if woken.is_ok() && !fds[1].revents().is_empty() && fds[0].revents().is_empty() {
                return Err("the process that started this node has gone.".into());
            }
        }
    }
}

/// A node that has been told what to do.
struct Host {
    assignment: Box<Assignment>,
    machine: Machine,
    link: Link,
    children: Children,
    processes: Processes,
    output: Output,
    delivery: Delivery,
    dispatch: Dispatch,
    begun: Instant,
    /// The machine has said that nothing is left: the parent is to be told behind all output.
    is_done: bool,
    /// Since when the parent has been told.
    said_done: Option<Instant>,
}

impl Host {
    fn start(
        assignment: Box<Assignment>,
        identity: &str,
        link: Link,
        hosted: Hosted,
    ) -> Result<Host, String> {
        let begun = Instant::now();
        let children = Children::start(&assignment.places[1..], &assignment, false, identity)
            .map_err(|error| format!("cannot start further nodes: {error}."))?;
        let machine = Machine::host(children.hosts(), assignment.settings.patience_ms, 0);
        let processes = Processes::new(hosted, &assignment, children.len());
        let delivery = Delivery::start(&assignment.job.sent, &assignment.places[0].host, &assignment.name);
        let dispatch = Dispatch::new(children.len());
        Ok(Host {
            assignment,
            machine,
            link,
            children,
            processes,
            output: Output::default(),
            delivery,
            dispatch,
            begun,
            is_done: false,
            said_done: None,
        })
    }

    fn now(&self) -> Millis {
        self.begun.elapsed().as_millis() as Millis
    }

    fn run(mut self) {
        // What is not sent is looked for at once: it would be a pity to send the rest for nothing.
        if let Err(why) = check::check_beside(&self.assignment, |path| self.delivery.brings(path)) {
            self.delivery.abandon(why);
        }
        while !self.is_over() {
            self.take_parent();
            self.take_children();
            self.deliver();
            self.take_processes();
            // What has come is looked at before the time is, so that no node is lost that was heard of.
            self.tell(MachineInput::Tick);
            self.processes.say_alive(Duration::from_millis(self.machine.interval()));
            self.pass_output_on();
            self.pass_input_on();
            self.sleep();
        }
        // Before the shells of nodes below are waited for: this node's own shell is not waited for longer.
        self.delivery.end();
        self.children.finish();
    }

    /// The parent knows that this node is done, or is gone.
    fn is_over(&self) -> bool {
        let is_known = self.link.is_lost() || self.said_done.is_some_and(|since| since.elapsed() > GOODBYE);
        self.is_done && is_known
    }

    fn tell(&mut self, input: MachineInput) {
        for action in self.machine.take(self.now(), input) {
            match action {
                Action::ToParent(Up::Done) | Action::Leave => self.is_done = true,
                Action::ToParent(message) => self.link.send(&Frame::Up(message)),
                Action::ToChild(child, message) => self.children.send(child, &Frame::Down(message)),
                Action::Run => self.processes.run(&self.assignment),
                Action::Release(values) => self.processes.order(&Order::Values(values)),
                Action::Signal(number) => self.processes.order(&Order::Signal(number)),
                Action::End { is_patient } => self.processes.order(&Order::End { is_patient }),
                Action::Kill => self.processes.order(&Order::Kill),
            }
        }
    }

    /// Goes on with the files that this host and its children lack.
    fn deliver(&mut self) {
        match self.delivery.work() {
            None => {}
            Some(Task::Ask(file)) => self.link.send(&Frame::WantFile(file as u32)),
            Some(Task::GiveUp(why)) => self.tell(MachineInput::Local(Local::Checked(Err(why)))),
            Some(Task::Finish) => {
                self.delivery.localize(&mut self.assignment.job);
                let checked = check::check(&self.assignment).map(|program| self.processes.program = program);
                self.tell(MachineInput::Local(Local::Checked(checked)));
            }
        }
        let children = &mut self.children;
        self.dispatch.send(&mut self.delivery, |child, frame| children.send(child, frame));
    }

    fn take_parent(&mut self) {
        while let Some(event) = self.link.next() {
            if matches!(event, LinkEvent::Frame(_)) {
                self.tell(MachineInput::ParentHeard);
            }
            match event {
                LinkEvent::Lost(why) => {
                    debug!("the parent is lost: {why}");
                    self.tell(MachineInput::ParentLost);
                }
                LinkEvent::Frame(Frame::Down(message)) => self.tell(MachineInput::Down(message)),
                LinkEvent::Frame(Frame::OutputTaken(stream, bytes)) => {
                    self.output.taken(stream, bytes as usize);
                }
                LinkEvent::Frame(Frame::OutputClosed(stream)) => {
                    self.processes.close_output(stream);
                    self.tell_all_children(&Frame::OutputClosed(stream));
                }
                LinkEvent::Frame(Frame::Input(bytes)) => {
                    if self.assignment.job.relays_input() {
                        self.tell_all_children(&Frame::Input(bytes.clone()));
                    }
                    self.processes.take_input(&bytes);
                }
                LinkEvent::Frame(Frame::InputEnd) => {
                    if self.assignment.job.relays_input() {
                        self.tell_all_children(&Frame::InputEnd);
                    }
                    self.processes.end_input();
                }
                LinkEvent::Frame(Frame::FilePart(file, bytes)) => {
                    self.delivery.take(file as usize, &bytes);
                    self.link.send(&Frame::FileTaken(bytes.len() as u32));
                    // Children are to get their share, and signs of life, before more is taken.
                    return;
                }
                LinkEvent::Frame(Frame::NoFile(file)) => self.delivery.refused(file as usize),
                LinkEvent::Frame(_) => {}
            }
        }
    }

    fn tell_all_children(&mut self, frame: &Frame) {
        for child in 0..self.children.len() {
            self.children.send(child, frame);
        }
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
                    self.processes.input.gone(child + 1);
                    self.tell(MachineInput::Lost(child, why));
                }
                ChildEvent::Frame(Frame::Up(message)) => {
                    let is_done = message == Up::Done;
                    self.tell(MachineInput::Up(child, message));
                    if is_done {
                        self.processes.input.gone(child + 1);
                        self.children.done(child);
                    }
                }
                ChildEvent::Frame(Frame::Output(stream, bytes)) => {
                    self.output.add(stream, Source::Child(child), bytes);
                }
                ChildEvent::Frame(Frame::InputTaken(bytes)) => {
                    self.processes.input.taken(child + 1, bytes as usize);
                }
                ChildEvent::Frame(Frame::WantFile(file)) => self.dispatch.want(child, file as usize),
                ChildEvent::Frame(Frame::FileTaken(bytes)) => self.dispatch.taken(child, bytes.into()),
                ChildEvent::Frame(_) => {}
            }
        }
    }

    fn take_processes(&mut self) {
        let host = self.assignment.places[0].host.clone();
        for event in self.processes.take(&host, &self.children.shells()) {
            self.tell(MachineInput::Local(event));
        }
        for stream in Stream::BOTH {
            while self.output.has_room(stream) {
                let Some(bytes) = self.processes.read(stream) else { break };
                self.output.add(stream, Source::Own, bytes);
            }
        }
        if self.processes.is_over() {
            self.tell(MachineInput::Local(Local::Ended));
        }
    }

    /// Sends what the parent has room for; nothing is left behind that no process reads.
    fn pass_output_on(&mut self) {
        while let Some(part) = self.output.next() {
            let length = part.bytes.len();
            if let Source::Child(child) = part.source {
                self.children.send(child, &Frame::OutputTaken(part.stream, length as u32));
            }
            if self.link.is_lost() || self.machine.is_cut_off() {
                self.output.taken(part.stream, length);
            } else {
                self.link.send(&Frame::Output(part.stream, part.bytes));
            }
        }
        if self.is_done && self.said_done.is_none() && self.output.is_empty() {
            self.link.send(&Frame::Up(Up::Done));
            self.said_done = Some(Instant::now());
        }
    }

    fn pass_input_on(&mut self) {
        self.processes.write_input();
        let taken = self.processes.input.take_report();
        if taken > 0 {
            self.link.send(&Frame::InputTaken(taken as u32));
        }
    }

    /// Sleeps until there may be something to do.
    fn sleep(&mut self) {
        if self.is_over() || self.delivery.has_work() || !self.children.arm() || !self.link.arm() {
            return;
        }
        let interval = Duration::from_millis(self.machine.interval() / 2 + 1);
        let timeout = Timespec::try_from(self.processes.prompt_after().unwrap_or(interval).min(interval));
        let mut fds = vec![PollFd::from_borrowed_fd(self.children.news(), PollFlags::IN)];
        fds.extend(self.children.descriptors().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        if !self.link.is_lost() {
            fds.push(PollFd::from_borrowed_fd(self.link.descriptor(), PollFlags::IN));
        }
        self.processes.watch(|stream| self.output.has_room(stream), &mut fds);
        // An interrupted wait is a short one.
        let _ = poll(&mut fds, timeout.ok().as_ref());
    }
}
