//! The launcher: starts the ranks, and then waits for whatever comes first.

mod rank;
mod shutdown;
mod silence;

use crate::channel::Channel;
use crate::ending::Cause;
use crate::hosted_job::{HostedJob, Order, Report};
use crate::job::{Job, JobError, OutputStyle, StandardInput};
use crate::output::Sink;
use crate::pmi1::{Action, Client, Server, SpawnCommand};
use crate::pmix;
use crate::processes::{self, Started};
use crate::signals::{Received, Signals};
use rank::{PmiInput, Rank, Stream};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fs::Timespec;
use rustix::process::{Pid, WaitStatus};
use shutdown::{Shutdown, Step};
use silence::Silence;
use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tracing::debug;

/// The exit code by which the engine says that a rank has ended because another one had died.
const PEER_DIED: u8 = 71;

/// What a descriptor that is ready belongs to; the number that the kernel keeps for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Signals,
    Supervisor,
    /// The node process has sent orders, or has gone.
    Node,
    /// There is room in the sink of this stream.
    Room(Stream),
    /// Ranks have told the server of PMIx something.
    Pmix,
    Pmi(Client),
    Output(Client, Stream),
}

impl Source {
    fn to_number(self) -> u64 {
        match self {
            Source::Signals => 0,
            Source::Supervisor => 1,
            Source::Room(stream) => 2 + stream as u64,
            Source::Pmix => 4,
            Source::Node => 5,
            Source::Pmi(client) => 6 + 3 * client as u64,
            Source::Output(client, stream) => 7 + 3 * client as u64 + stream as u64,
        }
    }

    fn from_number(number: u64) -> Source {
        match number {
            0 => Source::Signals,
            1 => Source::Supervisor,
            2 => Source::Room(Stream::Stdout),
            3 => Source::Room(Stream::Stderr),
            4 => Source::Pmix,
            5 => Source::Node,
            number => {
                let client = ((number - 6) / 3) as Client;
                match (number - 6) % 3 {
                    0 => Source::Pmi(client),
                    1 => Source::Output(client, Stream::Stdout),
                    _ => Source::Output(client, Stream::Stderr),
                }
            }
        }
    }
}

/// Everything about a job that runs.
struct Launcher<'a> {
    job: &'a Job,
    epoll: OwnedFd,
    signals: Signals,
    server: Server,
    /// Present if the ranks speak PMIx.
    pmix: Option<pmix::Server>,
    /// Present if the job runs on several hosts: the node process, and this host's part.
    node: Option<(Channel, HostedJob)>,
    /// Since when the node process has not been heard of, if there is one.
    silence: Option<Silence>,
    /// By client number.
    ranks: Vec<Rank>,
    running: usize,
    sinks: [Sink; 2],
    /// Whether the ranks' streams are not read because their sink is full.
    is_held: [bool; 2],
    shutdown: Shutdown,
}

/// Runs a job to its end. `supervisor` becomes readable when the supervisor ends. Returns the exit code.
pub(crate) fn run(job: &Job, supervisor: OwnedFd) -> Result<u8, JobError> {
    let mut launcher = Launcher::new(job, new_server())?;
    watch(&launcher.epoll, supervisor.as_fd(), Source::Supervisor)?;
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
    let job = Job {
        ranks: part.ranks,
        program: part.program.clone().into(),
        arguments: part.arguments.clone(),
        variables: Vec::new(),
        pmix: None,
        output: OutputStyle::Lines,
        input: if part.reads_input { StandardInput::First } else { StandardInput::None },
        grace: Duration::from_millis(part.grace_ms),
        keep_going: part.keep_going,
    };
    let mut launcher = Launcher::new(&job, Server::new(part.name.clone()))?;
    watch(&launcher.epoll, channel.descriptor(), Source::Node)?;
    launcher.silence = Some(Silence::new(Duration::from_millis(part.patience_ms), Instant::now()));
    launcher.node = Some((channel, part));
    match launcher.start_world() {
        Ok(()) => {
            launcher.obey(further);
            launcher.wait_for_ranks();
        }
        Err(error) => {
            processes::end_all(&HashSet::new());
            launcher.report_not_started(&error);
        }
    }
    launcher.finish();
    Ok(())
}

