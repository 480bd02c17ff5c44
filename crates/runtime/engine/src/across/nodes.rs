//! The nodes of a job and their agents: how a node's first rank starts its agent, and how ranks speak
//! to it.
//!
//! All of this is from MPI_Init, in steps between which the front end exchanges what ranks tell each
//! other: [`prepare`] and [`start`], [`join`], [`agree`]. An agent belongs to nobody: it ends when the
//! last rank has closed its end of the agent's pipe, however that came about.

use super::commands::{MOST_BYTES, Offer, Order, Setup, frame, share_cores};
use crate::comm::communicator::lock;
use crate::job::node::{Neighbour, World, note};
use crate::job::process_info::{ACROSS, Card};
use evenkeel_segment::Segment;
use evenkeel_segment::node_status::NodeLoss;
use evenkeel_segment::sync::Ordering;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, OnceLock};

/// Bytes of an agent's offer, as it travels among the ranks.
pub const OFFER_BYTES: usize = 4096;
/// How long an agent may take to come up.
const PATIENCE_MS: i32 = 20_000;
/// Where an agent finds what it inherits: the segment, its pipe, and where its offer goes.
pub const INHERITED: [RawFd; 3] = [3, 4, 5];
/// First of the descriptors that are out of their way.
const OUT_OF_THE_WAY: RawFd = 10;

/// The nodes of a job, and this node's agent.
pub struct Job {
    /// Of each world rank.
    pub(crate) node_of: Vec<u32>,
    hosts: Vec<String>,
    /// "Nodes" are virtual hosts of one machine.
    share_cores: bool,
    pub(crate) agent: Neighbour,
    pipe: File,
    /// Communicators that this rank has named.
    named: AtomicU64,
}

/// Between the steps.
struct Preparation {
    node_of: Vec<u32>,
    /// The first rank of each node.
    leaders: Vec<usize>,
    me: usize,
    /// The segment's.
    token: u64,
    job: u64,
    pids: Vec<u32>,
    /// The leader's own descriptor of the segment.
    segment: Option<OwnedFd>,
    /// The leader's, of the agent's pipe.
    pipe: Option<File>,
    joined: Option<Job>,
}

static PREPARATION: Mutex<Option<Preparation>> = Mutex::new(None);

fn with<R>(body: impl FnOnce(&mut Preparation) -> R) -> Option<R> {
    lock(&PREPARATION).as_mut().map(body)
}

/// Finds the job's nodes. Nothing comes of it unless there are several, and every rank has joined its
/// node's segment and wants agents.
pub(crate) fn prepare(cards: &[Card], answers: &[u8], me: usize, segment: &Segment) {
    let wanted = |(card, answer): (&Card, &u8)| card.flags & ACROSS != 0 && answer & 1 != 0;
    if !cards.iter().zip(answers).all(wanted) {
        return;
    }
    let mut leaders: Vec<usize> = Vec::new();
    let mut node_of: Vec<u32> = Vec::new();
    for (rank, card) in cards.iter().enumerate() {
        let known = leaders.iter().position(|leader| cards[*leader].shares_node_with(card));
        if known.is_none() {
            leaders.push(rank);
        }
        node_of.push(known.unwrap_or(leaders.len() - 1) as u32);
    }
    if leaders.len() < 2 {
        return;
    }
    let leader = leaders[node_of[me] as usize];
    let segment = (leader == me).then(|| segment.descriptor().and_then(aside)).flatten();
    let (token, job) = (cards[leader].token, cards[0].token);
    let pids = cards.iter().map(|card| card.pid).collect();
    *lock(&PREPARATION) =
        Some(Preparation { node_of, leaders, me, token, job, pids, segment, pipe: None, joined: None });
}

/// How many nodes the job has whose agents are to be started; 0: none are. The same at all ranks.
pub fn count() -> usize {
    with(|p| p.leaders.len()).unwrap_or(0)
}

/// Whether a rank is the first of its node, and starts its agent.
pub fn leads(rank: usize) -> bool {
    with(|p| p.leaders.contains(&rank)).unwrap_or(false)
}

/// A copy of a descriptor that is in nobody's way.
fn aside(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: duplicates an open descriptor; the copy is ours.
    unsafe {
        let copy = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
        (copy >= 0).then(|| OwnedFd::from_raw_fd(copy))
    }
}

/// A pipe's two ends, out of the way: to read from, to write to.
fn pipe() -> Option<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which are ours.
    let [read, write] = unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return None;
        }
        ends.map(|fd| OwnedFd::from_raw_fd(fd))
    };
    Some((aside(read.as_raw_fd())?, aside(write.as_raw_fd())?))
}

/// The agent's program: beside the library that this code is in, or where the environment says.
fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("EVENKEEL_AGENT").filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    // SAFETY: the address of a function of this library; the name is copied.
    let library = unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(start as *const libc::c_void, &mut found) == 0 || found.dli_fname.is_null() {
            return None;
        }
        PathBuf::from(OsStr::from_bytes(CStr::from_ptr(found.dli_fname).to_bytes()))
    };
    Some(library.parent()?.join("evenkeel-agent"))
}

