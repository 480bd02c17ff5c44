//! A communicator as this rank sees it: its block, the numbering of its instances, and the guard of the
//! window.

use crate::barrier::scheduled::Scheduled;
use crate::clock::Ticks;
use crate::collective::call::{Call, Combine, Kind};
use crate::collective::operation::Operation;
use crate::collective::plan::{self, Plan};
use crate::comm::shared::Served;
use crate::comm::state::State;
use crate::communicator::registry;
use crate::communicator::spanning::SpanningCommunicator;
use crate::deferral::fast_path;
use crate::deferral::pending as deferral;
use crate::job::node::World;
use crate::message;
use crate::wait::settings::offer_the_core;
use evenkeel_record::CommRecord;
use evenkeel_segment::Geometry;
use evenkeel_segment::block::Block;
use evenkeel_segment::board::geometry::CELL_BYTES;
use evenkeel_segment::board::revocation;
use evenkeel_segment::eventcount::Fencing;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// A member has revoked the communicator, or has died where the host reports that: what was under way
/// on it has ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revoked;

pub struct Comm {
    id: u64,
    members: Vec<i32>,
    pub me: usize,
    pub ranks: usize,
    pub served: Option<Served>,
    /// What it has if it spans nodes, and evenkeel serves it there.
    across: Option<SpanningCommunicator>,
    host_reason: &'static str,
    name: Mutex<String>,
    children: AtomicU64,
    /// This rank knows that it has been revoked: from then on the host refuses what is called on it.
    revoked: AtomicBool,
    /// Where its nonblocking operations are carried out, once there has been one; None: the host's.
    companion: OnceLock<Option<Arc<Comm>>>,
    locked: AtomicBool,
    threaded: bool,
    /// Two ranks, served, one thread in MPI, entering without a fence: barriers have a quick way.
    pub(crate) is_pair: bool,
    /// By what its barriers are run, if not in the built-in way; the same at all members.
    pub(crate) scheduled: Option<Scheduled>,
    state: UnsafeCell<State>,
}

// SAFETY: the state is only reached through `with`, which excludes other threads where there are any.
unsafe impl Sync for Comm {}
unsafe impl Send for Comm {}

/// A fresh id for a new communicator of these members, reserved by the caller for all; 0 if the host
/// must serve it.
pub fn fresh_id(world: Option<&World>, members: &[i32]) -> u64 {
    let Some(world) = world else { return 0 };
    let here = |m: &i32| usize::try_from(*m).ok().and_then(|r| world.place_of(r)).is_some();
    if members.len() < 2 || !members.iter().all(here) {
        return 0;
    }
    world.blocks().allocate(&Geometry::new(members.len())).map_or(0, Block::id)
}

impl Comm {
    /// Takes part in the communicator `id`. Its barriers are run as the job's table says.
    pub fn attach(world: Option<&'static World>, id: u64, members: &[i32], me: usize) -> Arc<Comm> {
        let scheduled = world.and_then(|w| w.scheduled(members.len()));
        Self::attach_with(world, id, members, me, scheduled)
    }

    /// The same with barriers run by this schedule, or in the built-in way: what all members must say alike.
    pub fn attach_with(
        world: Option<&'static World>,
        id: u64,
        members: &[i32],
        me: usize,
        scheduled: Option<Scheduled>,
    ) -> Arc<Comm> {
        let ranks = members.len();
        let place = |m: &i32| usize::try_from(*m).ok().and_then(|r| world?.place_of(r));
        let places: Option<Vec<usize>> = members.iter().map(place).collect();
        let served = match (world, Block::from_id(id), places) {
            (Some(world), Some(block), Some(places)) => Some(Served::new(world, block, block, places)),
            _ => None,
        };
        let host_reason = match (&served, world) {
            (Some(_), _) => "",
            (None, None) => "evenkeel is not active",
            (None, _) if ranks < 2 => "it has one member only",
            (None, Some(w)) if members.iter().any(|&m| m < 0 || m as usize >= w.ranks) => {
                "it has members from outside this MPI_COMM_WORLD"
            }
            (None, Some(w)) if members.iter().any(|&m| w.place_of(m as usize).is_none()) => {
                "its members do not share one node's memory"
            }
            (None, _) => "there was no room for it in the segment",
        };
        let comm = Arc::new(Comm::new(
            id,
            members,
            me,
            served,
            host_reason,
            world.is_some_and(|w| w.threaded),
            scheduled,
        ));
        registry::enter(comm.clone());
        comm
    }

