//! The nodes that one node has started, and the connections to them.

use crate::boot::{Boot, Booted, OpenShells, Shell};
use crate::frame::{Assignment, Frame};
use crate::job::{NodeSettings, Place};
use crate::link::{Link, LinkEvent, open_port};
use crate::tree::subtrees;
use evenkeel_fabric::tls::UnconnectedWire;
use evenkeel_secret::JobSecret;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::HashSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How long the shells of nodes that have ended are waited for.
const ENDING: Duration = Duration::from_millis(1500);

/// Any port that is free.
const ANY_PORT: (u16, u16) = (0, 0);

/// What children do.
#[derive(Debug)]
pub(crate) enum ChildEvent {
    /// There is a connection, over which the child has its assignment.
    Linked,
    Frame(Frame),
    /// It could not be started, or is lost; a sentence.
    Lost(String),
}

struct OneChild {
    host: String,
    assignment: Option<Assignment>,
    port: Option<UnconnectedWire>,
    shell: Option<Shell>,
    link: Option<Link>,
    /// It has said that it is done: the end of its connection is no loss.
    is_done: bool,
}

/// All children of a node.
pub(crate) struct Children {
    all: Vec<OneChild>,
    booted: Receiver<(usize, Result<Booted, String>)>,
    /// Readable when a boot has come to its end.
    news: Arc<OwnedFd>,
    open: OpenShells,
}

impl Children {
    /// Starts the nodes below one that is to reach `below`. `assignment` is that of this node;
    /// `first_reads_input`: the first child's program is the one that reads standard input.
    pub(crate) fn start(
        below: &[Place],
        assignment: &Assignment,
        first_reads_input: bool,
        identity: &str,
    ) -> std::io::Result<Children> {
        let news = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (sender, booted) = channel();
        let open = OpenShells::default();
        let settings = &assignment.settings;
        let mut all = Vec::new();
        for places in subtrees(below, settings.fanout) {
            let host = places[0].host.clone();
            // This end connects and never listens: the ports that the user allows are for those that do.
            let port = open_port(&settings.network, ANY_PORT);
            let number = all.len();
            let own = Assignment {
                places,
                reads_input: assignment.job.relays_input() || first_reads_input && number == 0,
                ..assignment.clone()
            };
            let news = Arc::clone(&news);
            match &port {
                Ok(port) => {
                    let boot = boot(&host, settings, port.address().to_vec(), identity, &open);
                    start(boot, number, sender.clone(), news);
                }
                Err(why) => {
                    let sentence = format!("no connection to host {host}: {why}.");
                    tell(&sender, &news, number, Err(sentence));
                }
            }
            let assignment = Some(own);
            all.push(OneChild { host, assignment, port: port.ok(), shell: None, link: None, is_done: false });
        }
        Ok(Children { all, booted, news, open })
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn hosts(&self) -> Vec<String> {
        self.all.iter().map(|child| child.host.clone()).collect()
    }

    /// The numbers of the remote shells' processes here.
    pub(crate) fn shells(&self) -> HashSet<i32> {
        self.all.iter().filter_map(|child| child.shell.as_ref().map(Shell::pid)).collect()
    }

    /// Readable when there may be an event; the connections are apart.
    pub(crate) fn news(&self) -> BorrowedFd<'_> {
        self.news.as_fd()
    }

    /// Prepares for sleep. False: there is an event already.
    pub(crate) fn arm(&mut self) -> bool {
        self.all.iter_mut().filter_map(|child| child.link.as_mut()).all(Link::arm)
    }

