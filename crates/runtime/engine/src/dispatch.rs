//! The entry points: the functions that a front end calls on a communicator, and the choice of the module
//! that carries each of them out. No other module of the engine imports this one.

use crate::barrier;
use crate::barrier::completion::complete;
use crate::barrier::completion::complete_before_collective;
use crate::barrier::scheduled::ScheduledBarrier;
use crate::blocking::collective;
use crate::collective::call::{Call, CollectiveKind};
use crate::collective::operation::Operation;
use crate::collective::plan::{Plan, plan};
use crate::comm::part::{NodePart, Revoked};
use crate::comm::shared::Shared;
use crate::communicator::Communicator;
use crate::communicator::host::{HostCommunicator, HostReason};
use crate::communicator::identity::Identity;
use crate::communicator::node::NodeCommunicator;
use crate::communicator::spanning::SpanningCommunicator;
use crate::deferral::fast_path;
use crate::deferral::observer::Observer;
use crate::deferral::pending::any_pending;
use crate::nonblocking::request::{Request, Work};
use crate::process::Process;
use crate::spanning::reservation::{Reservation, node_map};
use evenkeel_segment::Geometry;
use evenkeel_segment::block::Block;
use std::ffi::c_void;
use std::ptr::from_ref;
use std::sync::Arc;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<T = ()> {
    /// The engine has carried it out, or started it.
    Done(T),
    /// The host library must carry it out; all members get this answer alike. The call has been counted as
    /// one of the host library's.
    Declined,
}

// ---- making and freeing communicators ----

impl Process {
    /// Reserves a block for a new communicator of these members and returns its id. One member calls this
    /// and sends the id to the others. Returns 0 if the host library must serve the communicator.
    pub fn fresh_id(&self, members: &[i32]) -> u64 {
        let Some(node) =
            self.node().filter(|node| members.len() > 1 && node.local_ranks_of(members).is_some())
        else {
            return 0;
        };
        node.allocator().allocate(&Geometry::new(members.len())).map_or(0, Block::id)
    }

    /// Attaches this process, as rank `me`, to the communicator `id` of these members (world ranks).
    /// Barriers run as the job's barrier table says.
    pub fn attach(&'static self, id: u64, members: &[i32], me: usize) -> Arc<Communicator> {
        self.attach_with(id, members, me, self.scheduled_barrier(members.len()))
    }

    /// Like [`Process::attach`], but with barriers run by `schedule`, or by the built-in algorithm if it is
    /// `None`. All members must pass the same schedule.
    pub fn attach_with(
        &'static self,
        id: u64,
        members: &[i32],
        me: usize,
        schedule: Option<ScheduledBarrier>,
    ) -> Arc<Communicator> {
        let node = self.node();
        let local_ranks = node.and_then(|node| node.local_ranks_of(members));
        let communicator = match (node, Block::from_id(id), local_ranks) {
            (Some(node), Some(block), Some(local_ranks)) => {
                let shared = Shared::on_node(node, block, block, local_ranks);
                Communicator::Node(NodeCommunicator::new(Identity::new(id, members, me), shared, schedule))
            }
            _ => self.host_communicator(id, members, me),
        };
        self.register(communicator)
    }

    /// Returns the schedule that the job's table names for barriers of this many ranks; `None` means the
    /// built-in algorithm.
    fn scheduled_barrier(&self, ranks: usize) -> Option<ScheduledBarrier> {
        let schedule = self.node()?.barrier_schedule(ranks)?;
        let name = schedule.name();
        match ScheduledBarrier::new(schedule) {
            Ok(scheduled) => Some(scheduled),
            Err(error) => {
                self.notes.add(&format!(
                    "the table's schedule {name} for {ranks} ranks cannot be run: {error}; the built-in \
                     barrier is used"
                ));
                None
            }
        }
    }