    fn new(
        id: u64,
        members: &[i32],
        me: usize,
        served: Option<Served>,
        host_reason: &'static str,
        threaded: bool,
        scheduled: Option<Scheduled>,
    ) -> Comm {
        let ranks = members.len();
        let geometry = Geometry::new(ranks.max(2));
        Comm {
            id,
            members: members.to_vec(),
            me,
            ranks,
            is_pair: ranks == 2
                && !threaded
                && scheduled.is_none()
                && served.as_ref().is_some_and(|s| s.board.fencing == Fencing::Sleeper),
            served,
            across: None,
            host_reason,
            name: Mutex::default(),
            children: AtomicU64::new(0),
            revoked: AtomicBool::new(false),
            companion: OnceLock::new(),
            locked: AtomicBool::new(false),
            threaded,
            scheduled,
            state: UnsafeCell::new(State::new(ranks, &geometry)),
        }
    }

    /// The part on this node of a communicator across nodes; not for the record.
    pub(crate) fn of_part(block: Block, members: &[i32], seat: usize, served: Served) -> Comm {
        let threaded = served.world.threaded;
        let ranks = members.len();
        let state = State::new(ranks, &served.board.geometry);
        Comm {
            state: UnsafeCell::new(state),
            ..Comm::new(block.id(), members, seat, Some(served), "", threaded, None)
        }
    }

    /// Takes part in a communicator that evenkeel serves across nodes, or that the host serves because
    /// there was no room for it.
    pub fn attach_across(
        world: &'static World,
        across: Option<SpanningCommunicator>,
        members: &[i32],
        me: usize,
    ) -> Arc<Comm> {
        let reason =
            if across.is_some() { "" } else { "there was no room for it in the segment of some node" };
        let comm = Arc::new(Comm { across, ..Comm::new(0, members, me, None, reason, world.threaded, None) });
        registry::enter(comm.clone());
        comm
    }

    /// Takes part in the next duplicate of this one; all members do so in the same order.
    pub fn duplicate(&self, world: Option<&'static World>, members: &[i32], me: usize) -> Arc<Comm> {
        match (&self.across, world) {
            (Some(across), Some(world)) => {
                let number = self.children.fetch_add(1, Ordering::Relaxed);
                Self::attach_across(world, Some(across.duplicate(number, members, me)), members, me)
            }
            _ => Self::attach(world, self.child_id(), members, me),
        }
    }

    pub(crate) fn across(&self) -> Option<&SpanningCommunicator> {
        self.across.as_ref()
    }

    pub(crate) fn companion_if_made(&self) -> Option<&Arc<Comm>> {
        self.companion.get()?.as_ref()
    }

    /// Its second block, with a numbering of its own, for nonblocking operations. Members must agree on the
    /// order of these, and on that of the blocking ones; programs that count on hosts that match the two
    /// apart find the same here. Made when the first is called: most communicators never need it.
    pub fn companion(&self) -> Option<&Arc<Comm>> {
        let make = || {
            let second = self.served.as_ref()?.companion()?;
            let geometry = second.board.geometry.clone();
            let comm =
                Comm::new(second.block.id(), &self.members, self.me, Some(second), "", self.threaded, None);
            Some(Arc::new(Comm { state: UnsafeCell::new(State::new(self.ranks, &geometry)), ..comm }))
        };
        self.companion.get_or_init(make).as_ref()
    }

    /// Ends this rank's part in the communicator.
    pub fn detach(comm: Arc<Comm>) {
        if deferral::any_pending() {
            deferral::complete(deferral::Observer::COLLECTIVE);
        }
        registry::strike(&comm);
        message::forget(comm.id);
        if let Some(across) = &comm.across {
            across.detach();
        }
        let companion = comm.companion_if_made().and_then(|c| c.served.as_ref());
        for served in comm.served.iter().chain(companion) {
            served.world.blocks().drop_reference(served.block, &served.board.geometry);
        }
        if let (Some(scheduled), Some(served)) = (&comm.scheduled, &comm.served) {
            scheduled.detach(served);
        }
    }

