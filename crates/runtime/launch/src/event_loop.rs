//! The launcher: starts the ranks, and then waits for whatever comes first.
//!
//! ```text
//! event_loop    which event leads to what
//! node          the node process of this host, if the job runs on several
//! streams       what ranks write, on its way to the two streams of this process
//! ranks, rank   processes and their connections
//! sources       what is waited for
//! world         the ranks that a job starts with: what each is called, and what it is given
//! spawning      the processes of one call to spawn
//! job_name      the name of a job on this machine
//! shutdown      pure: when ranks get SIGTERM and when SIGKILL, and for which failure
//! death         pure: how a rank has ended, and whether that is a failure
//! silence       pure: whether the node process is silent for too long
//! ```

mod death;
mod job_name;
mod node;
mod rank;
mod ranks;
mod shutdown;
mod silence;
mod sources;
mod spawning;
mod streams;
mod world;

use crate::channel::Channel;
use crate::ending::Cause;
use crate::hosted_job::{HostedJob, Order, Report};
use crate::job::{Job, JobError};
use crate::pmi1::{Action, Client, Server, SpawnCommand};
use crate::pmix;
use crate::processes::{self, Started};
use crate::signals::{Received, Signals};
use death::Death;
use node::Node;
use rank::{PmiInput, Rank, Stream};
use ranks::Ranks;
use rustix::process::{Pid, WaitStatus};
use shutdown::{Shutdown, Step};
use sources::{Source, Sources};
use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;
use streams::Streams;
use tracing::debug;

/// Everything about a job that runs.
struct Launcher<'a> {
    job: &'a Job,
    sources: Sources,
    signals: Signals,
    server: Server,
    /// Present if the ranks speak PMIx.
    pmix: Option<pmix::Server>,
    /// Present if the job runs on several hosts.
    node: Option<Node>,
    ranks: Ranks,
    streams: Streams,
    shutdown: Shutdown,
}

/// Runs a job to its end. `supervisor` becomes readable when the supervisor ends. Returns the exit code.
pub(crate) fn run(job: &Job, supervisor: OwnedFd) -> Result<u8, JobError> {
    let mut launcher = Launcher::new(job, job_name::new_server())?;
    launcher.sources.watch(supervisor.as_fd(), Source::Supervisor)?;
    let started = launcher.start_world();
    if started.is_err() {
        processes::end_all(&HashSet::new());
    } else {
        launcher.wait_for_ranks();
    }
    let code = launcher.finish();
    started.map(|()| code)
}

/// Runs this host's part of a job to its end, and reports to the node process. `further`: orders that came
/// with the one to run.
pub(crate) fn run_hosted(part: HostedJob, channel: Channel, further: Vec<Order>) -> Result<(), JobError> {
    let job = part.job();
    let mut launcher = Launcher::new(&job, Server::new(part.name.clone()))?;
    let host = part.host.clone();
    launcher.node = Some(Node::new(channel, part, &launcher.sources)?);
    match launcher.start_world() {
        Ok(()) => {
            launcher.obey(further);
            launcher.wait_for_ranks();
        }
        Err(error) => {
            processes::end_all(&HashSet::new());
            launcher.report(&node::not_started(&host, &error));
        }
    }
    launcher.finish();
    Ok(())
}