    fn host_communicator(&self, id: u64, members: &[i32], me: usize) -> Communicator {
        let reason = match self.node() {
            None => HostReason::NotActive,
            Some(_) if members.len() < 2 => HostReason::OneMember,
            Some(node) if members.iter().any(|&m| m < 0 || m as usize >= node.ranks) => {
                HostReason::OtherWorld
            }
            Some(node) if node.local_ranks_of(members).is_none() => HostReason::SeveralNodes,
            Some(_) => HostReason::NoRoom,
        };
        Communicator::Host(HostCommunicator::new(Identity::new(id, members, me), reason))
    }

    fn register(&self, communicator: Communicator) -> Arc<Communicator> {
        let communicator = Arc::new(communicator);
        self.registry.add(communicator.clone());
        communicator
    }

    /// Returns whether the agents serve a communicator of these members.
    pub fn spans_nodes(&self, members: &[i32]) -> bool {
        self.node().and_then(|node| node_map(node, members)).is_some()
    }

    /// Reserves this process's share of a new communicator for which [`Process::spans_nodes`] returned
    /// true.
    pub fn reserve(&self, members: &[i32], me: usize) -> Reservation {
        let map = self.node().and_then(|node| Some((node, node_map(node, members)?)));
        map.map_or_else(Reservation::default, |(node, map)| Reservation::make(node, &map, me))
    }

    /// Attaches this process to a communicator that spans nodes, given all members' reservations. The host
    /// library serves the communicator if the segment of some node has no room for it.
    pub fn attach_spanning(
        &'static self,
        reservations: &[Reservation],
        members: &[i32],
        me: usize,
    ) -> Arc<Communicator> {
        let identity = || Identity::new(0, members, me);
        let spanning = self.node().and_then(|node| {
            let map = node_map(node, members)?;
            SpanningCommunicator::from_reservations(node, &self.operators, map, reservations, identity())
        });
        self.register(match spanning {
            Some(spanning) => Communicator::Spanning(spanning),
            None => Communicator::Host(HostCommunicator::new(identity(), HostReason::NoRoomOnSomeNode)),
        })
    }

    /// Attaches this process to the next duplicate of a communicator. All members must make their
    /// duplicates in the same order. Does not wait for any rank.
    pub fn duplicate(&'static self, parent: &Communicator, members: &[i32], me: usize) -> Arc<Communicator> {
        self.duplicate_with(parent, members, me, self.scheduled_barrier(members.len()))
    }

    /// Like [`Process::duplicate`], but with barriers run by `schedule`, or by the built-in algorithm if it
    /// is `None`. All members must pass the same schedule.
    pub fn duplicate_with(
        &'static self,
        parent: &Communicator,
        members: &[i32],
        me: usize,
        schedule: Option<ScheduledBarrier>,
    ) -> Arc<Communicator> {
        match parent {
            Communicator::Host(_) => self.attach_with(0, members, me, None),
            Communicator::Node(node) => {
                let number = node.service.next_duplicate();
                let block = node.service.duplicate_block(node.service.part.ranks, number);
                self.attach_with(block.map_or(0, Block::id), members, me, schedule)
            }
            Communicator::Spanning(spanning) => {
                self.register(Communicator::Spanning(spanning.duplicate(Identity::new(0, members, me))))
            }
        }
    }

    /// Detaches this rank from a communicator. Pending barriers are completed first.
    pub fn detach(&self, communicator: Arc<Communicator>) {
        if any_pending() {
            complete(self, Observer::COLLECTIVE);
        }
        self.registry.remove(&communicator);
        match &*communicator {
            Communicator::Host(_) => {}
            Communicator::Node(node) => {
                self.messages.forget(node.service.part.id());
                node.service.release();
            }
            Communicator::Spanning(spanning) => spanning.release(),
        }
    }

    /// Ends all operations in progress on a communicator, for all members: they get [`Revoked`], and later
    /// calls are declined.
    pub fn revoke(&self, communicator: &Communicator) {
        match communicator {
            Communicator::Host(_) => {}
            Communicator::Node(node) => node.service.part.revoke(),
            Communicator::Spanning(spanning) => spanning.revoke(),
        }
    }

