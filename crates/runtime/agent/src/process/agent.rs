//! The agent's loop: what comes over the network, what the ranks here have handed in, and sleep when
//! there is neither.

use crate::communicator::agent_communicator::{Letter, Party};
use crate::message::{Head, What};
use crate::process::counts::Counts;
use crate::process::idle_strategy::Linger;
use crate::process::liveness::{Health, Verdict};
use bytes::Bytes;
use evenkeel_engine::across::commands::{Order, Reader, Setup, share_cores};
use evenkeel_engine::job::node::World;
use evenkeel_fabric::ucx::UcxWire;
use evenkeel_fabric::{Event, NodeId, Wire};
use evenkeel_options as options;
use evenkeel_segment::node_status::{LostNode, NodeLoss};
use evenkeel_segment::process::WatchedProcess;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Looks between two looks at the pipe, which is a system call.
const PIPE_EVERY: u32 = 64;
/// How long it sleeps while something is on its way out, which may want a push that no event announces,
/// while a connection is being made.
const PUSH: Duration = Duration::from_millis(1);
/// How many communicators are remembered that are over.
const OVER_KEPT: usize = 1024;
/// How long the last messages may take to leave at the end.
const LEAVING: Duration = Duration::from_secs(5);

pub struct Agent {
    world: &'static World,
    setup: Setup,
    wire: UcxWire,
    pipe: File,
    reader: Reader,
    parties: Vec<Party>,
    /// Messages of communicators that nobody here has attached yet.
    strangers: HashMap<u64, Vec<(NodeId, Head, Bytes)>>,
    letters: Vec<Letter>,
    /// Communicators that are over here, the last of them: what still comes for one is late, and not ahead.
    over: VecDeque<u64>,
    /// Communicators that a rank here has freed before their first member here has told of them: how many
    /// have.
    freed_early: HashMap<u64, usize>,
    health: Health,
    counts: Counts,
    /// World rank of each process here, and the process, until it has ended.
    ranks: Vec<(u32, Option<WatchedProcess>)>,
    /// No rank can speak to the agent any more.
    is_deserted: bool,
    has_complained: bool,
}

impl Agent {
    pub fn new(
        world: &'static World,
        setup: Setup,
        wire: UcxWire,
        pipe: File,
        reader: Reader,
        patience: Duration,
    ) -> Agent {
        let health = Health::new(setup.nodes.len(), patience, Instant::now());
        let ranks = setup.here.iter().map(|(rank, pid)| (*rank, Some(WatchedProcess::new(*pid)))).collect();
        Agent {
            world,
            setup,
            wire,
            pipe,
            reader,
            parties: Vec::new(),
            strangers: HashMap::new(),
            letters: Vec::new(),
            over: VecDeque::new(),
            freed_early: HashMap::new(),
            health,
            counts: Counts::begin(),
            ranks,
            is_deserted: false,
            has_complained: false,
        }
    }

    /// Until the last rank is gone.
    pub fn run(mut self) -> Result<(), String> {
        let mut happened = Instant::now();
        let mut linger = Linger::default();
        let mut looks = 0u32;
        // The last look has found nothing.
        let mut was_quiet = false;
        loop {
            looks = looks.wrapping_add(1);
            let mut moved = self.look()?;
            if looks % PIPE_EVERY == 0 {
                moved |= self.read_pipe()?;
            }
            if moved {
                let now = Instant::now();
                if std::mem::take(&mut was_quiet) {
                    linger.happened(now.duration_since(happened));
                }
                happened = now;
                continue;
            }
            was_quiet = true;
            if self.is_deserted
                && (self.parties.iter().all(Party::is_idle)
                    || !self.ended_in_good_order()
                    || happened.elapsed() > LEAVING)
            {
                return self.leave();
            }
            let now = Instant::now();
            if self.is_deserted
                || (linger.is_worthwhile(now.duration_since(happened)) && linger.may_offer(now))
            {
                std::thread::yield_now();
                linger.offered(now, Instant::now());
                continue;
            }
            self.sleep()?;
        }
    }

