//! One collective call under way: which deposits it makes, what it needs, and what it does when that is
//! there.
//!
//! A call is a run of instances ([`crate::collective::plan`]). Each instance is *entered* (the rank deposits and
//! counts its arrival) and later *finished* (what is needed is there and has been copied or combined).
//! A rank that is owed nothing finishes at once. Who hands in and who needs whose deposits is said by
//! [`evenkeel_schedule::deposits`], of which the schedules of [`crate::collective::builtin`] are made too. Several
//! instances of a long call are under way together, as far as the segment has room.
//!
//! What is deposited is in [`crate::collective::deposit`]; what is done with deposits in [`crate::collective::completion`] and,
//! where ranks share the work, in [`crate::collective::shared_fold`].

use crate::clock::Ticks;
use crate::collective::call::{Call, Kind};
use crate::collective::deposit::Deposit;
use crate::collective::plan::{Plan, Route};
use crate::collective::shared_fold::SHARED_RESULT;
use crate::comm::shared::Served;
use crate::comm::state::State;
use crate::communicator::node::{Comm, common_bytes};
use crate::record::tally::is_sampled;
use evenkeel_schedule::Rank;
use evenkeel_schedule::deposits::{Participation, Sources};
use evenkeel_segment::Seq;
use evenkeel_segment::board::geometry::{CELL_BYTES, RELEASE_BYTES};

pub struct Operation {
    pub call: Call,
    pub(crate) kind: Kind,
    pub(crate) nonblocking: bool,
    pub(crate) plan: Plan,
    /// What this rank does in each instance.
    participation: Participation,
    /// Bytes of the dimension that is cut.
    total: usize,
    first: Seq,
    entered: u64,
    finished: u64,
    /// Of the instance being finished: shares of the result that are in place here.
    pub(crate) copied: u64,
    /// Of the instance being finished: since when it has been seen full.
    pub(crate) full_since: Option<Ticks>,
    /// Of a direct instance: this rank has what it needs, and stays only for its readers.
    taken: bool,
    /// Somebody may still read this rank's memory.
    offers_memory: bool,
}

impl Operation {
    /// Takes the numbers of its instances. `Comm::takes` has accepted the call.
    #[inline]
    pub fn reserve(
        comm: &Comm,
        served: &Served,
        state: &mut State,
        call: Call,
        nonblocking: bool,
    ) -> Operation {
        let kind = call.kind();
        // SAFETY: the front end provides the spans that the kind calls for.
        let bytes = unsafe { common_bytes(&call, comm.ranks) };
        let plan = crate::collective::plan::plan(
            kind,
            bytes,
            call.elem_bytes,
            nonblocking,
            &served.board.geometry,
            served.facts,
        )
        .expect("the front end asks `takes` first");
        let total = if kind == Kind::ReduceScatterBlock { bytes * comm.ranks } else { bytes };
        Operation {
            call,
            kind,
            nonblocking,
            plan,
            participation: kind.participation(comm.ranks, call.root as usize, comm.me),
            total,
            first: state.reserve(plan.instances),
            entered: 0,
            finished: 0,
            copied: 0,
            full_since: None,
            taken: false,
            offers_memory: false,
        }
    }

    /// Whether this rank has deposited all that it has to.
    pub(crate) fn has_entered(&self) -> bool {
        self.entered == self.plan.instances
    }

    pub(crate) fn is_done(&self) -> bool {
        self.finished == self.plan.instances
    }

    /// Whether this call is timed in full.
    pub fn is_sampled(&self) -> bool {
        is_sampled(self.first.0)
    }

    /// Payload this rank hands in or takes out.
    pub fn bytes_moved(&self, comm: &Comm) -> usize {
        let spans = |spans: *const crate::collective::call::Span| -> usize {
            // SAFETY: the front end provides the spans that the kind calls for.
            if spans.is_null() { 0 } else { (0..comm.ranks).map(|r| unsafe { *spans.add(r) }.bytes).sum() }
        };
        let root = self.call.root == comm.me as i32;
        match self.kind {
            Kind::Gather | Kind::Scatter if root => self.call.bytes * comm.ranks,
            Kind::Allgather | Kind::Alltoall | Kind::ReduceScatterBlock => self.call.bytes * comm.ranks,
            Kind::Gatherv if root => spans(self.call.recv_spans),
            Kind::Scatterv if root => spans(self.call.send_spans),
            Kind::Allgatherv => spans(self.call.recv_spans),
            Kind::Alltoallv | Kind::Alltoallw => spans(self.call.send_spans).max(spans(self.call.recv_spans)),
            _ => self.call.bytes,
        }
    }