impl Launcher<'_> {
    fn new(job: &Job, server: Server) -> Result<Launcher<'_>, JobError> {
        let signals = Signals::catch().map_err(JobError::system("signals"))?;
        let sources = Sources::new()?;
        let streams = Streams::start(&sources)?;
        sources.watch(signals.descriptor(), Source::Signals)?;
        Ok(Launcher {
            job,
            sources,
            signals,
            server,
            pmix: None,
            node: None,
            ranks: Ranks::default(),
            streams,
            shutdown: Shutdown::new(job.grace),
        })
    }

    fn start_world(&mut self) -> Result<(), JobError> {
        if let Some(library) = &self.job.pmix {
            let server = pmix::Server::start(library, self.server.job(), self.job.ranks)?;
            self.sources.watch(server.descriptor(), Source::Pmix)?;
            self.pmix = Some(server);
        }
        let (clients, ranks) = match self.node.as_ref().map(Node::part) {
            Some(part) => {
                let HostedJob { host_number, ranks, all_ranks, mapping, .. } = part;
                let clients = self.server.add_part(*host_number, *ranks, *all_ranks, mapping.clone());
                (clients, world::on_this_host(part))
            }
            None => (self.server.add_group(self.job.ranks, Vec::new()), world::on_one_host(self.job)),
        };
        for (client, mut rank) in clients.into_iter().zip(ranks) {
            let number = rank.local;
            if let Some(server) = &self.pmix {
                rank.variables.extend(server.variables(number)?);
            }
            let started = rank.start(self.job).map_err(|why| JobError::Start {
                rank: number,
                program: self.job.program.clone(),
                why,
            })?;
            self.add(client, rank.name, rank.label, started, rank.has_input)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        client: Client,
        name: String,
        label: String,
        started: Started,
        has_input: bool,
    ) -> Result<(), JobError> {
        debug!("{name} is process {}", started.pid);
        assert_eq!(client, self.ranks.count(), "clients are numbered in the order in which they start");
        self.sources.watch(started.pmi.as_fd(), Source::Pmi(client))?;
        self.sources.watch(started.stdout.as_fd(), Source::Output(client, Stream::Stdout))?;
        self.sources.watch(started.stderr.as_fd(), Source::Output(client, Stream::Stderr))?;
        self.ranks.add(Rank::new(name, label, started, has_input));
        Ok(())
    }

    fn wait_for_ranks(&mut self) {
        while self.ranks.are_running() {
            let look = self.node.as_ref().map(Node::next_look);
            let until = [self.shutdown.next_at(), self.ranks.prompt_at(), look].into_iter().flatten().min();
            for source in self.sources.wait(until) {
                self.handle(source);
            }
            self.streams.pass_prompts_on(Instant::now(), &mut self.ranks, &self.sources);
            if let Some(cause) = self.node.as_mut().and_then(|node| node.failure_by_silence(Instant::now())) {
                self.begin_end(cause);
                self.kill();
            }
            self.shut_down();
        }
    }

    fn handle(&mut self, source: Source) {
        match source {
            Source::Signals => {
                for received in self.signals.take() {
                    self.take_signal(received);
                }
                // SIGCHLD may stand for several children.
                while let Some((pid, status)) = processes::reap() {
                    self.take_end(pid, status);
                }
            }
            Source::Supervisor => self.kill(),
            Source::Node => self.take_orders(),
            Source::Room(stream) => self.streams.take_room(stream, &mut self.ranks, &self.sources),
            Source::Pmix => self.take_pmix(),
            Source::Pmi(client) => self.take_pmi(client),
            Source::Output(client, stream) => {
                self.streams.pass_output_on(client, stream, &mut self.ranks, &self.sources);
            }
        }
    }

    /// Ends everything at once.
    fn kill(&mut self) {
        self.shutdown.begin(Cause::Orphaned, Instant::now());
        processes::end_all(&HashSet::new());
        self.ranks.end_all();
    }

    fn take_orders(&mut self) {
        let Some(node) = &mut self.node else { return };
        let (orders, has_gone) = node.take_orders();
        self.obey(orders);
        if has_gone {
            self.kill();
        }
        if let Some(node) = &self.node {
            node.await_room(&self.sources);
        }
    }

    fn obey(&mut self, orders: Vec<Order>) {
        for order in orders {
            match order {
                Order::Run(_) | Order::Alive => {}
                Order::Values(values) => {
                    self.server.release(values).into_iter().for_each(|action| self.act(action));
                }
                Order::Signal(number) => {
                    self.take_signal(Received { number, is_from_kernel: false });
                }
                Order::End { is_patient } => {
                    self.shutdown.begin(Cause::Elsewhere { is_patient }, Instant::now());
                }
                Order::Kill => self.kill(),
            }
        }
    }

    fn report(&mut self, report: &Report) {
        if let Some(node) = &mut self.node {
            node.report(report, &self.sources);
        }
    }

    /// Tells the node of a failure. One that follows from a signal of the user's, or of this process's, is
    /// none.
    fn report_failure(&mut self, cause: &Cause) {
        if self.shutdown.is_wanted() {
            return;
        }
        if let Some(report) = node::failure(cause, self.job.keep_going) {
            self.report(&report);
        }
    }

    /// Ends the job for something that is no rank's end.
    fn begin_end(&mut self, cause: Cause) {
        self.report_failure(&cause);
        self.shutdown.begin(cause, Instant::now());
    }

    /// Signals for the job: those of a person are passed on, those of the terminal have reached the ranks
    /// already.
    fn take_signal(&mut self, received: Received) {
        match received.number {
            libc::SIGCHLD => return,
            libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT => {
                self.shutdown.interrupt(received.number, Instant::now());
            }
            _ => {}
        }
        if !received.is_from_kernel || received.number == libc::SIGCONT {
            self.ranks.send(received.number);
        }
    }

    /// A child has ended: a rank, or what a rank has left behind.
    fn take_end(&mut self, pid: Pid, status: WaitStatus) {
        let Some(client) = self.ranks.running_as(pid) else { return };
        // What the rank has told before it ended explains how it ended.
        self.take_pmix();
        let is_inside = match &self.pmix {
            Some(server) => server.is_inside(client),
            None => self.server.is_inside(client),
        };
        self.ranks.end(client);
        // The last one holds up no other.
        let is_awaited = is_inside && (self.ranks.are_running() || self.node.is_some());
        let (rank, pid) = (self.ranks[client].name.clone(), pid.as_raw_nonzero().get());
        let Some(cause) = Death::of(status).and_then(|death| death.cause(rank, pid, is_awaited)) else {
            return;
        };
        self.report_failure(&cause);
        if self.shutdown.fail(&cause, self.job.keep_going, Instant::now()) {
            self.say(&cause, false);
        }
    }

    fn shut_down(&mut self) {
        match self.shutdown.step(Instant::now()) {
            Step::None => {}
            // A stopped rank takes SIGTERM when it continues.
            Step::Terminate => {
                [libc::SIGTERM, libc::SIGCONT].iter().for_each(|number| self.ranks.send(*number))
            }
            Step::Kill => self.ranks.send(libc::SIGKILL),
        }
    }

    fn take_pmi(&mut self, client: Client) {
        match self.ranks[client].read_pmi() {
            PmiInput::Lines(lines) => {
                for line in lines {
                    for action in self.server.receive(client, &line) {
                        self.act(action);
                    }
                }
            }
            PmiInput::Malformed(line) => self.act(Action::Malformed { client, line }),
            PmiInput::Nothing => {}
        }
        self.write_pmi(client);
    }

    /// Sends a client what waits for it, as far as there is room, and waits for more room if need be.
    fn write_pmi(&mut self, client: Client) {
        let rank = &mut self.ranks[client];
        rank.write_pmi();
        if let Some(pmi) = rank.pmi() {
            self.sources.await_room(pmi, Source::Pmi(client), rank.has_pmi_output());
        }
    }

    fn take_pmix(&mut self) {
        let requests = self.pmix.as_mut().map(pmix::Server::take).unwrap_or_default();
        for request in requests {
            match request {
                pmix::Request::Connected { .. } | pmix::Request::Finalized { .. } => {}
                pmix::Request::Abort { rank, code } => {
                    self.begin_end(Cause::Abort { rank: format!("rank {rank}"), code });
                }
                pmix::Request::Spawn { rank } => {
                    self.say_no_spawn(&format!("rank {rank}"), "under Open MPI");
                }
            }
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Send(client, text) => {
                self.ranks[client].queue_pmi(&text);
                self.write_pmi(client);
            }
            Action::Abort { client, code } => {
                let rank = self.ranks[client].name.clone();
                self.begin_end(Cause::Abort { rank, code });
            }
            Action::Spawn { client, commands, values } => {
                let size: u32 = commands.iter().map(|command| command.processes).sum();
                let is_started = self.spawn(client, &commands, size, values);
                if let Some(is_started) = is_started {
                    self.act(Action::Send(client, Server::spawned(size, is_started)));
                }
            }
            Action::Exchange { values } => self.report(&Report::Values(values)),
            Action::Malformed { client, line } => {
                let rank = self.ranks[client].name.clone();
                self.begin_end(Cause::Protocol { rank, line });
            }
        }
    }

    /// Starts the processes of one call to spawn. Returns whether they run; None: the job ends, and no
    /// answer is awaited.
    fn spawn(
        &mut self,
        caller: Client,
        commands: &[SpawnCommand],
        size: u32,
        values: Vec<(String, String)>,
    ) -> Option<bool> {
        if self.node.is_some() {
            self.say_no_spawn(&self.ranks[caller].name, "on several hosts");
            return Some(false);
        }
        let group = self.ranks.next_group();
        let spawned = ("PMI_SPAWNED".into(), "1".into());
        let variables = |rank| [world::variables(self.job, rank, size), vec![spawned.clone()]].concat();
        let Ok(all) = spawning::start_all(commands, variables) else { return Some(false) };
        let clients = self.server.add_group(size, values);
        for (rank, (client, started)) in clients.into_iter().zip(all).enumerate() {
            let rank = format!("{rank} of spawned group {group}");
            let label = world::label(self.job, &rank);
            if let Err(error) = self.add(client, format!("rank {rank}"), label, started, false) {
                // Only the kernel's limit of watched descriptors leads here.
                self.streams.say(&error.to_string());
                self.shutdown.begin(Cause::Orphaned, Instant::now());
                return None;
            }
            self.ranks[client].group = group;
        }
        Some(true)
    }

    fn say_no_spawn(&self, rank: &str, place: &str) {
        self.streams.say(&format!(
            "{rank} called MPI_Comm_spawn, which --launcher evenkeel does not carry out {place}; the call \
             fails. Leave --launcher out."
        ));
    }

    fn say(&self, cause: &Cause, others: bool) {
        if self.node.is_some() {
            return; // the client says it
        }
        if let Some(sentence) = cause.sentence(others) {
            self.streams.say(&sentence);
        }
    }

    /// No rank runs any more: ends what they have left behind, passes the rest of the output on, and says
    /// what went wrong.
    fn finish(mut self) -> u8 {
        processes::end_leftovers(self.job.grace);
        self.streams.pass_rest_on(&mut self.ranks);
        if let Some(cause) = self.shutdown.cause().filter(|_| !self.shutdown.is_said()) {
            self.say(cause, self.shutdown.has_signalled());
            for file in self.server.shared_memory_files() {
                // Usually the ranks have removed it.
                let _ = std::fs::remove_file(file);
            }
        }
        let code = self.shutdown.cause().map_or(0, Cause::code);
        self.streams.finish();
        if let Some(node) = &mut self.node {
            node.finish();
        }
        code
    }
}