    /// Ends all that is under way on it and all that comes, for every member: [`Revoked`].
    pub fn revoke(&self) {
        self.revoked.store(true, Ordering::Relaxed);
        fast_path::stop();
        if let Some(across) = &self.across {
            across.revoke();
        }
        let Some(served) = &self.served else { return };
        revocation::revoke(&served.first);
        // Nobody sleeps at the second block.
        served.board.notify();
    }

    /// Whether evenkeel carries out collectives on it, on one node or across several; else the host does.
    pub fn is_served(&self) -> bool {
        self.served.is_some() || self.across.is_some()
    }

    /// Whether members have died, in a job whose host reports that: then what is under way ends here for
    /// every member on this node, and the host has what comes.
    pub(crate) fn has_lost_members(&self, served: &Served) -> bool {
        let dead = served.world.reports_faults() && served.world.anybody_has_died(&served.places);
        if dead {
            revocation::mark_failed(&served.first);
            served.board.notify();
            self.is_revoked();
        }
        dead
    }

    /// Whether it has ended for that reason, and not because the program has revoked it.
    pub fn has_failed(&self) -> bool {
        self.served.as_ref().is_some_and(|served| revocation::has_failed(&served.first))
    }

    /// Whether any member has revoked it. From the first yes on this rank leaves its calls to the host.
    #[inline]
    pub fn is_revoked(&self) -> bool {
        let part = self.across.as_ref().map_or(self, |across| &across.local);
        let marked = part.served.as_ref().is_some_and(|s| revocation::is_revoked(&s.first));
        if marked {
            self.revoked.store(true, Ordering::Relaxed);
            fast_path::stop();
        }
        marked
    }

    /// The id of the next duplicate; all members get the same one if they ask in the same order.
    pub fn child_id(&self) -> u64 {
        let Some(served) = &self.served else { return 0 };
        let number = self.children.fetch_add(1, Ordering::Relaxed);
        served
            .world
            .blocks()
            .duplicate(served.block, &served.board.geometry, self.ranks, number, offer_the_core)
            .map_or(0, Block::id)
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub fn set_name(&self, name: &str) {
        *lock(&self.name) = name.to_string();
    }

    #[inline(always)]
    pub(crate) fn threaded(&self) -> bool {
        self.threaded
    }

    #[inline(always)]
    pub(crate) fn is_known_revoked(&self) -> bool {
        self.revoked.load(Ordering::Relaxed)
    }

    /// For a program with one thread in MPI, which needs no lock.
    #[inline(always)]
    pub(crate) fn state_pointer(&self) -> *mut State {
        self.state.get()
    }

    /// Exclusive access to the state.
    #[inline(always)]
    pub fn with<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        if self.threaded {
            self.lock();
        }
        // SAFETY: where the program has several threads in MPI, the lock excludes them; otherwise there is
        // one. The bodies never come back here.
        let result = body(unsafe { &mut *self.state.get() });
        if self.threaded {
            self.locked.store(false, Ordering::Release); // pairs with the exchange in `lock`
        }
        result
    }