    /// Looks at the network and at what the ranks here have handed in; whether anything happened.
    fn look(&mut self) -> Result<bool, String> {
        let mut moved = false;
        // The network is looked at once: each look is a system call, and those here who wait for what has
        // come should have it before.
        let mut next = self.wire.poll();
        while let Some(event) = next {
            moved = true;
            match event {
                Event::Message { from, bytes } => {
                    self.counts.take(bytes.len());
                    self.take_in(from, &bytes.into())?;
                }
                Event::Lost { node, .. } => self.health.gone(node.index()),
                Event::Done { .. } => {}
            }
            next = self.wire.next_event();
        }
        for party in &mut self.parties {
            moved |= party.advance(&mut self.letters)?;
        }
        self.post();
        Ok(moved)
    }

    /// Sends what there is to send, and then wakes those here who have been given something.
    fn post(&mut self) {
        for (to, message) in self.letters.drain(..) {
            self.counts.send(message.head.len() + message.data.len());
            // A node that is gone is found out by those who wait for it.
            let _ = self.wire.send_parts(to, message.head, message.data);
        }
        self.parties.iter().for_each(Party::announce);
    }

    fn take_in(&mut self, from: NodeId, message: &Bytes) -> Result<(), String> {
        let Some((head, data)) = Head::read(message)
            .filter(|(head, _)| head.job == self.setup.job && from.index() < self.setup.nodes.len())
        else {
            if !std::mem::replace(&mut self.has_complained, true) {
                eprintln!(
                    "evenkeel: the agent on {} has refused a message that is not of its job",
                    self.setup.nodes[self.setup.node as usize].host
                );
            }
            return Ok(());
        };
        self.health.hear(from.index(), Instant::now());
        match head.what {
            What::Ping => self.letters.push((from, Head::new(self.setup.job, What::Pong).alone())),
            What::Pong => {}
            What::Died => self.world.status().report_dead_rank(head.number as u32),
            _ => match self.parties.iter_mut().find(|party| party.id == head.comm) {
                Some(party) => party.take_in(from, &head, data, &mut self.letters)?,
                None if self.over.contains(&head.comm) => {}
                None => self.strangers.entry(head.comm).or_default().push((from, head, data)),
            },
        }
        Ok(())
    }

    // ---- orders of the ranks here
    // ---------------------------------------------------------------------------------

