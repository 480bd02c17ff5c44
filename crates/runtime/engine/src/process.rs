//! The state that the library keeps in this process, in one place.

use crate::clock::Clock;
use crate::communicator::registry::Registry;
use crate::deferral::pending::Deferral;
use crate::job::agent_start::AgentStart;
use crate::job::bootstrap::{Agreed, Bootstrap};
use crate::job::node::Node;
use crate::job::nodes::JobNodes;
use crate::job::process_info::ProcessInfo;
use crate::lock::lock;
use crate::message::messages::Messages;
use crate::nonblocking::request::Requests;
use crate::record::notes::Notes;
use crate::reduction::operators::OperatorTable;
use crate::wait::crowding::Crowding;
use crate::wait::library::HostLibrary;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// All state that the library keeps in this process. Built in `MPI_Init`, never freed.
///
/// There are only three other statics, because the kernel or the front end knows their addresses: the bytes
/// of [`crate::deferral::gate`], the pointer of [`crate::deferral::fast_path`], and the counter of
/// [`crate::message::port`].
pub struct Process {
    /// How this process reads the time.
    pub clock: Clock,
    /// Notes for the user, printed with the report.
    pub notes: Notes,
    /// The names of the host library and of the shim, as the shim gives them.
    pub names: (String, String),
    bootstrap: Mutex<Option<Bootstrap>>,
    agent_start: Mutex<Option<AgentStart>>,
    node: OnceLock<Node>,
    nodes: OnceLock<JobNodes>,
    /// All communicators of this process.
    pub registry: Registry,
    /// Nonblocking operations in progress.
    pub requests: Requests,
    /// Point-to-point messages, where evenkeel carries them.
    pub messages: Messages,
    /// Deferred barriers that are not yet complete.
    pub deferral: Deferral,
    /// The host library, which waits call now and then.
    pub library: HostLibrary,
    /// Whether other processes want this rank's core.
    pub crowding: Crowding,
    /// The built-in operators.
    pub operators: OperatorTable,
}

/// Null before `MPI_Init`, and in a child after fork.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

impl Process {
    /// Builds the state, in `MPI_Init`. `interface` is the version of the shim's interface, `names` are
    /// those of the host library and of the shim. `threaded` says that several threads of the program may
    /// be in MPI.
    pub fn begin(interface: u32, names: (String, String), threaded: bool) -> &'static Process {
        let clock = Clock::calibrate();
        let notes = Notes::default();
        let bootstrap = Bootstrap::begin(interface, threaded, clock, &notes);
        let process = Box::leak(Box::new(Process {
            clock,
            notes,
            names,
            bootstrap: Mutex::new(Some(bootstrap)),
            agent_start: Mutex::default(),
            node: OnceLock::new(),
            nodes: OnceLock::new(),
            registry: Registry::default(),
            requests: Requests::default(),
            messages: Messages::default(),
            deferral: Deferral::default(),
            library: HostLibrary::default(),
            crowding: Crowding::default(),
            operators: OperatorTable::default(),
        }));
        PROCESS.store(process, Ordering::Release);
        process
    }

    /// Returns this process's state; `None` before `MPI_Init` and in a forked child.
    #[inline(always)]
    pub fn get() -> Option<&'static Process> {
        // SAFETY: set to a leaked box, or back to null; never freed.
        unsafe { PROCESS.load(Ordering::Acquire).as_ref() }
    }

    /// Returns this process's state, for callers that have an object made by it.
    ///
    /// # Safety
    /// [`Process::begin`] has been called, and [`Process::forget`] has not.
    #[inline(always)]
    pub unsafe fn current() -> &'static Process {
        // SAFETY: not null by the caller's promise; never freed. Relaxed: the caller got its object from
        // this thread, or from another one with synchronisation of its own.
        unsafe { &*PROCESS.load(Ordering::Relaxed) }
    }

    /// Called in a child after fork, which takes no part in the job: forgets the state, closes the gate, and
    /// what would keep the agent from noticing that the ranks have ended.
    pub fn forget() {
        if let Some(process) = Process::get() {
            process.deferral.close();
            process.messages.close();
            if let Some(link) = process.node().and_then(Node::agent) {
                link.close_in_child();
            }
        }
        PROCESS.store(std::ptr::null_mut(), Ordering::Release);
    }

    // ---- start-up, in this order ----

    /// Returns what the other processes must know about this one, and whether evenkeel is enabled here;
    /// `None` if this process takes no part.
    pub fn info(&self) -> Option<(ProcessInfo, bool)> {
        lock(&self.bootstrap).as_ref().map(|bootstrap| (bootstrap.info(), bootstrap.is_enabled()))
    }

    /// Receives the process infos of all processes, in the order of `MPI_COMM_WORLD`, and returns this
    /// process's answer, which the caller sends to the others.
    pub fn join(&self, processes: &[ProcessInfo], me: usize) -> u8 {
        lock(&self.bootstrap).as_mut().map_or(0, |bootstrap| bootstrap.join(processes, me, &self.notes))
    }

    /// Receives all processes' answers to [`Process::join`]. Afterwards [`Process::node`] returns a node,
    /// if this process takes part.
    pub fn agree(&'static self, answers: &[u8]) {
        let Some(bootstrap) = lock(&self.bootstrap).take() else { return };
        let Agreed { node, agents, nodes } = bootstrap.agree(answers, &self.names.0, &self.notes);
        // Cannot fail: start-up happens once.
        let _ = self.nodes.set(nodes);
        if let Some(node) = node {
            let _ = self.node.set(node);
            *lock(&self.agent_start) = agents;
        }
    }

    /// Ends this process with an error message if another one on this node has died during the start.
    pub fn check_alive_at_start(&self) {
        if let Some(node) = self.node() {
            if !node.reports_faults() {
                node.check_alive(0..node.neighbours.len(), "Init");
            }
        } else if let Some(bootstrap) = lock(&self.bootstrap).as_ref() {
            bootstrap.check_alive();
        }
    }

    /// The node and its ranks; `None` if evenkeel is not active in this process.
    #[inline(always)]
    pub fn node(&self) -> Option<&Node> {
        self.node.get()
    }

    /// The nodes of the job; `None` before [`Process::agree`].
    pub fn nodes(&self) -> Option<&JobNodes> {
        self.nodes.get()
    }

    /// The start of the agents while it is in progress, if the job has agents.
    pub fn agent_start(&self) -> MutexGuard<'_, Option<AgentStart>> {
        lock(&self.agent_start)
    }
}
