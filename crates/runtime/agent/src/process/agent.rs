//! The agent's loop: it handles what comes over the network and what the ranks here have contributed, and
//! sleeps when there is neither.

use crate::communicator::agent_communicator::AddressedMessage;
use crate::error::AgentError;
use crate::message::{Message, MessageError};
use crate::process::command_pipe::CommandPipe;
use crate::process::communicators::Communicators;
use crate::process::first_contact::{FirstContact, Outcome};
use crate::process::first_death::FirstDeath;
use crate::process::idle_strategy::IdleStrategy;
use crate::process::liveness::{NodeLiveness, Verdict};
use crate::process::local_ranks::LocalRanks;
use crate::process::network::Network;
use crate::process::refusals::Refusals;
use crate::process::traffic::Traffic;
use bytes::Bytes;
use evenkeel_engine::job::agent_commands::{AgentCommand, NodeSetup, share_cores};
use evenkeel_engine::job::node::Node;
use evenkeel_fabric::{Event, NodeId};
use evenkeel_options as options;
use evenkeel_secret::JobSecret;
use evenkeel_segment::node_status::{LostNode, NodeLoss};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// Polls between two reads of the pipe, each of which is a system call.
const PIPE_EVERY: u32 = 64;
/// How long the agent sleeps at most while the network has to be called although nothing says so.
const CALL_INTERVAL: Duration = Duration::from_millis(1);
/// How long the last messages may take to leave at the end.
const MAX_LEAVING: Duration = Duration::from_secs(5);

/// One agent.
pub struct Agent {
    world: &'static Node,
    setup: NodeSetup,
    /// What the job's messages carry.
    token: u64,
    network: Network,
    pipe: CommandPipe,
    communicators: Communicators,
    /// What is to be sent.
    outgoing: Vec<AddressedMessage>,
    liveness: NodeLiveness,
    first_contact: FirstContact,
    traffic: Traffic,
    ranks: LocalRanks,
    first_death: FirstDeath,
    refusals: Refusals,
    has_complained: bool,
}

impl Agent {
    /// `patience`: how long a node that is waited for may be silent.
    ///
    /// # Errors
    /// If the ranks here cannot be watched.
    pub fn new(
        world: &'static Node,
        setup: NodeSetup,
        network: Network,
        pipe: CommandPipe,
        patience: Duration,
    ) -> Result<Agent, AgentError> {
        Ok(Agent {
            world,
            token: JobSecret::new(setup.secret).message_token(),
            network,
            pipe,
            communicators: Communicators::new(world, share_cores(&setup.nodes)),
            outgoing: Vec::new(),
            liveness: NodeLiveness::new(setup.nodes.len(), patience, Instant::now()),
            first_contact: FirstContact::new(setup.node as usize, setup.nodes.len(), Instant::now()),
            traffic: Traffic::begin(),
            ranks: LocalRanks::new(world, &setup.here).map_err(AgentError::NoWatch)?,
            first_death: FirstDeath::new(setup.nodes.len()),
            refusals: Refusals::default(),
            has_complained: false,
            setup,
        })
    }