    // ---- calls ----

    /// Carries out a blocking collective other than a barrier; returns when this rank has contributed what
    /// others need and has received what it needs.
    ///
    /// # Safety
    /// `call` must satisfy the requirements in the documentation of [`Call`].
    #[inline]
    pub unsafe fn run(&self, communicator: &Communicator, call: *mut Call) -> Result<Outcome, Revoked> {
        match communicator {
            // SAFETY: the caller's promise.
            Communicator::Node(node) => unsafe { self.run_on_node(&node.service.part, call) },
            // SAFETY: the caller's promise.
            Communicator::Spanning(spanning) => unsafe { self.run_spanning(spanning, call) },
            Communicator::Host(host) => {
                // SAFETY: the caller's promise.
                host.count(unsafe { &*call }.kind(), false);
                Ok(Outcome::Declined)
            }
        }
    }

    /// # Safety
    /// As for `run`.
    #[inline]
    unsafe fn run_on_node(&self, part: &NodePart, call: *mut Call) -> Result<Outcome, Revoked> {
        // SAFETY: the caller's promise; no reference is held while `materialize` changes the call.
        unsafe {
            let is_fast = collective::may_run_fast(part, &*call);
            let plan = if is_fast { None } else { plan_of(part, &*call, false) };
            if part.is_known_revoked() || (plan.is_none() && !is_fast) {
                count_declined(part, (*call).kind(), false);
                return Ok(Outcome::Declined);
            }
            if any_pending() {
                complete_before_collective(self, part, (*call).only_contributes(part.ranks, part.me));
            }
            if !Call::materialize(call) {
                return Ok(Outcome::Declined);
            }
            if is_fast {
                if let Some(outcome) = collective::run_fast(self, part, &*call) {
                    return outcome.map(Outcome::Done);
                }
            }
            let plan = plan.or_else(|| plan_of(part, &*call, false)).expect("what fits a cell has a plan");
            collective::run(self, part, &*call, plan).map(Outcome::Done)
        }
    }

    /// # Safety
    /// As for `run`.
    unsafe fn run_spanning(
        &self,
        spanning: &SpanningCommunicator,
        call: *mut Call,
    ) -> Result<Outcome, Revoked> {
        // SAFETY: the caller's promise; no reference is held while `materialize` changes the call.
        unsafe {
            let kind = (*call).kind();
            let part = &spanning.service.part;
            if part.is_known_revoked() || !spanning.accepts(&*call, false) {
                spanning.count_declined(kind, false);
                return Ok(Outcome::Declined);
            }
            if any_pending() {
                complete_before_collective(self, part, spanning.only_contributes(&*call));
            }
            if !Call::materialize(call) {
                return Ok(Outcome::Declined);
            }
            let operation = spanning.operation(&*call, false);
            collective::run_spanning(self, spanning, operation, &*call).map(Outcome::Done)
        }
    }

