//! Allreduce among three or more: who combines, and how nobody waits for somebody else's combining.

use crate::blocking::fast_path::OVERDUE_NS;
use crate::clock::Ticks;
use crate::collective::operation::Operation;
use crate::comm::shared::Served;
use crate::comm::state::State;
use crate::communicator::node::Comm;
use crate::copy::copy;
use crate::reduction::fold::fold;
use evenkeel_schedule::algorithms::allreduce::parts::part_count;
use evenkeel_schedule::partition::part_start;
use evenkeel_segment::Seq;
use evenkeel_segment::board::geometry::RELEASE_BYTES;

/// Results up to this size are combined by the last to arrive alone; larger ones by all who are awake.
pub const SHARED_RESULT: usize = 2 * 1024;

impl Operation {
    /// Allreduce among three or more: the last to arrive combines small results for all; large ones are
    /// divided among whoever is awake. A rank that waits too long for somebody else's combining does it for
    /// itself.
    pub(crate) fn finish_allreduce(
        &mut self,
        comm: &Comm,
        served: &Served,
        state: &mut State,
        seq: Seq,
        at: usize,
        len: usize,
    ) -> bool {
        let board = &served.board;
        let slot = seq.0 as usize % state.rounds.len();
        let elem = self.call.elem_bytes.max(1);
        let out = self.call.recv.wrapping_add(at);
        let result =
            if len > RELEASE_BYTES { state.common_at[slot] } else { board.geometry.release_payload(seq.0) };
        let result = board.memory.pointer(result);
        let mut sources = std::mem::take(&mut state.sources);
        let overdue = |operation: &mut Operation| {
            Ticks::now().ns_since(*operation.full_since.get_or_insert_with(Ticks::now)) > OVERDUE_NS
        };
        let done = if len <= SHARED_RESULT {
            if state.was_last & 1 << slot != 0 {
                self.contributions(comm, served, seq, at, &mut sources);
                // SAFETY: the instance is full, and only its last arrival writes the result before the
                // release.
                unsafe { fold(&self.call, &sources, result, len / elem) };
                board.release(seq);
                board.notify();
                // SAFETY: the result stands; `out` is this rank's.
                unsafe { copy(result, out, len) };
                true
            } else if board.is_released(seq) {
                // SAFETY: released after the result was written; it stays until all have left.
                unsafe { copy(result, out, len) };
                true
            } else if board.all_arrived(seq, state.round(seq)) && overdue(self) {
                self.contributions(comm, served, seq, at, &mut sources);
                // SAFETY: the instance is full; the result goes to this rank's own buffer only.
                unsafe { fold(&self.call, &sources, out, len / elem) };
                true
            } else {
                false
            }
        } else if !board.all_arrived(seq, state.round(seq)) {
            false
        } else {
            let count = len / elem;
            let shares = part_count(comm.ranks as u32, count as u64);
            let bounds = |share: u32| {
                let edge = |s: u32| part_start(count as u64, s, shares) as usize * elem;
                (edge(share), edge(share + 1))
            };
            self.contributions(comm, served, seq, at, &mut sources);
            let mut shifted: Vec<*const u8> = Vec::with_capacity(sources.len());
            while let Some(share) = board.claim(seq, shares) {
                let (from, to) = bounds(share);
                shifted.clear();
                shifted.extend(sources.iter().map(|s| s.wrapping_add(from)));
                // SAFETY: full; the share of the common piece is written by its claimer only.
                unsafe { fold(&self.call, &shifted, result.wrapping_add(from), (to - from) / elem) };
                if board.finish(seq, share, shares) {
                    board.notify();
                }
            }
            let all = (1u64 << shares) - 1;
            let ready = board.finished(seq) & !self.copied;
            if ready == 0 && self.copied != all && overdue(self) {
                let share = (!self.copied).trailing_zeros();
                let (from, to) = bounds(share);
                shifted.clear();
                shifted.extend(sources.iter().map(|s| s.wrapping_add(from)));
                // SAFETY: full; goes to this rank's own buffer, whose part is not needed by anybody else.
                unsafe { fold(&self.call, &shifted, out.wrapping_add(from), (to - from) / elem) };
                self.copied |= 1 << share;
            } else if ready == all {
                // SAFETY: all shares are done.
                unsafe { copy(result, out, len) };
                self.copied = all;
            } else {
                for share in (0..shares).filter(|s| ready >> s & 1 != 0) {
                    let (from, to) = bounds(share);
                    // SAFETY: this share is done.
                    unsafe { copy(result.wrapping_add(from), out.wrapping_add(from), to - from) };
                }
                self.copied |= ready;
            }
            self.copied == all
        };
        sources.clear();
        state.sources = sources;
        done
    }
}