    /// Works until the last rank has ended.
    ///
    /// # Errors
    /// If the agent cannot go on.
    pub fn run(mut self) -> Result<(), AgentError> {
        let mut last_event = Instant::now();
        let mut idle = IdleStrategy::default();
        let mut polls = 0u32;
        let mut was_idle = false;
        let partners = self.first_contact.awaited().iter();
        self.outgoing.extend(partners.map(|node| (NodeId(*node as u32), Message::Ping)));
        self.send_outgoing();
        loop {
            polls = polls.wrapping_add(1);
            let mut moved = self.poll()?;
            if polls % PIPE_EVERY == 0 {
                moved |= self.read_pipe()?;
            }
            let now = Instant::now();
            if !self.has_contact(now) {
                return Ok(()); // the job does without agents
            }
            if self.liveness.is_check_due(now) {
                self.check_liveness(now);
            }
            if self.first_death.is_pending() {
                self.tell_first_death();
            }
            if moved {
                if std::mem::take(&mut was_idle) {
                    idle.record_gap(now.duration_since(last_event));
                }
                last_event = now;
                continue;
            }
            was_idle = true;
            // Not each time: it is a system call.
            if polls % PIPE_EVERY == 0 || self.pipe.is_closed() {
                self.see_deaths();
            }
            if self.pipe.is_closed() && self.communicators.have_never_been() {
                return Ok(()); // the job does without agents: another one has not reached all
            }
            if self.may_leave(last_event) {
                self.leave();
                return Ok(());
            }
            let now = Instant::now();
            let polls_on = idle.should_poll(now.duration_since(last_event)) && idle.may_yield(now);
            if self.pipe.is_closed() || polls_on {
                std::thread::yield_now();
                idle.record_yield(now, Instant::now());
            } else {
                self.sleep()?;
            }
        }
    }

    /// Tells the ranks here whether this agent reaches the others, once that is known. False: it does not.
    fn has_contact(&mut self, now: Instant) -> bool {
        let Some(outcome) = self.first_contact.settle(now, self.liveness.unreachable_node()) else {
            return true;
        };
        let missed = match outcome {
            Outcome::Reached => None,
            Outcome::Missed(node) => Some(node as u32),
        };
        tracing::info!(?missed, "the agents have asked each other for a sign of life");
        self.world.status().set_first_contact(missed);
        missed.is_none()
    }

    /// Handles what has come over the network and what the ranks here have contributed. Whether there was
    /// anything.
    fn poll(&mut self) -> Result<bool, AgentError> {
        let mut moved = false;
        // The network is asked once, which is a system call; the ranks that wait for what has come should get
        // it before the network is asked again.
        let mut next = self.network.poll();
        while let Some(event) = next {
            moved = true;
            match event {
                Event::Message { from, bytes } => {
                    self.traffic.received(bytes.len());
                    self.receive(from, &bytes.into())?;
                }
                Event::Lost { node, .. } => {
                    self.liveness.set_unreachable(node.index());
                    self.first_death.answered(node.index());
                }
                Event::Completed { .. } => {}
            }
            next = self.network.next_event();
        }
        for communicator in self.communicators.iter_mut() {
            moved |= communicator.advance(&mut self.outgoing)?;
        }
        self.send_outgoing();
        Ok(moved)
    }

    /// Sends what there is to send, and then wakes the ranks here that have been given something.
    fn send_outgoing(&mut self) {
        for (to, message) in self.outgoing.drain(..) {
            let message = message.encode(self.token);
            self.traffic.sent(message.header.len() + message.data.len());
            self.network.send(to, message.header, message.data);
        }
        self.communicators.announce();
    }

    fn receive(&mut self, from: NodeId, bytes: &Bytes) -> Result<(), AgentError> {
        let is_known = from.index() < self.setup.nodes.len();
        let message = match Message::decode(bytes, self.token) {
            Ok(message) if is_known => message,
            Err(error @ MessageError::UnknownCollective) if is_known => return Err(error.into()),
            _ => {
                self.complain_about_foreign_message();
                return Ok(());
            }
        };
        self.liveness.heard_from(from.index());
        match message {
            Message::Ping => self.outgoing.push((from, Message::Pong)),
            Message::Pong => self.first_contact.heard_from(from.index()),
            Message::RankDied(death) => {
                self.see_deaths(); // what has happened here so far did not follow from that death
                self.first_death.hear(from.index(), death);
                self.outgoing.push((from, Message::DeathHeard));
            }
            Message::DeathHeard => self.first_death.answered(from.index()),
            Message::FirstDeath(rank) => {
                if let Some(rank) = self.first_death.settle(rank) {
                    self.world.status().report_dead_rank(rank);
                }
            }
            Message::Leaving => {
                self.liveness.set_left(from.index());
                self.first_death.answered(from.index());
            }
            Message::OfCommunicator { communicator, content } => {
                self.communicators.receive(from, communicator, content, &mut self.outgoing)?;
            }
        }
        Ok(())
    }