fn duplicate(fd: BorrowedFd) -> Result<OwnedFd, JobError> {
    fd.try_clone_to_owned().map_err(JobError::system("dup"))
}

fn watch(epoll: &OwnedFd, fd: BorrowedFd, source: Source) -> Result<(), JobError> {
    let data = EventData::new_u64(source.to_number());
    epoll::add(epoll, fd, data, EventFlags::IN).map_err(JobError::system("epoll"))
}

impl Launcher<'_> {
    fn new(job: &Job, server: Server) -> Result<Launcher<'_>, JobError> {
        let signals = Signals::catch().map_err(JobError::system("signals"))?;
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(JobError::system("epoll"))?;
        let sink = |stream| Sink::start(stream).map_err(JobError::system("a thread for output"));
        let sinks = [sink(duplicate(rustix::stdio::stdout())?)?, sink(duplicate(rustix::stdio::stderr())?)?];
        watch(&epoll, signals.descriptor(), Source::Signals)?;
        for stream in Stream::ALL {
            watch(&epoll, sinks[stream as usize].room(), Source::Room(stream))?;
        }
        Ok(Launcher {
            job,
            epoll,
            signals,
            server,
            pmix: None,
            node: None,
            silence: None,
            ranks: Vec::new(),
            running: 0,
            sinks,
            is_held: [false; 2],
            shutdown: Shutdown::new(job.grace),
        })
    }

    fn start_world(&mut self) -> Result<(), JobError> {
        if let Some(library) = &self.job.pmix {
            let server = pmix::Server::start(library, self.server.job(), self.job.ranks)?;
            watch(&self.epoll, server.descriptor(), Source::Pmix)?;
            self.pmix = Some(server);
        }
        let part = self.node.as_ref().map(|(_, part)| part.clone());
        let clients = match &part {
            Some(part) => {
                self.server.add_part(part.host_number, part.ranks, part.all_ranks, part.mapping.clone())
            }
            None => self.server.add_group(self.job.ranks, Vec::new()),
        };
        for (rank, client) in (0..self.job.ranks).zip(clients) {
            let has_input = rank == 0 && self.job.input == StandardInput::First;
            let mut variables = match &part {
                Some(part) => part.variables(rank),
                None => variables(self.job, rank, self.job.ranks, false),
            };
            if let Some(server) = &self.pmix {
                variables.extend(server.variables(rank)?);
            }
            let speaks_pmi = part.as_ref().is_none_or(|part| part.is_mpi);
            let (program, arguments) = (&self.job.program, &self.job.arguments);
            let started = processes::start(program, arguments, None, &variables, has_input, speaks_pmi);
            let started =
                started.map_err(|why| JobError::Start { rank, program: self.job.program.clone(), why })?;
            let (name, label) = match &part {
                Some(part) => (part.name_of(rank), part.label_of(rank)),
                None => (format!("rank {rank}"), self.label(&rank.to_string())),
            };
            self.add(client, name, label, started, has_input)?;
        }
        Ok(())
    }

    fn label(&self, rank: &str) -> String {
        match self.job.output {
            OutputStyle::Lines => String::new(),
            OutputStyle::Labelled => format!("[{rank}] "),
        }
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
        assert_eq!(client, self.ranks.len(), "clients are numbered in the order in which they start");
        watch(&self.epoll, started.pmi.as_fd(), Source::Pmi(client))?;
        watch(&self.epoll, started.stdout.as_fd(), Source::Output(client, Stream::Stdout))?;
        watch(&self.epoll, started.stderr.as_fd(), Source::Output(client, Stream::Stderr))?;
        self.ranks.push(Rank::new(name, label, started, has_input));
        self.running += 1;
        Ok(())
    }

    fn wait_for_ranks(&mut self) {
        let mut events: Vec<Event> = Vec::with_capacity(64);
        while self.running > 0 {
            let prompt = self.ranks.iter().filter_map(Rank::prompt_at).min();
            let look = self.silence.as_ref().map(Silence::next_look);
            let until = [self.shutdown.next_at(), prompt, look].into_iter().flatten().min();
            let timeout = until.map(|at| to_timespec(at.saturating_duration_since(Instant::now())));
            events.clear();
            // An interrupted wait comes with a signal, which the next one finds.
            let _ = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref());
            for event in &events {
                self.handle(Source::from_number(event.data.u64()));
            }
            self.pass_prompts_on();
            if self.silence.as_mut().is_some_and(|silence| silence.is_too_long(Instant::now())) {
                self.give_node_up();
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
            Source::Room(stream) => self.take_room(stream),
            Source::Pmix => self.take_pmix(),
            Source::Pmi(client) => self.take_pmi(client),
            Source::Output(client, stream) => self.take_output(client, stream),
        }
    }

    /// The node has been silent for too long. It may live and read this later: the end is no success.
    fn give_node_up(&mut self) {
        if let Some((_, part)) = &self.node {
            let (host, patience_ms) = (part.host.clone(), part.patience_ms);
            self.begin_end(Cause::Unheard { host, patience_ms });
        }
        self.kill();
    }

    /// Ends everything at once.
    fn kill(&mut self) {
        self.shutdown.begin(Cause::Orphaned, Instant::now());
        processes::end_all(&HashSet::new());
        self.running = 0;
    }

    fn take_orders(&mut self) {
        let Some((channel, _)) = &mut self.node else { return };
        channel.flush();
        let orders = channel.receive::<Order>();
        if let Some(silence) = self.silence.as_mut().filter(|_| !orders.is_empty()) {
            silence.is_broken(Instant::now());
        }
        let has_gone = channel.is_closed();
        self.obey(orders);
        if has_gone {
            self.kill();
        }
        self.update_node_interest();
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

    /// Whether the node's connection is to be watched for room to write, too.
    fn update_node_interest(&self) {
        let Some((channel, _)) = &self.node else { return };
        let flags = if channel.has_output() { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        let data = EventData::new_u64(Source::Node.to_number());
        // The descriptor is watched; this cannot fail.
        let _ = epoll::modify(&self.epoll, channel.descriptor(), data, flags);
    }

    fn report(&mut self, report: &Report) {
        if let Some((channel, _)) = &mut self.node {
            channel.send(report);
        }
        self.update_node_interest();
    }

    /// Tells the node of a failure. One that follows from a signal of the user's, or of this process's, is
    /// none.
    fn report_failure(&mut self, cause: &Cause) {
        let is_ended = self.shutdown.has_signalled()
            || matches!(self.shutdown.cause(), Some(Cause::Interrupted { .. } | Cause::Orphaned));
        let Some(text) = cause.sentence(false).filter(|_| self.node.is_some() && !is_ended) else { return };
        self.report(&Report::Failed {
            code: cause.code(),
            text,
            is_patient: cause.is_patient(),
            is_only_noted: self.job.keep_going && cause.is_patient(),
            is_consequence: matches!(cause, Cause::Exit { code: PEER_DIED, .. }),
        });
    }

    fn report_not_started(&mut self, error: &JobError) {
        let host = self.node.as_ref().map_or(String::new(), |(_, part)| part.host.clone());
        let (code, text) = match error {
            JobError::Start { program, why, .. } => {
                let code = if why.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
                (code, format!("cannot start {} on {host}: {why}.", program.display()))
            }
            other => (1, format!("on {host}: {other}")),
        };
        self.report(&Report::Failed {
            code,
            text,
            is_patient: false,
            is_only_noted: false,
            is_consequence: false,
        });
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
            self.ranks.iter().for_each(|rank| rank.send(received.number));
        }
    }

    /// A child has ended: a rank, or what a rank has left behind.
    fn take_end(&mut self, pid: Pid, status: WaitStatus) {
        let Some(client) = self.ranks.iter().position(|rank| rank.runs_as(pid)) else { return };
        // What the rank has told before it ended explains how it ended.
        self.take_pmix();
        let is_inside = match &self.pmix {
            Some(server) => server.is_inside(client),
            None => self.server.is_inside(client),
        };
        let rank = &mut self.ranks[client];
        rank.has_ended();
        self.running -= 1;
        let (name, pid) = (rank.name.clone(), pid.as_raw_nonzero().get());
        let cause = match (status.exit_status(), status.terminating_signal()) {
            (Some(0), _) if !is_inside => return,
            // The last one holds up no other.
            (Some(0), _) if self.running == 0 && self.node.is_none() => return,
            (Some(0), _) => Cause::Deserted { rank: name, pid },
            (Some(code), _) => Cause::Exit { rank: name, pid, code: code as u8 },
            (None, Some(number)) => {
                Cause::Signal { rank: name, pid, number, has_core: status.as_raw() as u32 & 0x80 != 0 }
            }
            (None, None) => return,
        };
        self.fail(cause);
    }

    fn fail(&mut self, cause: Cause) {
        let is_death = matches!(cause, Cause::Signal { .. });
        self.report_failure(&cause);
        match self.shutdown.cause() {
            // The engine of a rank that lives may have been faster than this loop.
            Some(Cause::Exit { code: PEER_DIED, .. }) if is_death && !self.shutdown.has_signalled() => {
                self.shutdown.replace(cause);
            }
            Some(_) => {}
            None if self.job.keep_going && cause.is_patient() => {
                self.say(&cause, false);
                self.shutdown.note(cause);
            }
            None => self.shutdown.begin(cause, Instant::now()),
        }
    }

    fn shut_down(&mut self) {
        match self.shutdown.step(Instant::now()) {
            Step::None => {}
            Step::Terminate => {
                // A stopped rank takes SIGTERM when it continues.
                for number in [libc::SIGTERM, libc::SIGCONT] {
                    self.ranks.iter().for_each(|rank| rank.send(number));
                }
            }
            Step::Kill => {
                self.ranks.iter().for_each(|rank| rank.send(libc::SIGKILL));
            }
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
        self.ranks[client].write_pmi();
        self.update_pmi_interest(client);
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
                    let sentence = format!(
                        "evenkeel: rank {rank} called MPI_Comm_spawn, which --launcher evenkeel does not \
                         carry out under Open MPI; the call fails. Leave --launcher out.\n"
                    );
                    self.sinks[1].add(sentence.as_bytes());
                }
            }
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Send(client, text) => {
                self.ranks[client].queue_pmi(&text);
                self.ranks[client].write_pmi();
                self.update_pmi_interest(client);
            }
            Action::Abort { client, code } => {
                let rank = self.ranks[client].name.clone();
                self.begin_end(Cause::Abort { rank, code });
            }
            Action::Spawn { client, commands, values } => self.spawn(client, &commands, values),
            Action::Exchange { values } => self.report(&Report::Values(values)),
            Action::Malformed { client, line } => {
                let rank = self.ranks[client].name.clone();
                self.begin_end(Cause::Protocol { rank, line });
            }
        }
    }

    /// Whether this client's connection is to be watched for room to write, too.
    fn update_pmi_interest(&self, client: Client) {
        let rank = &self.ranks[client];
        let Some(pmi) = rank.pmi() else { return };
        let flags = if rank.has_pmi_output() { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        // The descriptor is watched; this cannot fail.
        let _ = epoll::modify(&self.epoll, pmi, EventData::new_u64(Source::Pmi(client).to_number()), flags);
    }

    /// Starts the processes of one call to spawn. If one cannot be started, none of them stays.
    fn spawn(&mut self, caller: Client, commands: &[SpawnCommand], values: Vec<(String, String)>) {
        let size: u32 = commands.iter().map(|command| command.processes).sum();
        if self.node.is_some() {
            let sentence = format!(
                "evenkeel: {} called MPI_Comm_spawn, which --launcher evenkeel does not carry out on several \
                 hosts; the call fails. Leave --launcher out.\n",
                self.ranks[caller].name
            );
            self.sinks[1].add(sentence.as_bytes());
            return self.act(Action::Send(caller, Server::spawned(size, false)));
        }
        let group = self.ranks.last().map_or(1, |rank| rank.group + 1);
        let mut all = Vec::new();
        for command in commands {
            let directory = command.directory.as_deref().map(Path::new);
            let program = found(command, directory);
            for _ in 0..command.processes {
                let variables = variables(self.job, all.len() as u32, size, true);
                match processes::start(&program, &command.arguments, directory, &variables, false, true) {
                    Ok(started) => all.push(started),
                    Err(why) => {
                        debug!("cannot spawn {}: {why}", program.display());
                        let kill = |started: &Started| {
                            crate::signals::send(started.pid, libc::SIGKILL);
                        };
                        all.iter().for_each(kill);
                        return self.act(Action::Send(caller, Server::spawned(size, false)));
                    }
                }
            }
        }
        let clients = self.server.add_group(size, values);
        for (rank, (client, started)) in clients.into_iter().zip(all).enumerate() {
            let rank = format!("{rank} of spawned group {group}");
            let label = self.label(&rank);
            if let Err(error) = self.add(client, format!("rank {rank}"), label, started, false) {
                // Only the kernel's limit of watched descriptors leads here.
                self.sinks[1].add(format!("evenkeel: {error}\n").as_bytes());
                self.shutdown.begin(Cause::Orphaned, Instant::now());
                return;
            }
            self.ranks[client].group = group;
        }
        self.act(Action::Send(caller, Server::spawned(size, true)));
    }

    fn take_output(&mut self, client: Client, stream: Stream) {
        let mut out = Vec::new();
        self.ranks[client].read_output(stream, &mut out);
        self.pass_on(stream, &out);
    }

    fn pass_on(&mut self, stream: Stream, bytes: &[u8]) {
        if !bytes.is_empty() && !self.sinks[stream as usize].add(bytes) {
            self.hold(stream, true);
        }
    }

    /// Stops or resumes reading a stream of all ranks.
    fn hold(&mut self, stream: Stream, hold: bool) {
        if self.is_held[stream as usize] == hold {
            return;
        }
        self.is_held[stream as usize] = hold;
        let flags = if hold { EventFlags::empty() } else { EventFlags::IN };
        for (client, rank) in self.ranks.iter().enumerate() {
            if let Some(pipe) = rank.output(stream) {
                let data = EventData::new_u64(Source::Output(client, stream).to_number());
                // The descriptor is watched; this cannot fail.
                let _ = epoll::modify(&self.epoll, pipe, data, flags);
            }
        }
    }

    fn take_room(&mut self, stream: Stream) {
        if self.sinks[stream as usize].has_reader() {
            self.hold(stream, false);
        } else {
            // As if the ranks wrote there themselves: they get SIGPIPE or EPIPE.
            self.ranks.iter_mut().for_each(|rank| rank.close_output(stream));
        }
    }

    fn pass_prompts_on(&mut self) {
        let now = Instant::now();
        for stream in Stream::ALL {
            let mut out = Vec::new();
            for rank in self.ranks.iter_mut().filter(|rank| rank.prompt_at().is_some_and(|at| at <= now)) {
                rank.flush_prompt(stream, &mut out);
            }
            self.pass_on(stream, &out);
        }
    }

    fn say(&self, cause: &Cause, others: bool) {
        if self.node.is_some() {
            return; // the client says it
        }
        if let Some(sentence) = cause.sentence(others) {
            self.sinks[1].add(format!("evenkeel: {sentence}\n").as_bytes());
        }
    }

    /// No rank runs any more: ends what they have left behind, passes the rest of the output on, and says
    /// what went wrong.
    fn finish(mut self) -> u8 {
        if !processes::nothing_is_left(&HashSet::new()) {
            self.end_leftovers();
        }
        for client in 0..self.ranks.len() {
            for stream in Stream::ALL {
                let mut out = Vec::new();
                self.ranks[client].read_rest(stream, &mut out);
                self.sinks[stream as usize].add(&out);
            }
        }
        if let Some(cause) = self.shutdown.cause().filter(|_| !self.shutdown.is_said()) {
            self.say(cause, self.shutdown.has_signalled());
            for file in self.server.shared_memory_files() {
                // Usually the ranks have removed it.
                let _ = std::fs::remove_file(file);
            }
        }
        let code = self.shutdown.cause().map_or(0, Cause::code);
        self.sinks.into_iter().for_each(Sink::finish);
        if let Some((channel, _)) = &mut self.node {
            channel.send(&Report::Ended);
            channel.finish();
        }
        code
    }

    /// Processes that ranks have started and not waited for get SIGTERM, and SIGKILL after a while.
    fn end_leftovers(&self) {
        let nothing = HashSet::new();
        let until = Instant::now() + self.job.grace;
        if processes::signal_all(libc::SIGTERM, &nothing) {
            while Instant::now() < until && !processes::nothing_is_left(&nothing) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        processes::end_all(&nothing);
    }
}

/// A server with a name that no other job on this machine has. MPICH 5 makes 32 bits of it, and names files
/// after these, so two jobs could meet by chance: a name whose files exist is not taken.
fn new_server() -> Server {
    let random = || {
        let mut bytes = [0; 8];
        // Without random bytes the process number still tells jobs of this moment apart.
        let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK);
        u64::from_ne_bytes(bytes)
    };
    let is_free = |server: &Server| server.shared_memory_files().iter().all(|file| !Path::new(file).exists());
    let name = || format!("{}x{:016x}", std::process::id(), random());
    let servers = (0..10).map(|_| Server::new(name()));
    let mut free = servers.skip_while(|server| !is_free(server));
    let server = free.next().unwrap_or_else(|| Server::new(name()));
    debug!("the job is {}", server.job());
    server
}