    #[cold]
    fn lock(&self) {
        while self.locked.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            offer_the_core();
        }
    }

    /// The plan for a call, or None (counted as the host's) if the host must carry it out.
    #[inline(always)]
    pub fn takes(
        &self,
        kind: Kind,
        bytes: usize,
        elem_bytes: usize,
        combine: Option<Combine>,
        nonblocking: bool,
    ) -> Option<Plan> {
        if let Some(across) = &self.across {
            return self.takes_across(across, kind, bytes, combine, nonblocking);
        }
        let home = if nonblocking { self.companion().map(Arc::as_ref) } else { Some(self) };
        let known = |c: &Comm| c.revoked.load(Ordering::Relaxed);
        let plan = home
            .filter(|c| !known(self) && !known(c))
            .and_then(|c| c.served.as_ref())
            .and_then(|s| plan::plan(kind, bytes, elem_bytes, nonblocking, &s.board.geometry, s.facts));
        if plan.is_none() {
            home.unwrap_or(self).with(|state| state.tallies.of(kind, nonblocking).host_calls += 1);
        }
        plan
    }

    /// Carries out a call that `takes` has accepted; returns when this rank's part is done.
    #[inline]
    pub fn run(&self, call: &Call) -> Result<(), Revoked> {
        let Some(served) = &self.served else {
            return self.run_across(self.across.as_ref().expect("only served communicators run calls"), call);
        };
        if deferral::any_pending() {
            deferral::before_collective(self, call.leaves_at_once(self.ranks, self.me));
        }
        let common = matches!(call.kind(), Kind::Bcast | Kind::Reduce | Kind::Allreduce);
        if common && call.bytes <= CELL_BYTES && !self.threaded {
            // SAFETY: there is one thread in MPI, and nothing below comes back here.
            let state = unsafe { &mut *self.state.get() };
            if let Some(outcome) = self.run_small(served, call, state) {
                return outcome;
            }
        }
        self.run_long(served, call)
    }

    #[inline(never)]
    fn run_long(&self, served: &Served, call: &Call) -> Result<(), Revoked> {
        let kind = call.kind();
        let began = Ticks::now();
        let (mut operation, waits_for) = self.with(|state| {
            let mut operation = Operation::reserve(self, served, state, *call, false);
            let waits = if operation.poll(self, served, state) {
                None
            } else {
                Some(state.expected_ns[kind as usize])
            };
            (operation, waits)
        });
        let mut waited_ns = 0;
        if let Some(expected) = waits_for {
            waited_ns =
                self.wait(served, kind, expected, || self.with(|state| operation.poll(self, served, state)))?;
            self.with(|state| state.learn(kind, waited_ns));
        }
        if operation.may_read_directly() && self.is_revoked() {
            return Err(Revoked); // what was read may not have been the sender's data any more
        }
        if served.world.recording {
            self.with(|state| {
                let tally = state.tallies.of(kind, false);
                tally.calls += 1;
                tally.bytes += operation.bytes_moved(self) as u64;
                tally.wait_ns += waited_ns;
                if operation.is_sampled() {
                    tally.sample(Ticks::now().ns_since(began), waited_ns);
                }
            });
        }
        Ok(())
    }

    /// This communicator's record; None if nothing was called on it.
    pub(crate) fn record(&self) -> Option<CommRecord> {
        let part = self.across.as_ref().map_or(self, |across| &across.local);
        let companion = part.companion_if_made();
        let both = || std::iter::once(part).chain(companion.map(Arc::as_ref));
        let mut ops: Vec<_> = both().flat_map(|c| c.with(State::records)).collect();
        if self.across.is_some() {
            // What was called is counted here; the parts count their barriers, and what else they do is their
            // own business.
            ops.retain(|op| op.calls > 0 && (op.op == Kind::Barrier.name() || op.op.starts_with('i')));
            ops.extend(self.with(State::records));
        }
        if ops.is_empty() {
            return None;
        }
        Some(CommRecord {
            id: format!("{:x}", self.id),
            name: lock(&self.name).clone(),
            members: self.members.iter().filter_map(|&m| u32::try_from(m).ok()).collect(),
            segment_bytes: both()
                .filter_map(|c| c.served.as_ref())
                .map(|s| s.board.geometry.total_bytes as u64)
                .sum::<u64>()
                + self.scheduled.as_ref().map_or(0, Scheduled::segment_bytes),
            host_reason: self.host_reason.to_string(),
            schedule: self
                .scheduled
                .as_ref()
                .filter(|s| s.is_running())
                .map(|s| s.schedule().name())
                .unwrap_or_default(),
            ops,
        })
    }

    /// World rank of a member.
    pub fn pid_of(&self, served: &Served, rank: usize) -> u32 {
        served.world.neighbour(served.places[rank]).pid
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// The plan's view of a call: ALLGATHERV is cut by its largest block, which all members know.
///
/// # Safety
/// `call.recv_spans` must hold `ranks` entries where the kind calls for them.
pub unsafe fn common_bytes(call: &Call, ranks: usize) -> usize {
    match call.kind() {
        // SAFETY: the caller's promise.
        Kind::Allgatherv => (0..ranks).map(|r| unsafe { call.recv_span(r) }.bytes).max().unwrap_or(0),
        _ => call.bytes,
    }
}
