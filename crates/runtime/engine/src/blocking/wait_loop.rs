//! How a rank waits on a communicator: it polls, yields or sleeps, makes progress on other operations, and
//! checks whether the other ranks are alive.

use super::awaited::Awaited;
use crate::collective::call::CollectiveKind;
use crate::comm::part::{NodePart, Revoked};
use crate::comm::state::{PartState, WantsRoom};
use crate::process::Process;
use crate::wait::chores::Chores;
use crate::wait::pause::Pause;

/// A rank that waits for room sleeps no longer than this, since on rare occasions it is not woken.
const ROOM_NAP_NS: u64 = 1_000_000;
/// The same for one that needs nothing, and looks whether it may go on without room.
const BEFORE_GOING_AHEAD_NS: u64 = 100_000;

/// While this rank awaits no message, only one poll in this many also polls for messages.
const UNAWAITED_INTERVAL: u32 = 8;

impl Process {
    /// Polls until `is_done` returns true. Returns the time that this took, in nanoseconds.
    pub(crate) fn wait(
        &self,
        part: &NodePart,
        awaited: &Awaited,
        expected_ns: u64,
        is_done: impl FnMut() -> bool,
    ) -> Result<u64, Revoked> {
        let board = &part.shared.board;
        let fencing = part.shared.fencing_of(awaited.kind);
        self.wait_asleep(part, awaited, expected_ns, is_done, |timeout, is_done| {
            let (wanted, may_go_ahead) = part.with(|state| (state.wants_room, state.may_go_ahead));
            let is_soon = may_go_ahead && !part.shared.waiting.shares_cores();
            let nap = timeout.min(if is_soon { BEFORE_GOING_AHEAD_NS } else { ROOM_NAP_NS });
            // A look may also find that this rank now waits for something else.
            let has_changed = || is_done() || part.with(|state| state.wants_room) != wanted;
            match wanted {
                None => board.sleep_unless(fencing, timeout, has_changed),
                Some(WantsRoom { room, awaits_data: true }) => {
                    board.sleep_unless_or_room(room, fencing, nap, has_changed);
                }
                Some(WantsRoom { room, .. }) => board.sleep_until_room(room, nap, has_changed),
            }
        })
    }

    /// Like [`Process::wait`], for events that are not announced at the communicator's eventcount.
    /// `sleep(timeout, is_done)` sleeps where they are announced.
    pub(crate) fn wait_asleep(
        &self,
        part: &NodePart,
        awaited: &Awaited,
        expected_ns: u64,
        mut is_done: impl FnMut() -> bool,
        sleep: impl Fn(u64, &mut dyn FnMut() -> bool),
    ) -> Result<u64, Revoked> {
        let shared = &part.shared;
        let (node, kind) = (shared.node, awaited.kind);
        let mut pause = Pause::begin(&shared.waiting);
        let mut chores = Chores::new(node.patience_ns, self.library.activity());
        let _in_call = awaited.publish(part, pause.began);
        loop {
            if self.requests.pending() > 0 {
                self.requests.progress();
            }
            // Other ranks need this rank to receive an unawaited message only when its channel is full, so
            // it is not worth polling all channels each time.
            if self.messages.is_busy() || pause.polls % UNAWAITED_INTERVAL == 0 {
                self.messages.progress();
            }
            if is_done() {
                break;
            }
            if part.is_revoked() {
                return Err(Revoked);
            }
            let mut has_slept = false;
            if pause.once(&shared.waiting, &self.crowding, expected_ns, || {
                node.any_is_running(&shared.local_ranks)
            }) {
                if chores.is_attentive() && !self.crowding.is_crowded(self.clock) {
                    self.crowding.yield_core(self.clock);
                    self.do_chores(part, kind, &mut chores, node.clock().ns_since(pause.began))?;
                    continue;
                }
                self.messages.progress();
                let in_progress = self.requests.pending() > 0 || self.messages.incomplete() > 0;
                let waited_ns = node.clock().ns_since(pause.began);
                sleep(chores.nap_ns(waited_ns, in_progress), &mut is_done);
                // A sleeper cannot know what woke it, so the loop polls everything again.
                has_slept = true;
            }
            if pause.polls % 32 == 31 || pause.polls > 32 || (has_slept && !is_done()) {
                self.do_chores(part, kind, &mut chores, node.clock().ns_since(pause.began))?;
            }
        }
        let now = node.clock().now();
        let waited_ns = node.clock().ns_between(pause.began, now);
        if node.recording {
            node.timeline.add(node.clock().ns_between(node.began, now), waited_ns);
            node.waited.add(pause.began, now);
        }
        Ok(waited_ns)
    }

    pub(super) fn do_chores(
        &self,
        part: &NodePart,
        kind: CollectiveKind,
        chores: &mut Chores,
        waited_ns: u64,
    ) -> Result<(), Revoked> {
        let due = chores.due(waited_ns);
        if due.library_progress {
            let found = self.library.look(self.clock);
            chores.looked(waited_ns, found);
        }
        if due.liveness {
            if part.has_lost_members() {
                return Err(Revoked);
            }
            part.shared.node.check_alive(part.shared.local_ranks.iter().copied(), &title(kind));
        }
        Ok(())
    }

    /// Waits for something that usually comes within a few polls, in a program with one thread in MPI.
    /// `last_to_come` returns the rank that was waited for; it is called after a long wait only.
    #[inline(always)]
    pub(crate) fn wait_briefly(
        &self,
        part: &NodePart,
        state: &mut PartState,
        awaited: Awaited,
        mut is_done: impl FnMut() -> bool,
        last_to_come: impl Fn() -> Option<usize>,
    ) -> Result<(), Revoked> {
        if is_done() {
            if part.ranks == 2 && part.shared.node.recording {
                state.tallies.of(awaited.kind, false).last += 1; // the other rank came first
            }
            return Ok(());
        }
        for _ in 0..part.shared.waiting.first_polls() {
            if is_done() {
                return Ok(());
            }
        }
        self.wait_longer(part, state, &awaited, &mut is_done, &last_to_come)
    }

    #[cold]
    fn wait_longer(
        &self,
        part: &NodePart,
        state: &mut PartState,
        awaited: &Awaited,
        is_done: &mut dyn FnMut() -> bool,
        last_to_come: &dyn Fn() -> Option<usize>,
    ) -> Result<(), Revoked> {
        let kind = awaited.kind;
        let waited_ns = self.wait(part, awaited, state.expected_ns(kind), is_done)?;
        state.learn(kind, waited_ns);
        if part.shared.node.recording {
            state.tallies.of(kind, false).count_wait(waited_ns, last_to_come());
        }
        Ok(())
    }
}

/// Turns "barrier" into "Barrier", as in MPI_Barrier.
fn title(kind: CollectiveKind) -> String {
    let name = kind.name();
    name[..1].to_uppercase() + &name[1..]
}
