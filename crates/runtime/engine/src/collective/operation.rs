//! One collective call in progress at one rank. It enters the call's instances, and finishes each of them
//! when the data that the rank needs is there.
//!
//! A rank *enters* an instance by making its deposit and counting its arrival. It *finishes* the instance
//! when the deposits that it needs are there and it has copied or combined them. A rank that needs nothing
//! finishes at once. [`evenkeel_schedule::deposits`] defines which ranks contribute and which contributions
//! a rank needs; the schedules of [`super::builtin`] are built from it too. Several instances of a long
//! call are in progress together, as far as the segment has room.

use super::call::Call;
use super::completion::Instance;
use super::deposit::{DepositPlan, DepositRoom};
use super::piece::{PartOf, arrival_of, note_arrival};
use super::plan::{CallPlan, Route, plan};
use super::ranks_ahead::RanksAhead;
use super::remote_fold::RemoteFold;
use super::remote_read::{self, ReadProgress};
use super::shared_fold::{SHARED_RESULT, SharedFold};
use crate::clock::Ticks;
use crate::comm::part::NodePart;
use crate::comm::state::PartState;
use crate::record::tally::is_sampled;
use evenkeel_schedule::Rank;
use evenkeel_schedule::deposits::{Participation, Sources};
use evenkeel_segment::board::geometry::{CELL_BYTES, RELEASE_BYTES};
use evenkeel_segment::{Board, Mapped, Seq};
use evenkeel_spanning::CollectiveKind as Kind;
use std::cell::Cell;

/// Of which step of which call of the program an operation is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepOf {
    /// What the program has called.
    pub called: Kind,
    /// No other step follows.
    pub is_last: bool,
}

/// A collective call in progress among the ranks of one node.
pub struct NodeOperation {
    call: Call,
    kind: Kind,
    /// What the program has called, of which this is a step or all.
    step: StepOf,
    nonblocking: bool,
    plan: CallPlan,
    /// What this rank contributes to each instance and what it needs.
    participation: Participation,
    /// The length of the dimension that is cut, in bytes.
    total: usize,
    first: Seq,
    entered: u64,
    finished: u64,
    /// Of the instance that is being finished, in an allreduce among three or more ranks: how far combining
    /// is.
    fold: SharedFold,
    /// Of the instance that is being finished: which deposits this rank has read.
    reads: ReadProgress,
    /// Of a direct reduction: how far combining is.
    remote_fold: Option<Box<RemoteFold>>,
    /// Of a direct instance: this rank has what it needs, and stays only until its readers have finished.
    is_taken: bool,
    /// From this instance on other ranks may read this rank's memory.
    offers_from: u64,
    /// The latest rank whose deposit this one missed, if it needs those of all ranks below it.
    missing: Cell<Option<usize>>,
}

impl NodeOperation {
    /// The number of its first instance.
    pub(crate) fn first(&self) -> Seq {
        self.first
    }

    /// Returns how the call is cut into instances, or `None` if the host library must carry it out.
    ///
    /// # Safety
    /// `call` must satisfy the requirements in the documentation of [`Call`].
    #[inline]
    pub(crate) unsafe fn plan_of(part: &NodePart, call: &Call, nonblocking: bool) -> Option<CallPlan> {
        let (kind, shared) = (call.kind(), &part.shared);
        // Facts that only some ranks know must not influence the plan. SAFETY: the caller's promise.
        let bytes = if kind.is_private() { 0 } else { unsafe { call.common_bytes(part.ranks) } };
        plan(kind, bytes, call.elem_bytes, nonblocking, &shared.board.geometry, shared.facts)
    }

    /// Reserves the numbers of the call's instances. `plan` must have been made for this call.
    #[inline]
    pub fn reserve(
        part: &NodePart,
        state: &mut PartState,
        call: Call,
        plan: CallPlan,
        nonblocking: bool,
    ) -> NodeOperation {
        let step = StepOf { called: call.kind(), is_last: true };
        NodeOperation::reserve_step(part, state, call, plan, nonblocking, step)
    }