    fn read_pipe(&mut self) -> Result<bool, String> {
        let mut bytes = [0; 4096];
        loop {
            match self.pipe.read(&mut bytes) {
                Ok(0) => {
                    self.is_deserted = true;
                    break;
                }
                Ok(n) => self.reader.take_in(&bytes[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break, // nothing is there
            }
        }
        let mut any = false;
        while let Some(order) = self.reader.next() {
            any = true;
            match order? {
                Order::Setup(_) => return Err("it has been set up twice".into()),
                Order::Attach(told) => {
                    let party = Party::new(self.world, &told, self.setup.job, share_cores(&self.setup.nodes));
                    let mut party =
                        party.ok_or("the segment has no room for a communicator's second block")?;
                    for (from, head, data) in self.strangers.remove(&told.id).unwrap_or_default() {
                        party.take_in(from, &head, data, &mut self.letters)?;
                    }
                    (0..self.freed_early.remove(&told.id).unwrap_or(0)).for_each(|_| party.detach());
                    self.parties.push(party);
                }
                Order::Detach { id } => match self.parties.iter_mut().find(|party| party.id == id) {
                    Some(party) => party.detach(),
                    None => *self.freed_early.entry(id).or_default() += 1,
                },
                Order::Revoke { id } => {
                    self.parties
                        .iter()
                        .filter(|party| party.id == id)
                        .for_each(|party| party.revoke(&mut self.letters));
                }
            }
        }
        self.drop_parties();
        self.post();
        Ok(any)
    }

    fn drop_parties(&mut self) {
        while let Some(at) = self.parties.iter().position(Party::is_over) {
            let party = self.parties.swap_remove(at);
            self.over.push_back(party.id);
            if self.over.len() > OVER_KEPT {
                self.over.pop_front();
            }
            party.give_up();
        }
    }

    // ---- sleep, and who still lives
    // -------------------------------------------------------------------------------

    fn sleep(&mut self) -> Result<(), String> {
        self.world.status().set_agent_asleep();
        let outcome = self.sleep_unless_moved();
        self.world.status().set_agent_awake();
        outcome
    }

    fn sleep_unless_moved(&mut self) -> Result<(), String> {
        // Rings and orders stay in the pipe, and end the sleep at once if they are there.
        if self.look()? {
            return Ok(());
        }
        self.drop_parties();
        let waited_for = self.waited_for();
        let verdicts = self.health.look(Instant::now(), |node| waited_for.contains(&node));
        for verdict in verdicts {
            match verdict {
                Verdict::Ask(node) => {
                    self.letters.push((NodeId(node as u32), Head::new(self.setup.job, What::Ping).alone()))
                }
                Verdict::Silent(node) => self.report_lost(node, NodeLoss::Silent),
                Verdict::Unreachable(node) => self.report_lost(node, NodeLoss::Unreachable),
            }
        }
        self.post();
        let watch = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // From here on nothing may be looked at, or what has come would be slept over.
        let Some(network) = self.wire.arm() else { return Ok(()) };
        let is_flushed = self.wire.was_flushed();
        let mut watched =
            vec![watch(network), watch(if self.is_deserted { -1 } else { self.pipe.as_raw_fd() })];
        watched.extend(
            self.ranks.iter().map(|(_, process)| {
                watch(process.as_ref().and_then(WatchedProcess::descriptor).unwrap_or(-1))
            }),
        );
        let longest = match (is_flushed, waited_for.is_empty()) {
            (false, _) => Some(PUSH),
            (true, false) => Some(self.health.step()),
            (true, true) => None,
        };
        // SAFETY: entries with open descriptors, or -1.
        unsafe {
            let longest = longest.map(|nap| libc::timespec {
                tv_sec: nap.as_secs() as libc::time_t,
                tv_nsec: nap.subsec_nanos().into(),
            });
            let longest = longest.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            libc::ppoll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, longest, std::ptr::null());
        }
        let ended: Vec<usize> = (2..watched.len()).filter(|at| watched[*at].revents != 0).collect();
        for at in ended {
            self.bury(at - 2);
        }
        if watched[1].revents != 0 {
            self.read_pipe()?;
        }
        Ok(())
    }

    /// The nodes that somebody here waits for.
    fn waited_for(&self) -> Vec<usize> {
        let mut nodes: Vec<usize> = self
            .parties
            .iter()
            .filter(|party| party.waits_for_others())
            .flat_map(|party| party.nodes.iter().map(|node| node.index()))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.retain(|node| *node != self.setup.node as usize);
        nodes
    }

    /// Whether all ranks here have done their part in everything: then others may still need what they have
    /// handed in.
    fn ended_in_good_order(&self) -> bool {
        (0..self.ranks.len()).all(|place| self.world.has_left(place))
    }

    /// A rank here has ended: in good order, or not.
    fn bury(&mut self, at: usize) {
        let rank = self.ranks[at].0;
        self.ranks[at].1 = None;
        if self.world.has_left(at) {
            return;
        }
        self.world.status().report_dead_rank(rank);
        let head = Head { number: u64::from(rank), ..Head::new(self.setup.job, What::Died) };
        let others = (0..self.setup.nodes.len() as u32).filter(|node| *node != self.setup.node);
        self.letters.extend(others.map(|node| (NodeId(node), head.alone())));
        self.post();
    }

    /// Tells the ranks here that a node is lost.
    fn report_lost(&self, node: usize, loss: NodeLoss) {
        self.world.status().report_lost_node(LostNode { node: node as u32, loss });
    }

    /// What the ranks here have handed in has been passed on; now the last messages leave.
    fn leave(mut self) -> Result<(), String> {
        let until = Instant::now() + LEAVING;
        while !self.wire.is_flushed() && Instant::now() < until {
            std::thread::yield_now();
        }
        let file = options::AGENT_COUNTS.get();
        if !file.is_empty() {
            self.counts.add_to(&file, &self.setup.nodes[self.setup.node as usize].host);
        }
        Ok(())
    }
}
