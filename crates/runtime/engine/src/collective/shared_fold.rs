//! Allreduce among three or more ranks: which rank combines, and how ranks avoid waiting for a slow one.

use super::completion::Instance;
use crate::clock::{Clock, Ticks};
use crate::comm::part::NodePart;
use crate::comm::state::PartState;
use crate::copy::copy;
use crate::reduction::fold::fold;
use evenkeel_schedule::algorithms::allreduce::parts::part_count;
use evenkeel_schedule::partition::part_start;
use evenkeel_segment::board::geometry::RELEASE_BYTES;

/// Results up to this size are combined by the last rank to arrive. Larger ones are divided into shares
/// that the ranks that are awake combine.
pub const SHARED_RESULT: usize = 2 * 1024;

/// How long a result may be overdue before a rank that needs it combines the contributions itself.
pub const OVERDUE_NS: u64 = 50_000;

/// How far this rank is with the instance that it is finishing.
#[derive(Default)]
pub struct SharedFold {
    /// The shares of the result that this rank has, one bit each.
    taken: u64,
    /// When this rank first saw that all ranks had arrived.
    complete_since: Option<Ticks>,
}

impl SharedFold {
    /// Makes as much progress as is possible now. Returns true when the result is in place. The last rank
    /// to arrive combines a small result for all; a large one is divided among the ranks that are awake. A
    /// rank that has waited too long for another one's share combines that share itself.
    pub(crate) fn advance(
        &mut self,
        instance: &Instance<'_>,
        part: &NodePart,
        state: &mut PartState,
    ) -> bool {
        let board = &part.shared.board;
        let offset = if instance.len > RELEASE_BYTES {
            state.common_at(instance.seq)
        } else {
            board.geometry.release_payload(instance.seq.0)
        };
        let result = board.memory.pointer(offset);
        let mut sources = std::mem::take(&mut state.sources);
        let done = if instance.len <= SHARED_RESULT {
            self.advance_small(instance, part, state, result, &mut sources)
        } else {
            board.all_arrived(instance.seq, state.round(instance.seq))
                && self.advance_large(instance, part, result, &mut sources)
        };
        sources.clear();
        state.sources = sources;
        done
    }

    fn is_overdue(&mut self, clock: Clock) -> bool {
        clock.ns_since(*self.complete_since.get_or_insert_with(|| clock.now())) > OVERDUE_NS
    }

    fn advance_small(
        &mut self,
        instance: &Instance<'_>,
        part: &NodePart,
        state: &PartState,
        result: *mut u8,
        sources: &mut Vec<*const u8>,
    ) -> bool {
        let Instance { call, seq, len, .. } = *instance;
        let board = &part.shared.board;
        let count = len / call.elem_bytes.max(1);
        let out = call.recv.wrapping_add(instance.at);
        if state.was_last(seq) {
            instance.contributions(part, sources);
            // SAFETY: all ranks have arrived, and only the last one writes the result before the release.
            unsafe { fold(call, sources, result, count) };
            board.release(seq);
            board.notify();
            // SAFETY: the result is complete; `out` belongs to this rank.
            unsafe { copy(result, out, len) };
            true
        } else if board.is_released(seq) {
            // SAFETY: the result was written before the release, and stays until all ranks have left.
            unsafe { copy(result, out, len) };
            true
        } else if board.all_arrived(seq, state.round(seq)) && self.is_overdue(part.shared.node.clock()) {
            instance.contributions(part, sources);
            // SAFETY: all ranks have arrived; the result goes to this rank's own buffer only.
            unsafe { fold(call, sources, out, count) };
            true
        } else {
            false
        }
    }

    /// For an instance at which all ranks have arrived.
    fn advance_large(
        &mut self,
        instance: &Instance<'_>,
        part: &NodePart,
        result: *mut u8,
        sources: &mut Vec<*const u8>,
    ) -> bool {
        let Instance { call, seq, len, .. } = *instance;
        let board = &part.shared.board;
        let (elem, out) = (call.elem_bytes.max(1), call.recv.wrapping_add(instance.at));
        let count = (len / elem) as u64;
        let shares = part_count(part.ranks as u32, count);
        let bounds =
            |share: u32| [share, share + 1].map(|edge| part_start(count, edge, shares) as usize * elem);
        instance.contributions(part, sources);
        let mut shifted: Vec<*const u8> = Vec::with_capacity(sources.len());
        let mut fold_share = |share: u32, target: *mut u8| {
            let [from, to] = bounds(share);
            shifted.clear();
            shifted.extend(sources.iter().map(|source| source.wrapping_add(from)));
            // SAFETY: all ranks have arrived; only this rank writes this share of the target.
            unsafe { fold(call, &shifted, target.wrapping_add(from), (to - from) / elem) };
        };
        while let Some(share) = board.claim(seq, shares) {
            fold_share(share, result);
            if board.finish(seq, share, shares) {
                board.notify();
            }
        }
        let all = (1u64 << shares) - 1;
        let ready = board.finished(seq) & !self.taken;
        if ready == 0 && self.taken != all && self.is_overdue(part.shared.node.clock()) {
            let share = (!self.taken).trailing_zeros();
            fold_share(share, out);
            self.taken |= 1 << share;
        } else if ready == all {
            // SAFETY: all shares are complete.
            unsafe { copy(result, out, len) };
            self.taken = all;
        } else {
            for share in (0..shares).filter(|share| ready >> share & 1 != 0) {
                let [from, to] = bounds(share);
                // SAFETY: this share is complete.
                unsafe { copy(result.wrapping_add(from), out.wrapping_add(from), to - from) };
            }
            self.taken |= ready;
        }
        self.taken == all
    }
}