    /// The same for a call that is a step of what the program has called.
    #[inline]
    pub(crate) fn reserve_step(
        part: &NodePart,
        state: &mut PartState,
        mut call: Call,
        plan: CallPlan,
        nonblocking: bool,
        step: StepOf,
    ) -> NodeOperation {
        let kind = call.kind();
        let participation = kind.participation(part.ranks, call.root as usize, part.me);
        let combines = call.combine.is_some() && participation.needs != Sources::Empty;
        let remote_fold = (combines && plan.route == Route::Direct)
            // SAFETY: the front end provides valid buffers and the spans that the kind needs.
            .then(|| Box::new(unsafe { RemoteFold::new(&mut call, part) }));
        // SAFETY: the front end provides the spans that the kind needs.
        let bytes = unsafe { call.common_bytes(part.ranks) };
        NodeOperation {
            call,
            kind,
            step,
            nonblocking,
            plan,
            participation,
            total: match kind {
                Kind::ReduceScatterBlock if plan.route != Route::Direct => bytes * part.ranks,
                _ => bytes,
            },
            first: state.reserve(plan.instances),
            entered: 0,
            finished: 0,
            fold: SharedFold::default(),
            reads: ReadProgress::default(),
            remote_fold,
            is_taken: false,
            offers_from: u64::MAX,
            missing: Cell::new(None),
        }
    }

    /// Returns whether this rank has made all its deposits.
    pub(crate) fn has_entered(&self) -> bool {
        self.entered == self.plan.instances
    }

    /// Returns whether this rank has finished all instances.
    pub(crate) fn is_done(&self) -> bool {
        self.finished == self.plan.instances
    }

    /// Returns whether this call is timed in full.
    pub fn is_sampled(&self) -> bool {
        is_sampled(self.first.0)
    }

    /// Returns whether ranks may read each other's memory in this call.
    pub fn may_read_directly(&self) -> bool {
        self.plan.route == Route::Direct || self.kind.is_private()
    }

    /// The number of payload bytes that this rank contributes or receives.
    pub fn bytes_moved(&self, part: &NodePart) -> usize {
        // SAFETY: the front end provides the spans that the kind needs.
        unsafe { self.call.bytes_moved(part.ranks, part.me) }
    }

    /// Makes as much progress as is possible now. Returns true when this rank has finished.
    #[inline]
    pub fn poll(&mut self, part: &NodePart, state: &mut PartState) -> bool {
        loop {
            let mut moved = false;
            while self.entered < self.plan.instances && self.enter(part, state) {
                self.entered += 1;
                moved = true;
            }
            while self.finished < self.entered && self.finish(part, state) {
                self.finished += 1;
                moved = true;
            }
            if self.is_done() {
                return true;
            }
            if !moved {
                if let Some(wanted) = &mut state.wants_room {
                    // Nonblocking operations are under way with others.
                    wanted.awaits_data = self.nonblocking || self.finished < self.entered;
                }
                return false;
            }
        }
    }