/// What a rank finds in its environment.
fn variables(job: &Job, rank: u32, size: u32, is_spawned: bool) -> Vec<(OsString, OsString)> {
    let numbers = [
        ("PMI_RANK", rank.to_string()),
        ("PMI_SIZE", size.to_string()),
        // The shim compares it with the size of the job that the rank finds itself in.
        ("EVENKEEL_LAUNCHED_RANKS", size.to_string()),
        ("MPI_LOCALRANKID", rank.to_string()),
        ("MPI_LOCALNRANKS", size.to_string()),
        // As with mpiexec.hydra: gfortran's units for the terminal are written at once, though to a pipe.
        ("GFORTRAN_UNBUFFERED_PRECONNECTED", "y".to_string()),
    ];
    let spawned = is_spawned.then(|| ("PMI_SPAWNED", "1".to_string()));
    let numbers = numbers.into_iter().chain(spawned).map(|(name, value)| (name.into(), value.into()));
    job.variables.iter().cloned().chain(numbers).collect()
}

/// The file of a program to spawn: where the caller says, beside where it runs, or on PATH.
fn found(command: &SpawnCommand, directory: Option<&Path>) -> PathBuf {
    let name = Path::new(&command.program);
    let here = directory.unwrap_or(Path::new("."));
    if command.program.contains('/') {
        return here.join(name);
    }
    let given = command.path.iter().flat_map(|path| env::split_paths(path).collect::<Vec<_>>());
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = given.chain([here.to_path_buf()]).chain(env::split_paths(&path).collect::<Vec<_>>());
    let file = places.find_map(|place| Some(place.join(name)).filter(|file| file.is_file()));
    file.unwrap_or_else(|| name.to_path_buf())
}

fn to_timespec(duration: Duration) -> Timespec {
    // Rounded up, so that the time has come when the wait ends.
    let duration = duration + Duration::from_micros(1);
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_has_a_number_of_its_own() {
        let mut all = vec![Source::Signals, Source::Supervisor, Source::Node, Source::Pmix];
        all.extend(Stream::ALL.map(Source::Room));
        for client in [0, 1, 77] {
            all.push(Source::Pmi(client));
            all.extend(Stream::ALL.map(|stream| Source::Output(client, stream)));
        }
        for source in &all {
            assert_eq!(Source::from_number(source.to_number()), *source);
        }
        let numbers: HashSet<u64> = all.iter().map(|source| source.to_number()).collect();
        assert_eq!(numbers.len(), all.len());
    }
}
