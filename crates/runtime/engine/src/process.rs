//! All that the library keeps in this process, in one place.

use crate::clock::Clock;
use crate::communicator::registry::Registry;
use crate::deferral::pending::Deferral;
use crate::job::agent_start::AgentStart;
use crate::job::bootstrap::{Agreed, Bootstrap};
use crate::job::node::Node;
use crate::job::process_info::ProcessInfo;
use crate::message::messages::Messages;
use crate::nonblocking::request::Requests;
use crate::record::notes::Notes;
use crate::reduction::operators::OperatorTable;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// All that the library keeps in this process. Built in `MPI_Init`, never freed.
///
/// Apart from this there are statics only for what the kernel or the front end knows by address: the
/// bytes of [`crate::deferral::gate`], the pointer of [`crate::deferral::fast_path`], and the counter
/// of [`crate::message::port`].
pub struct Process {
    /// How times are read.
    pub clock: Clock,
    /// Sentences for the user.
    pub notes: Notes,
    /// What the shim says about itself: the host library, and the shim.
    pub names: (String, String),
    bootstrap: Mutex<Option<Bootstrap>>,
    agent_start: Mutex<Option<AgentStart>>,
    node: OnceLock<Node>,
    /// All communicators.
    pub registry: Registry,
    /// Nonblocking operations under way.
    pub requests: Requests,
    /// Point-to-point messages, where evenkeel carries them.
    pub messages: Messages,
    /// Pending barriers.
    pub deferral: Deferral,
    /// The shim's function that gives the host library progress, or null.
    library_progress: AtomicPtr<()>,
    /// The built-in operators.
    pub operators: OperatorTable,
}

/// Null before `MPI_Init`, and in a child after fork.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    /// Builds it, in `MPI_Init`. `interface`: number of the shim's interface; `names`: the host library,
    /// and the shim. `threaded`: several threads of the program may be in MPI.
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
            registry: Registry::default(),
            requests: Requests::default(),
            messages: Messages::default(),
            deferral: Deferral::default(),
            library_progress: AtomicPtr::new(std::ptr::null_mut()),
            operators: OperatorTable::default(),
        }));
        PROCESS.store(process, Ordering::Release);
        process
    }

    /// The one of this process, if there is one.
    #[inline(always)]
    pub fn get() -> Option<&'static Process> {
        // SAFETY: set to a leaked box, or back to null; never freed.
        unsafe { PROCESS.load(Ordering::Acquire).as_ref() }
    }

    /// The one of this process, for callers that hold what was made by it.
    ///
    /// # Safety
    /// [`Process::begin`] has been called, and [`Process::forget`] has not.
    #[inline(always)]
    pub unsafe fn current() -> &'static Process {
        // SAFETY: not null by the caller's promise; never freed. Relaxed: the caller has it from this thread,
        // or by way of an object that was handed on with its own synchronisation.
        unsafe { &*PROCESS.load(Ordering::Relaxed) }
    }

    /// In a child after fork: it takes no part any more.
    pub fn forget() {
        if let Some(process) = Process::get() {
            process.deferral.close();
            process.messages.close();
        }
        PROCESS.store(std::ptr::null_mut(), Ordering::Release);
    }

    // ---- start-up, in this order ----

    /// What the other processes are to be told of this one; None if it takes no part.
    pub fn info(&self) -> Option<(ProcessInfo, bool)> {
        lock(&self.bootstrap).as_ref().map(|bootstrap| (bootstrap.info(), bootstrap.is_enabled()))
    }

    /// Takes the descriptions of all processes, in the order of `MPI_COMM_WORLD`; the answer for the others.
    pub fn join(&self, processes: &[ProcessInfo], me: usize) -> u8 {
        lock(&self.bootstrap).as_mut().map_or(0, |bootstrap| bootstrap.join(processes, me, &self.notes))
    }

    /// Takes all processes' answers to [`Process::join`]. From here on there is a node, if this process
    /// takes part.
    pub fn agree(&self, answers: &[u8]) {
        let Some(bootstrap) = lock(&self.bootstrap).take() else { return };
        let Agreed { node, agents } = bootstrap.agree(answers, &self.notes);
        if let Some(node) = node {
            let _ = self.node.set(node); // set once: there is one start-up
            *lock(&self.agent_start) = agents;
        }
    }

    /// The ranks of this node; None if evenkeel is not active in this process.
    #[inline(always)]
    pub fn node(&self) -> Option<&Node> {
        self.node.get()
    }

    /// The start of the agents while it lasts, if there are to be any.
    pub fn agent_start(&self) -> MutexGuard<'_, Option<AgentStart>> {
        lock(&self.agent_start)
    }

    // ---- the host library ----

    /// Sets the function that waits call now and then, so that the host library's own messages go on.
    pub fn set_library_progress(&self, progress: extern "C" fn()) {
        self.library_progress.store(progress as *mut (), Ordering::Release);
    }

    /// Gives the host library progress.
    pub(crate) fn progress_library(&self) {
        let progress = self.library_progress.load(Ordering::Acquire);
        if !progress.is_null() {
            // SAFETY: only ever set from a function of this type.
            let progress: extern "C" fn() = unsafe { std::mem::transmute(progress) };
            progress();
        }
    }
}