/// Starts this node's agent, by its first rank: its offer, with its length before it, fills `offer`.
/// Zeros: there is no agent, and a sentence says why.
pub fn start(offer: &mut [u8; OFFER_BYTES]) {
    offer.fill(0);
    let outcome = with(|p| if p.leaders.contains(&p.me) { launch(p).map(Some) } else { Ok(None) });
    match outcome {
        Some(Ok(Some(bytes))) => {
            offer[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
            offer[4..4 + bytes.len()].copy_from_slice(&bytes);
        }
        Some(Err(why)) => note(&format!(
            "no agent on this node: {why}; communicators that span nodes are left to the host library"
        )),
        _ => {}
    }
}

fn launch(p: &mut Preparation) -> Result<Vec<u8>, String> {
    let segment = p.segment.take().ok_or("the segment has no descriptor")?;
    let program = program()
        .filter(|path| path.exists())
        .ok_or("the program evenkeel-agent is not beside evenkeel's library; install it there")?;
    let no_pipe = || format!("no pipe: {}", std::io::Error::last_os_error());
    let (orders_read, orders_write) = pipe().ok_or_else(no_pipe)?;
    let (offer_read, offer_write) = pipe().ok_or_else(no_pipe)?;
    spawn(&program, [segment.as_raw_fd(), orders_read.as_raw_fd(), offer_write.as_raw_fd()])?;
    drop((orders_read, offer_write));
    let bytes = read_all(offer_read.into()).ok_or("it did not come up in time, or ended at once")?;
    if bytes.is_empty() {
        return Err("it has no fabric (see its own words above)".into());
    }
    if bytes.len() > OFFER_BYTES - 4 {
        return Err(format!(
            "the fabric's address is {} bytes long, and {} is the most; UCX_NET_DEVICES can name fewer devices",
            bytes.len(),
            OFFER_BYTES - 4
        ));
    }
    p.pipe = Some(orders_write.into());
    Ok(bytes)
}

/// Starts the program, which goes on in a process of its own that nobody has to wait for.
fn spawn(program: &std::path::Path, descriptors: [RawFd; 3]) -> Result<(), String> {
    let path = CString::new(program.as_os_str().as_bytes()).map_err(|_| "its path has a zero byte")?;
    // Not what is preloaded here: the agent is no MPI program.
    let environment: Vec<CString> = std::env::vars_os()
        .filter(|(name, _)| name != "LD_PRELOAD")
        .filter_map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok())
        .collect();
    let mut pointers: Vec<*mut libc::c_char> =
        environment.iter().map(|text| text.as_ptr().cast_mut()).collect();
    pointers.push(std::ptr::null_mut());
    let arguments = [path.as_ptr().cast_mut(), std::ptr::null_mut()];
    // SAFETY: terminated strings and lists; the actions are initialised before they are used, and
    // destroyed once.
    unsafe {
        let mut actions: libc::posix_spawn_file_actions_t = std::mem::zeroed();
        libc::posix_spawn_file_actions_init(&mut actions);
        for (from, to) in descriptors.into_iter().zip(INHERITED) {
            libc::posix_spawn_file_actions_adddup2(&mut actions, from, to);
        }
        let mut pid = 0;
        let failed = libc::posix_spawn(
            &mut pid,
            path.as_ptr(),
            &actions,
            std::ptr::null(),
            arguments.as_ptr(),
            pointers.as_ptr(),
        );
        libc::posix_spawn_file_actions_destroy(&mut actions);
        if failed != 0 {
            return Err(format!(
                "{} cannot be started: {}",
                program.display(),
                std::io::Error::from_raw_os_error(failed)
            ));
        }
        // It has left itself behind at once, so that the program never finds a child that it does not know.
        let mut status = 0;
        while libc::waitpid(pid, &mut status, 0) < 0 && *libc::__errno_location() == libc::EINTR {}
    }
    Ok(())
}