    /// Reports once that another process sends messages that are not of this job.
    fn complain_about_foreign_message(&mut self) {
        if !std::mem::replace(&mut self.has_complained, true) {
            eprintln!("evenkeel: the agent on {} has refused a message that is not of its job", self.host());
        }
    }

    /// Reports connections of processes that are none of the job, not too often.
    fn tell_of_refusals(&mut self) {
        let host = &self.setup.nodes[self.setup.node as usize].host;
        let Some(refused) = self.network.refused().filter(|refused| refused.count > 0) else { return };
        if let Some(sentence) = self.refusals.sentence(refused, host, Instant::now()) {
            eprintln!("evenkeel: {sentence}");
        }
    }

    fn host(&self) -> &str {
        &self.setup.nodes[self.setup.node as usize].host
    }

    /// Does what the ranks here have told the agent. Whether there was anything.
    fn read_pipe(&mut self) -> Result<bool, AgentError> {
        let commands = self.pipe.read()?;
        let is_any = !commands.is_empty();
        for command in commands {
            match command {
                AgentCommand::SetUp(_) => return Err(AgentError::SetUpTwice),
                AgentCommand::Attach(new) => self.communicators.attach(&new, &mut self.outgoing)?,
                AgentCommand::Detach { id } => self.communicators.detach(id, &mut self.outgoing),
                AgentCommand::Ask { id, number, description } => {
                    self.communicators.ask(id, number, description, &mut self.outgoing);
                }
                AgentCommand::Revoke { id } => self.communicators.revoke(id, &mut self.outgoing),
            }
        }
        self.communicators.drop_finished();
        self.send_outgoing();
        Ok(is_any)
    }

    /// Sleeps until there is something to do, unless there is something at once.
    fn sleep(&mut self) -> Result<(), AgentError> {
        self.world.status().set_agent_asleep();
        let outcome = self.sleep_unless_moved();
        self.world.status().set_agent_awake();
        outcome
    }

    fn sleep_unless_moved(&mut self) -> Result<(), AgentError> {
        // Wake-ups and commands stay in the pipe, and end the sleep at once if they are there.
        if self.poll()? {
            return Ok(());
        }
        self.communicators.drop_finished();
        let waits_for_nodes = self.check_liveness(Instant::now());
        self.send_outgoing();
        self.tell_of_refusals();
        // From here on nothing may be polled, or what has come would be slept over.
        let Some(network) = self.network.arm() else { return Ok(()) };
        let longest = match (self.network.must_be_called(), waits_for_nodes) {
            (true, _) => Some(CALL_INTERVAL),
            (false, true) => Some(self.liveness.check_interval()),
            (false, false) => None,
        };
        let contact = self.first_contact.longest_sleep();
        let longest = longest.into_iter().chain(contact).min();
        let descriptors = [network, self.pipe.descriptor().unwrap_or(-1), self.ranks.descriptor()];
        let [_network, pipe, end] = wait_for_any(descriptors, longest);
        if end {
            self.see_deaths();
        }
        if pipe {
            self.read_pipe()?;
        }
        Ok(())
    }

    /// Asks nodes that are waited for and silent for a sign of life, and reports those that are lost. Returns
    /// whether any node is waited for.
    fn check_liveness(&mut self, now: Instant) -> bool {
        let mut awaited = self.communicators.awaited_nodes();
        awaited.retain(|node| *node != self.setup.node as usize);
        awaited.extend(self.first_death.awaited());
        for verdict in self.liveness.check(now, |node| awaited.contains(&node)) {
            match verdict {
                Verdict::Ask(node) => self.outgoing.push((NodeId(node as u32), Message::Ping)),
                Verdict::Silent(node) => self.lose(node, NodeLoss::Silent),
                Verdict::Unreachable(node) => self.lose(node, NodeLoss::Unreachable),
            }
        }
        !awaited.is_empty()
    }