    /// Moves on as far as possible; true when this rank's part is done.
    #[inline]
    pub fn poll(&mut self, comm: &Comm, served: &Served, state: &mut State) -> bool {
        loop {
            let mut moved = false;
            while self.entered < self.plan.instances && self.enter(comm, served, state) {
                self.entered += 1;
                moved = true;
            }
            while self.finished < self.entered && self.finish(comm, served, state) {
                self.finished += 1;
                moved = true;
            }
            if self.finished == self.plan.instances {
                return true;
            }
            if !moved {
                return false;
            }
        }
    }

    /// The part of the cut dimension that instance `index` carries: start and length.
    fn slice(&self, index: u64) -> (usize, usize) {
        let start = index as usize * self.plan.slice;
        (start, self.plan.slice.min(self.total - start))
    }

    /// Bytes that instance takes in the common area; the same on all ranks.
    fn common_need(&self, comm: &Comm, len: usize) -> usize {
        match self.kind {
            Kind::Bcast if len > CELL_BYTES && self.plan.route == Route::Segment => len,
            Kind::Allreduce if comm.ranks > 2 && len > RELEASE_BYTES => len,
            _ => 0,
        }
    }

    /// Enters the next instance, if it may be entered.
    #[inline]
    fn enter(&mut self, comm: &Comm, served: &Served, state: &mut State) -> bool {
        let board = &served.board;
        let seq = Seq(self.first.0 + self.entered);
        let (at, len) = self.slice(self.entered);
        let common = self.common_need(comm, len);
        let deposit =
            if self.participation.contributes { Some(self.deposit(comm, served, at, len)) } else { None };
        let ring = deposit.as_ref().map_or(0, |d| d.ring_bytes);
        if !state.may_enter(board, seq, ring, common) {
            return false;
        }
        let slot = seq.0 as usize % state.rounds.len();
        if common > 0 {
            state.common_at[slot] = board.geometry.common() + state.common.take(common, seq.0);
        }
        state.was_last &= !(1 << slot);
        let sampled = served.world.recording && is_sampled(seq.0);
        let pair = comm.ranks == 2;
        if let Some(deposit) = &deposit {
            let ring_at =
                if ring > 0 { board.geometry.ring(comm.me) + state.ring.take(ring, seq.0) } else { 0 };
            // SAFETY: entering gave this rank its cell, and `take` the piece of its ring; nobody reads them
            // before they are published. The call's buffers are valid by the front end's promise.
            unsafe {
                deposit.write(
                    self,
                    comm,
                    served,
                    seq,
                    ring_at,
                    state.common_at[slot],
                    at,
                    len,
                    &mut state.bulk,
                )
            };
            self.offers_memory |= deposit.offers_memory;
        }
        if sampled {
            crate::collective::deposit::stamp(board, comm.me, seq, Ticks::now());
        }
        state.note_entered();
        if self.kind.is_counted() && !pair {
            state.rounds[slot] += 1;
            if deposit.is_some() {
                board.publish(comm.me, seq);
            }
            if board.arrive(comm.me, seq, state.rounds[slot]) {
                state.was_last |= 1 << slot;
                self.came_last(comm, served, state, seq, sampled);
                if self.kind == Kind::Barrier {
                    board.release(seq);
                }
                if self.kind != Kind::Allreduce || len > SHARED_RESULT {
                    board.notify(); // a small allreduce is announced when its result is there
                }
            }
        } else if self.kind.is_counted() || deposit.is_some() {
            if self.kind.is_counted() && board.is_published(1 - comm.me, seq) {
                self.came_last(comm, served, state, seq, sampled);
            }
            board.publish(comm.me, seq);
            board.notify();
        }
        if self.participation.needs == Sources::Empty && !self.offers_memory {
            // Nothing will be read here: say so at once, others may be waiting for the window.
            self.own_part(comm, at, len);
            state.finish(board, comm.me, seq);
        }
        true
    }