/// Everything until the other end is closed.
fn read_all(mut from: File) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut watched = libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry.
        if unsafe { libc::poll(&mut watched, 1, PATIENCE_MS) } <= 0 {
            return None;
        }
        let mut some = [0; 1024];
        match from.read(&mut some) {
            Ok(0) => return Some(all),
            Ok(n) => all.extend_from_slice(&some[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Takes everybody's offers, in the order of the nodes; whether this rank can speak to its agent.
pub fn join(world: Option<&World>, offers: &[[u8; OFFER_BYTES]]) -> bool {
    let Some(world) = world else { return false };
    let read = |offer: &[u8; OFFER_BYTES]| -> Option<Offer> {
        let length = u32::from_le_bytes(offer[..4].try_into().expect("four bytes")) as usize;
        (length > 0).then(|| postcard::from_bytes(offer.get(4..4 + length)?).ok()).flatten()
    };
    let offers: Option<Vec<Offer>> = offers.iter().map(read).collect();
    with(|p| {
        let offers = offers?;
        let node = p.node_of[p.me];
        let mine = &offers[node as usize];
        let path = format!("/proc/{}/fd/{}", mine.pid, mine.pipe);
        let pipe = match p.pipe.take() {
            Some(pipe) => pipe,
            None => File::options()
                .write(true)
                .custom_flags(libc::O_CLOEXEC | libc::O_NONBLOCK)
                .open(&path)
                .ok()?,
        };
        // SAFETY: a descriptor of ours.
        unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        let here = world.neighbours.iter().map(|n| (n.world_rank as u32, p.pids[n.world_rank])).collect();
        let hosts = offers.iter().map(|offer| offer.host.clone()).collect();
        let agent = Neighbour { world_rank: usize::MAX, pid: mine.pid, watched: OnceLock::new() };
        let share_cores = share_cores(&offers);
        let job =
            Job { node_of: p.node_of.clone(), hosts, share_cores, agent, pipe, named: AtomicU64::new(0) };
        if p.leaders[node as usize] == p.me {
            job.tell(&Order::Setup(Setup {
                token: p.token,
                job: p.job,
                ranks: p.node_of.len() as u32,
                here,
                node,
                nodes: offers,
            }));
        }
        p.joined = Some(job);
        Some(())
    })
    .flatten()
    .is_some()
}

/// Takes everybody's answers to `join`: agents are used by all or by none.
pub fn agree(world: Option<&World>, answers: &[u8]) {
    let job = lock(&PREPARATION).take().and_then(|p| p.joined);
    if let (Some(world), Some(job), true) = (world, job, answers.iter().all(|answer| *answer != 0)) {
        let _ = world.job.set(job);
    }
}

impl Job {
    /// Writes an order to the agent's pipe, in one piece if it is a short one.
    fn tell(&self, order: &Order) {
        let frame = frame(order);
        let mut rest = frame.as_slice();
        debug_assert!(
            rest.len() <= MOST_BYTES || matches!(order, Order::Setup(_)),
            "only the first order may be long"
        );
        while !rest.is_empty() {
            match (&self.pipe).write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                    let mut watched =
                        libc::pollfd { fd: self.pipe.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
                    // SAFETY: one valid entry.
                    unsafe { libc::poll(&mut watched, 1, 100) };
                }
                Err(_) => return, // it has died: whoever waits for it finds out
            }
        }
    }
}

impl World {
    /// The nodes of the job; None: there is one, or there are no agents.
    pub fn job(&self) -> Option<&Job> {
        self.job.get()
    }

    pub(crate) fn tell_agent(&self, order: &Order) {
        if let Some(job) = self.job() {
            job.tell(order);
        }
    }

    /// Whether the agent may have to have a core that a rank here occupies.
    pub(crate) fn is_agent_short_of_cores(&self) -> bool {
        self.waiting.ranks + 1 > self.waiting.cores || self.job().is_some_and(|job| job.share_cores)
    }

    /// Wakes this node's agent.
    #[cold]
    pub(crate) fn ring_agent(&self) {
        if let Some(job) = self.job() {
            let _ = (&job.pipe).write(&[0]); // a full pipe has rings enough in it
        }
    }

    /// A name for a new communicator that no other has in this job.
    pub(crate) fn next_job_id(&self) -> u64 {
        let number = self.job().map_or(0, |job| job.named.fetch_add(1, Ordering::Relaxed));
        (number + 1) << 32 | self.me as u64
    }

    /// Ends this process with a sentence if the agent has found a node lost.
    pub(crate) fn check_nodes(&self, doing: &str) {
        let Some(job) = self.job() else { return };
        let host = |node: usize| job.hosts.get(node).map_or("?", String::as_str);
        if let Some(rank) = self.status().dead_rank() {
            let on = job.node_of.get(rank as usize).map_or("?", |node| host(*node as usize));
            self.end(&format!(
                "rank {rank} on {on} has died while rank {} waits in MPI_{doing}; ending this job. Look for what rank {rank} wrote last, or at its exit status", self.me
            ));
        }
        let Some(lost) = self.status().lost_node() else { return };
        let ranks: Vec<String> = job
            .node_of
            .iter()
            .enumerate()
            .filter(|(_, node)| **node == lost.node)
            .map(|(rank, _)| rank.to_string())
            .collect();
        let host = host(lost.node as usize);
        let (what, raise) = if lost.loss == NodeLoss::Unreachable {
            ("cannot be reached any more".to_string(), "")
        } else {
            (
                format!("has not been heard of for {} ms", evenkeel_options::NODE_PATIENCE_MS.get()),
                ", or raise EVENKEEL_NODE_PATIENCE_MS",
            )
        };
        self.end(&format!(
            "node {host} (rank{} {}) {what} while rank {} waits in MPI_{doing}; ending this job. Look whether {host} is up and its network works{raise}",
            if ranks.len() == 1 { "" } else { "s" }, ranks.join(", "), self.me
        ));
    }
}