    /// A node that is waited for is lost.
    fn lose(&mut self, node: usize, loss: NodeLoss) {
        self.first_death.answered(node);
        self.report_lost(node, loss);
    }

    /// Tells the ranks here that a node is lost, unless a rank has died: then the job ends because of that,
    /// and a node that is gone may have ended with it.
    fn report_lost(&self, node: usize, loss: NodeLoss) {
        if self.first_death.is_known() {
            return;
        }
        tracing::warn!(node, host = self.setup.nodes[node].host, ?loss, "a node is lost");
        self.world.status().report_lost_node(LostNode { node: node as u32, loss });
    }

    /// Takes the deaths of ranks here. The first one that follows from no other loss is told to all agents.
    fn see_deaths(&mut self) {
        for death in self.ranks.take_deaths() {
            tracing::warn!(rank = death.rank, "a rank of this node has died");
            if let Some(node) = self.liveness.unreachable_node() {
                self.report_lost(node, NodeLoss::Unreachable);
            }
            if self.world.status().lost_node().is_some() {
                continue; // the launcher or evenkeel ends the job because of that node
            }
            let others: Vec<usize> =
                self.other_nodes().filter(|node| !self.liveness.is_gone(*node)).collect();
            if self.first_death.see(death, others.into_iter()) {
                self.tell_others(&Message::RankDied(death));
            }
        }
    }

    /// Tells the ranks here and the other agents which rank died first, once that is known.
    fn tell_first_death(&mut self) {
        if let Some(rank) = self.first_death.verdict() {
            self.world.status().report_dead_rank(rank);
            self.tell_others(&Message::FirstDeath(rank));
        }
    }

    fn other_nodes(&self) -> impl Iterator<Item = usize> + use<> {
        let this = self.setup.node as usize;
        (0..self.setup.nodes.len()).filter(move |node| *node != this)
    }

    fn tell_others(&mut self, message: &Message) {
        self.outgoing.extend(self.other_nodes().map(|node| (NodeId(node as u32), message.clone())));
        self.send_outgoing();
    }

    /// Whether the ranks here have ended, no other node can need this agent, and deaths have been told.
    fn may_leave(&self, last_event: Instant) -> bool {
        let is_over = if self.ranks.have_finished() {
            self.communicators.are_idle()
        } else {
            self.ranks.are_accounted_for() && !self.first_death.is_pending()
        };
        self.pipe.is_closed() && (is_over || last_event.elapsed() > MAX_LEAVING)
    }

    /// What the ranks here have contributed has been sent; waits until the last messages have left.
    fn leave(mut self) {
        tracing::info!("the ranks here have ended");
        self.tell_others(&Message::Leaving);
        let until = Instant::now() + MAX_LEAVING;
        while !self.network.is_flushed() && Instant::now() < until {
            std::thread::yield_now();
        }
        let file = options::AGENT_COUNTS.get();
        if !file.is_empty() {
            self.traffic.append_to(&file, self.host());
        }
    }
}

/// Sleeps until one of these descriptors is ready, for `longest` at most. Of each, whether it is; -1
/// never is.
fn wait_for_any<const N: usize>(descriptors: [RawFd; N], longest: Option<Duration>) -> [bool; N] {
    let mut watched = descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let longest = longest.map(|longest| libc::timespec {
        tv_sec: longest.as_secs() as libc::time_t,
        tv_nsec: longest.subsec_nanos().into(),
    });
    let longest = longest.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: entries with open descriptors, or -1; the time, if any, outlives the call.
    unsafe { libc::ppoll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, longest, std::ptr::null()) };
    watched.map(|entry| entry.revents != 0)
}