    /// Instance number `index` of the call.
    fn instance(&self, index: u64) -> Instance<'_> {
        let at = index as usize * self.plan.slice;
        let len = self.plan.slice.min(self.total - at);
        Instance {
            call: &self.call,
            kind: self.kind,
            called: self.step.called,
            route: self.plan.route,
            seq: Seq(self.first.0 + index),
            at,
            len,
            is_last: index + 1 == self.plan.instances && self.step.is_last,
        }
    }

    /// Returns whether other ranks may read this rank's memory in instance number `index` of the call.
    fn offers_memory(&self, index: u64) -> bool {
        index >= self.offers_from
    }

    /// How many bytes an instance needs in the common area; the same on all ranks.
    fn common_bytes(&self, ranks: usize, len: usize) -> usize {
        match self.kind {
            Kind::Bcast if len > CELL_BYTES && self.plan.route == Route::Segment => len,
            Kind::Allreduce if ranks > 2 && len > RELEASE_BYTES => len,
            _ => 0,
        }
    }

    /// Enters the next instance if it may be entered now.
    #[inline]
    fn enter(&mut self, part: &NodePart, state: &mut PartState) -> bool {
        let shared = &part.shared;
        let board = &shared.board;
        let Instance { seq, at, len, is_last, .. } = self.instance(self.entered);
        let common = self.common_bytes(part.ranks, len);
        let mut deposit = self.participation.contributes.then(|| {
            // SAFETY: the front end provides the spans that the kind needs.
            unsafe {
                let ring = board.geometry.ring_bytes;
                let part_of = PartOf::call(self.step.called, is_last);
                DepositPlan::new(&self.call, part_of, self.plan.route, part.ranks, ring, (at, len))
            }
        });
        let ring = deposit.map_or(0, |deposit| deposit.ring_bytes);
        if !state.may_enter(board, seq, ring, common) {
            return deposit.is_some_and(|deposit| self.enter_ahead(part, state, seq, deposit));
        }
        let common_at = if common > 0 { state.allocate_common(&board.geometry, seq, common) } else { 0 };
        state.note_last(seq, false);
        if let Some(deposit) = &mut deposit {
            let only = self.has_one_reader().then_some(self.call.root as usize);
            // SAFETY: the front end provides valid buffers and the spans that the kind needs.
            unsafe { deposit.bounce(&self.call, shared, (part.me, seq), only) };
            if let Some(fold) = self.remote_fold.as_mut().filter(|_| deposit.offers_memory()) {
                // SAFETY: as above.
                unsafe { fold.prepare_for_readers(&mut self.call, part) };
            }
            let ring_at = if ring > 0 { state.allocate_ring(&board.geometry, part.me, seq, ring) } else { 0 };
            let room = DepositRoom { ring_at, common_at };
            // SAFETY: entering gave this rank its cell, and the allocators gave it its pieces of the ring
            // and of the common area. No rank reads them before they are published. The call's buffers are
            // valid by the front end's promise.
            unsafe { deposit.write(&self.call, shared, part.me, seq, room, &mut state.copies) };
            if deposit.offers_memory() {
                self.offers_from = self.offers_from.min(self.entered);
            }
        }
        let sampled =
            self.sample_arrival(part, state, seq, &board.memory, board.geometry.cell(part.me, seq.0));
        state.note_entered();
        self.arrive(part, state, seq, len, sampled);
        if self.participation.needs == Sources::Empty && !self.offers_memory(self.entered) {
            // This rank will read nothing here. It leaves at once, because others may be waiting for the
            // window.
            self.instance(self.entered).take_own(part.me);
            state.leave(board, part.me, seq);
        }
        true
    }

    /// Enters the next instance by a deposit in this rank's backlog, if it contributes to one reader and
    /// needs nothing, and if waiting would be long.
    #[cold]
    fn enter_ahead(
        &mut self,
        part: &NodePart,
        state: &mut PartState,
        seq: Seq,
        deposit: DepositPlan,
    ) -> bool {
        let shared = &part.shared;
        state.may_go_ahead = self.has_one_reader()
            && self.participation.needs == Sources::Empty
            && !(deposit.offers_memory() || self.nonblocking || shared.has_agent);
        if !(state.may_go_ahead && state.backlog.is_time_to_go_on(shared)) {
            return false;
        }
        let (reader, outside) = (self.call.root as usize, deposit.bytes_outside_cell());
        let Some(room) = state.backlog.reserve(shared, part.me, seq, reader, outside) else {
            state.may_go_ahead = false;
            return false;
        };
        // SAFETY: the room was reserved for this deposit. The call's buffers are valid by the front end's
        // promise.
        unsafe { deposit.write_ahead(&self.call, seq, &room) };
        self.sample_arrival(part, state, seq, &room.backlog.memory, room.backlog.cell(seq));
        state.note_last(seq, false);
        if part.ranks > 2 {
            state.next_round(seq);
        }
        room.backlog.publish(seq);
        shared.board.notify();
        state.note_entered();
        let ahead = state.backlog.len();
        let tally = state.tallies.of(self.kind, self.nonblocking);
        tally.ahead = tally.ahead.max(ahead);
        state.leave(&shared.board, part.me, seq);
        true
    }

    /// Returns whether only the root reads deposits.
    fn has_one_reader(&self) -> bool {
        matches!(self.kind, Kind::Reduce | Kind::Gather | Kind::Gatherv)
    }

    /// Writes the time of arrival into the cell of this rank's deposit, if the instance is timed in full.
    #[inline]
    fn sample_arrival(
        &self,
        part: &NodePart,
        state: &mut PartState,
        seq: Seq,
        memory: &Mapped,
        cell: usize,
    ) -> bool {
        let node = part.shared.node;
        let sampled = node.recording && is_sampled(seq.0);
        if sampled {
            let now = node.clock().now();
            note_arrival(memory, cell, now);
            state.worked = state.arrivals.work_before(seq, now, node.waited.so_far());
        }
        sampled
    }

    /// Publishes the deposit, and counts the arrival if arrivals of this kind are counted.
    #[inline]
    fn arrive(&self, part: &NodePart, state: &mut PartState, seq: Seq, len: usize, sampled: bool) {
        let (board, contributes) = (&part.shared.board, self.participation.contributes);
        if !self.kind.is_counted() {
            if contributes {
                board.publish(part.me, seq);
                board.notify();
            }
        } else if part.ranks == 2 {
            self.enter_for_ranks_ahead(part, seq, 0, false);
            if board.is_published(1 - part.me, seq) {
                self.note_last_arrival(part, state, seq, sampled);
            }
            board.publish(part.me, seq);
            board.notify();
        } else {
            let round = state.next_round(seq);
            self.enter_for_ranks_ahead(part, seq, round, false);
            if contributes {
                board.publish(part.me, seq);
            }
            if !board.arrive(part.me, seq, round) {
                return;
            }
            state.note_last(seq, true);
            self.note_last_arrival(part, state, seq, sampled);
            if self.kind == Kind::Barrier {
                board.release(seq);
            }
            if self.kind != Kind::Allreduce || len > SHARED_RESULT {
                // At a small allreduce the last rank to arrive notifies later, when the result is there.
                board.notify();
            }
        }
    }

    /// If this rank alone reads the deposits of instance `seq`, enters it for ranks that are far ahead.
    #[inline]
    fn enter_for_ranks_ahead(&self, part: &NodePart, seq: Seq, round: u64, has_looked: bool) {
        if self.has_one_reader() && self.call.root as usize == part.me {
            RanksAhead::new(part, seq, round, has_looked).enter();
        }
    }

    /// Counts that this rank was the last to arrive, and how late it was.
    fn note_last_arrival(&self, part: &NodePart, state: &mut PartState, seq: Seq, sampled: bool) {
        let node = part.shared.node;
        if !node.recording {
            return;
        }
        let worked = state.worked.filter(|_| sampled);
        let tally = state.tallies.of(self.kind, self.nonblocking);
        tally.last += 1;
        if let Some(worked) = worked {
            tally.last_sampled += 1;
            let now = node.clock().now();
            let others = (0..part.ranks).filter(|&rank| rank != part.me);
            let first = others.map(|rank| arrival_of(&part.shared.board, rank, seq)).min().unwrap_or(now);
            // Ranks that need nothing may have arrived long before. They would have waited for no longer than
            // this rank worked since its previous call.
            let late = Ticks(now.0.saturating_sub(first.0).min(worked.0));
            tally.late_ns += node.clock().ns_between(Ticks(0), late);
        }
    }

    /// The member that came last of those whose deposits this rank needed, after a long wait for them. Of a
    /// call that is cut into instances, the last instance decides.
    pub(crate) fn awaited(&self, part: &NodePart) -> Option<usize> {
        match self.participation.needs {
            Sources::Empty => None,
            Sources::One(rank) => Some(rank.0 as usize),
            Sources::Below(_) => self.missing.get(),
            Sources::AllOthers if part.ranks == 2 => Some(1 - part.me),
            Sources::AllOthers => {
                part.shared.board.last_to_arrive(Seq(self.first.0 + self.plan.instances - 1))
            }
        }
    }

    /// Returns whether all ranks below this one have made their deposits, and notes one that has not.
    fn have_all_below(&self, board: &Board<Mapped>, rank: usize, seq: Seq) -> bool {
        let missing = (0..rank).rev().find(|&below| !board.is_published(below, seq));
        if missing.is_some() {
            self.missing.set(missing);
        }
        missing.is_none()
    }

    /// Returns whether everything that this rank needs from others has been deposited.
    #[inline]
    fn is_ready(&self, part: &NodePart, state: &PartState, seq: Seq) -> bool {
        let board = &part.shared.board;
        match self.participation.needs {
            Sources::Empty => true,
            Sources::One(rank) => board.is_published(rank.0 as usize, seq),
            Sources::Below(rank) => self.have_all_below(board, rank.0 as usize, seq),
            Sources::AllOthers if part.ranks == 2 => board.is_published(1 - part.me, seq),
            Sources::AllOthers if self.kind == Kind::Barrier => {
                board.is_released(seq) || board.all_arrived(seq, state.round(seq))
            }
            Sources::AllOthers => board.all_arrived(seq, state.round(seq)),
        }
    }

    /// Finishes the oldest instance that was entered, if the deposits that it needs are there.
    #[inline]
    fn finish(&mut self, part: &NodePart, state: &mut PartState) -> bool {
        let offers_memory = self.offers_memory(self.finished);
        if self.participation.needs == Sources::Empty && !offers_memory {
            return true; // this rank left the instance when it entered it
        }
        let board = &part.shared.board;
        let seq = self.instance(self.finished).seq;
        if offers_memory {
            remote_read::give(part, seq);
        }
        if !self.is_taken {
            if !self.take(part, state) {
                return false;
            }
            state.leave(board, part.me, seq);
            self.fold = SharedFold::default();
            self.reads = ReadProgress::default();
            if self.may_read_directly() {
                self.is_taken = true;
                board.notify(); // a rank may be waiting until its readers have left
            }
        }
        if offers_memory && !self.have_readers_left(part, seq) {
            return false;
        }
        self.is_taken = false;
        true
    }

    /// Copies or combines what this rank needs of the oldest instance. Returns false if that is not there
    /// yet.
    #[inline]
    fn take(&mut self, part: &NodePart, state: &mut PartState) -> bool {
        let (mut fold, mut reads) = (std::mem::take(&mut self.fold), std::mem::take(&mut self.reads));
        let mut remote_fold = self.remote_fold.take();
        let instance = self.instance(self.finished);
        self.enter_for_ranks_ahead(part, instance.seq, state.round(instance.seq), true);
        let is_done = if self.kind == Kind::Allreduce && part.ranks > 2 {
            fold.advance(&instance, part, state)
        } else if !self.is_ready(part, state, instance.seq) {
            false
        } else if self.participation.needs == Sources::Empty {
            instance.take_own(part.me);
            true
        } else if let Some(remote_fold) = &mut remote_fold {
            // SAFETY: as below.
            unsafe { remote_fold.advance(&instance, part) }
        } else {
            // SAFETY: all deposits that are read have been seen to be published or counted.
            unsafe { instance.take(part, state, &mut reads) }
        };
        (self.fold, self.reads, self.remote_fold) = (fold, reads, remote_fold);
        is_done
    }

    /// Returns whether all ranks that read this rank's memory have finished doing so.
    fn have_readers_left(&self, part: &NodePart, seq: Seq) -> bool {
        let reads = |reader: usize| {
            let participation = self.kind.participation(part.ranks, self.call.root as usize, reader);
            participation.needs.includes(Rank(reader as u32), Rank(part.me as u32))
        };
        (0..part.ranks).filter(|&rank| reads(rank)).all(|rank| part.shared.board.left(rank) > seq.0)
    }
}