    /// Bookkeeping of the last to arrive: how late it was.
    fn came_last(&self, comm: &Comm, served: &Served, state: &mut State, seq: Seq, sampled: bool) {
        if !served.world.recording {
            return;
        }
        let tally = state.tallies.of(self.kind, self.nonblocking);
        tally.last += 1;
        if sampled {
            tally.last_sampled += 1;
            let now = Ticks::now();
            let earliest = (0..comm.ranks)
                .filter(|&r| r != comm.me)
                .map(|r| crate::collective::deposit::stamp_of(&served.board, r, seq))
                .min()
                .unwrap_or(now);
            tally.late_ns += now.ns_since(earliest);
        }
    }

    fn deposit(&self, comm: &Comm, served: &Served, at: usize, len: usize) -> Deposit {
        if self.kind == Kind::Barrier {
            return Deposit::default();
        }
        Deposit::plan(self, comm, served, at, len)
    }

    pub fn route(&self) -> Route {
        self.plan.route
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether ranks may fetch from each other's memory.
    pub fn may_read_directly(&self) -> bool {
        self.plan.route == Route::Direct || self.kind.is_private()
    }

    /// Whether everything the rank needs from others has been deposited.
    #[inline]
    fn is_ready(&self, comm: &Comm, served: &Served, state: &State, seq: Seq) -> bool {
        let board = &served.board;
        match self.participation.needs {
            Sources::Empty => true,
            Sources::One(rank) => board.is_published(rank.0 as usize, seq),
            Sources::Below(rank) => (0..rank.0 as usize).rev().all(|r| board.is_published(r, seq)),
            Sources::AllOthers if comm.ranks == 2 => board.is_published(1 - comm.me, seq),
            Sources::AllOthers if self.kind == Kind::Barrier => {
                board.is_released(seq) || board.all_arrived(seq, state.round(seq))
            }
            Sources::AllOthers => board.all_arrived(seq, state.round(seq)),
        }
    }

    /// Finishes the oldest instance entered, if what it needs is there.
    #[inline]
    fn finish(&mut self, comm: &Comm, served: &Served, state: &mut State) -> bool {
        let board = &served.board;
        let seq = Seq(self.first.0 + self.finished);
        let needs = self.participation.needs;
        if needs == Sources::Empty && !self.offers_memory {
            return true; // said so on entering
        }
        if !self.taken {
            let (at, len) = self.slice(self.finished);
            if self.kind == Kind::Allreduce && comm.ranks > 2 {
                if !self.finish_allreduce(comm, served, state, seq, at, len) {
                    return false;
                }
            } else {
                if !self.is_ready(comm, served, state, seq) {
                    return false;
                }
                if needs == Sources::Empty {
                    self.own_part(comm, at, len);
                } else {
                    // SAFETY: all deposits that are read have been seen published or counted.
                    unsafe { self.take(comm, served, state, seq, at, len) };
                    if served.world.recording
                        && matches!(self.kind, Kind::Reduce | Kind::Gather | Kind::Gatherv)
                    {
                        self.tally_savings(comm, served, state, seq);
                    }
                }
            }
            state.finish(board, comm.me, seq);
            self.copied = 0;
            self.full_since = None;
            if self.may_read_directly() {
                self.taken = true;
                board.notify(); // somebody may be waiting for its readers
            }
        }
        if self.offers_memory {
            // Stay until nobody can be reading this rank's memory any more.
            let reads = |r: usize| {
                let participation = self.kind.participation(comm.ranks, self.call.root as usize, r);
                participation.needs.includes(Rank(r as u32), Rank(comm.me as u32))
            };
            if !(0..comm.ranks).filter(|&r| reads(r)).all(|r| board.left(r) > seq.0) {
                return false;
            }
        }
        self.taken = false;
        true
    }
}