    /// Starts a nonblocking collective.
    ///
    /// # Safety
    /// As for [`Process::run`]; buffers and spans must stay valid and unchanged until the request is
    /// complete.
    pub unsafe fn start(&self, communicator: &Communicator, call: *mut Call) -> Outcome<*mut Request> {
        // SAFETY: the caller's promise; no reference is held while `materialize` changes the call.
        unsafe {
            let kind = (*call).kind();
            let service = match communicator {
                Communicator::Host(host) => {
                    host.count(kind, true);
                    return Outcome::Declined;
                }
                Communicator::Node(node) => &node.service,
                Communicator::Spanning(spanning) => &spanning.service,
            };
            let Some(companion) = service.companion().filter(|_| !service.part.is_known_revoked()) else {
                count_declined_nonblocking(communicator, kind);
                return Outcome::Declined;
            };
            let part = &companion.part;
            let plan = match communicator {
                Communicator::Spanning(spanning) => spanning.accepts(&*call, true).then_some(None),
                _ => plan_of(part, &*call, true).map(Some),
            };
            let Some(plan) = plan else {
                count_declined_nonblocking(communicator, kind);
                return Outcome::Declined;
            };
            if any_pending() {
                complete_before_collective(self, &service.part, false);
            }
            if !Call::materialize(call) {
                return Outcome::Declined;
            }
            let call = &*call;
            Outcome::Done(self.requests.start(companion, kind, |part, state| match (communicator, plan) {
                (Communicator::Spanning(spanning), _) => Work::Spanning(spanning.operation(call, true)),
                (_, plan) => {
                    let plan = plan.expect("every communicator but a spanning one has a plan here");
                    Work::Node(Operation::reserve(part, state, *call, plan, true))
                }
            }))
        }
    }

    /// Carries out a barrier. With `may_defer` the barrier may return before it is complete; the caller
    /// then guarantees that no operation of the host library needs this rank's calls to make progress.
    #[inline(always)]
    pub fn barrier(&self, communicator: &Communicator, may_defer: bool) -> Result<Outcome, Revoked> {
        let Some(service) = communicator.service() else {
            return Ok(decline_barrier(communicator));
        };
        let handle = from_ref(communicator).cast::<c_void>();
        let is_done = barrier::dispatch::run(self, service, handle, may_defer)?;
        Ok(if is_done { Outcome::Done(()) } else { Outcome::Declined })
    }
}

/// Enters a barrier and leaves it pending, if the deferred fast path is open for this communicator. Returns
/// false if it is not; nothing has been done then. No operation of the host library and no message may need
/// this rank's calls to make progress.
///
/// # Safety
/// Only the one thread that is in MPI may call this. The pointer is compared with that of the communicator
/// for which the fast path is open, which is alive, and is used only if the two are equal.
#[inline(always)]
pub unsafe fn barrier_fast_path(communicator: *const Communicator) -> bool {
    if !fast_path::is_open_for(communicator.cast()) {
        return false;
    }
    // SAFETY: the pointer is that of the communicator for which the fast path is open. The fast path is
    // closed before that communicator's pending barriers are completed, and they are completed before it is
    // freed.
    match unsafe { &*communicator }.service() {
        // SAFETY: the caller's promise.
        Some(service) => unsafe { barrier::deferred::run_fast(&service.part) },
        None => false,
    }
}

/// Returns how the call is cut into instances, or `None` if the host library must carry it out.
///
/// # Safety
/// `call` must satisfy the requirements in the documentation of [`Call`].
#[inline]
unsafe fn plan_of(part: &NodePart, call: &Call, nonblocking: bool) -> Option<Plan> {
    let (kind, shared) = (call.kind(), &part.shared);
    // Facts that only some ranks know must not influence the plan. SAFETY: the caller's promise.
    let bytes = if kind.is_private() { 0 } else { unsafe { call.common_bytes(part.ranks) } };
    plan(kind, bytes, call.elem_bytes, nonblocking, &shared.board.geometry, shared.facts)
}

#[cold]
fn count_declined(part: &NodePart, kind: CollectiveKind, nonblocking: bool) {
    part.with(|state| state.tallies.of(kind, nonblocking).host_calls += 1);
}

#[cold]
fn count_declined_nonblocking(communicator: &Communicator, kind: CollectiveKind) {
    match communicator {
        Communicator::Spanning(spanning) => spanning.count_declined(kind, true),
        _ => {
            if let Some(service) = communicator.service() {
                count_declined(&service.part, kind, true);
            }
        }
    }
}

#[cold]
fn decline_barrier(communicator: &Communicator) -> Outcome {
    if let Communicator::Host(host) = communicator {
        host.count(CollectiveKind::Barrier, false);
    }
    Outcome::Declined
}