    /// The descriptors of the connections.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.iter().filter_map(|child| child.link.as_ref()).map(Link::descriptor)
    }

    pub(crate) fn send(&mut self, child: usize, frame: &Frame) {
        if let Some(link) = &mut self.all[child].link {
            link.send(frame);
        }
    }

    /// The child has said that it is done.
    pub(crate) fn done(&mut self, child: usize) {
        self.all[child].is_done = true;
        // Ends the connection, for which the child waits.
        self.all[child].link = None;
    }

    /// What has happened, in the order of children.
    pub(crate) fn take(&mut self) -> Vec<(usize, ChildEvent)> {
        let mut counter = [0; 8];
        // Nothing to read is the usual case.
        let _ = rustix::io::read(&*self.news, &mut counter);
        let mut events = Vec::new();
        while let Ok((number, booted)) = self.booted.try_recv() {
            events.push((number, self.take_boot(number, booted)));
        }
        for (number, child) in self.all.iter_mut().enumerate() {
            while let Some(event) = child.link.as_mut().and_then(Link::next) {
                match event {
                    LinkEvent::Frame(frame) => events.push((number, ChildEvent::Frame(frame))),
                    LinkEvent::Lost(_) if child.is_done => {}
                    LinkEvent::Lost(why) => {
                        let sentence = child.loss(&why);
                        events.push((number, ChildEvent::Lost(sentence)));
                    }
                }
            }
        }
        events
    }

    fn take_boot(&mut self, number: usize, booted: Result<Booted, String>) -> ChildEvent {
        let child = &mut self.all[number];
        let booted = match booted {
            Ok(booted) => booted,
            Err(why) => return ChildEvent::Lost(why),
        };
        child.shell = Some(booted.shell);
        let (Some(port), Some(assignment)) = (child.port.take(), child.assignment.take()) else {
            return ChildEvent::Lost(format!("no connection to host {}.", child.host));
        };
        match Link::to_child(port, &JobSecret::new(*booted.secret), booted.address) {
            Ok(mut link) => {
                link.send(&Frame::Assign(Box::new(assignment)));
                child.link = Some(link);
                ChildEvent::Linked
            }
            Err(why) => ChildEvent::Lost(format!("no connection to host {}: {why}.", child.host)),
        }
    }

    /// Ends the connections, and waits for a while until the shells have ended. Those that have not are
    /// killed.
    pub(crate) fn finish(&mut self) {
        self.open.kill();
        self.all.iter_mut().for_each(|child| child.link = None);
        let until = Instant::now() + ENDING;
        for shell in self.all.iter_mut().filter_map(|child| child.shell.as_mut()) {
            shell.wait(until);
        }
        self.all.clear();
    }
}

impl OneChild {
    fn loss(&self, why: &str) -> String {
        let said = self.shell.as_ref().and_then(Shell::last_line);
        let said = said.map(|line| format!(" Its remote shell said: {line}")).unwrap_or_default();
        format!("host {} is lost: {why}.{said}", self.host)
    }
}

fn boot(host: &str, settings: &NodeSettings, parent: Vec<u8>, identity: &str, open: &OpenShells) -> Boot {
    Boot {
        host: host.to_string(),
        shell: settings.shell.clone(),
        parent,
        identity: identity.to_string(),
        network: settings.network.clone(),
        ports: settings.ports,
        open: open.clone(),
        time: Duration::from_millis(settings.start_time_ms),
    }
}

fn start(boot: Boot, number: usize, sender: Sender<(usize, Result<Booted, String>)>, news: Arc<OwnedFd>) {
    std::thread::spawn(move || {
        let booted = boot.run();
        tell(&sender, &news, number, booted);
    });
}

fn tell(
    sender: &Sender<(usize, Result<Booted, String>)>,
    news: &OwnedFd,
    number: usize,
    booted: Result<Booted, String>,
) {
    // If no process wants it any more, the shell ends with the value.
    let _ = sender.send((number, booted));
    let _ = rustix::io::write(news, &1u64.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{HostJob, InputChoice};
    use crate::remote_shell::RemoteShell;
    use evenkeel_launch::HostLabel;
    use std::net::TcpListener;

    fn assignment(port: u16) -> Assignment {
        Assignment {
            places: Vec::new(),
            name: "x".into(),
            job: HostJob {
                program: "true".into(),
                arguments: Vec::new(),
                environment: Vec::new(),
                directory: "/".into(),
                files: Vec::new(),
                sent: Vec::new(),
                is_mpi: false,
                label: HostLabel::None,
                input: InputChoice::None,
                grace_ms: 0,
                keep_going: false,
            },
            all_ranks: 1,
            mapping: String::new(),
            settings: NodeSettings {
                // No node is started.
                shell: RemoteShell::parse("false").unwrap(),
                fanout: 2,
                patience_ms: 1000,
                network: "127.0.0.0/8".into(),
                ports: (port, port),
                start_time_ms: 10_000,
            },
            reads_input: false,
        }
    }

    #[test]
    fn the_end_that_connects_takes_no_port_of_those_that_the_user_allows() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = |number: u32| Place { host: format!("h{number}"), number, ranks: 1, first_rank: number };
        let assignment = assignment(taken.local_addr().unwrap().port());
        let mut children = Children::start(&[place(0), place(1)], &assignment, false, "0123").unwrap();
        assert!(children.all.len() == 2 && children.all.iter().all(|child| child.port.is_some()));
        children.finish();
    }
}
