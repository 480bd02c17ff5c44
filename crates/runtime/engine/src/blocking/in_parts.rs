//! Reductions of vectors that are too long for the segment: each rank combines a part of the vector, and then
//! the parts go to the ranks that get the result. So all ranks share the work, and each byte passes from rank
//! to rank at most twice. A longer vector goes in chunks that bounce buffers hold.
//!
//! Both steps are collectives of their own, in which a rank that comes late is known by the name of what the
//! program has called.

use super::step::{Carried, Step, carry};
use crate::collective::call::{Call, CollectiveKind, Span};
use crate::collective::operation::NodeOperation;
use crate::collective::plan::CallPlan;
use crate::comm::part::{NodePart, Revoked};
use crate::process::Process;
use std::ptr;

/// Carries out an allreduce, or a reduce to a root, chunk after chunk as the plan says.
pub(super) fn carry_in_parts(
    process: &Process,
    part: &NodePart,
    called: &Call,
    plan: CallPlan,
) -> Result<Carried, Revoked> {
    let chunks = spans(called.bytes, called.elem_bytes, called.bytes.div_ceil(plan.slice));
    let last = chunks.len() - 1;
    let mut all = Carried::default();
    for (number, chunk) in chunks.into_iter().enumerate() {
        let place = |buffer: *mut u8| match buffer.is_null() {
            true => buffer,
            false => buffer.wrapping_offset(chunk.offset),
        };
        let send = called.send.wrapping_offset(chunk.offset);
        let call = Call { send, recv: place(called.recv), bytes: chunk.bytes, ..*called };
        let carried = carry_chunk(process, part, &call, called, number == last)?;
        all.waited_ns += carried.waited_ns;
        all.awaited = all.awaited.or(carried.awaited);
        all.is_sampled |= number == 0 && carried.is_sampled;
    }
    Ok(all)
}

/// Carries out `call`, a chunk of what the program has `called`.
fn carry_chunk(
    process: &Process,
    part: &NodePart,
    call: &Call,
    called: &Call,
    is_last: bool,
) -> Result<Carried, Revoked> {
    let gets_all = call.kind() == CollectiveKind::Allreduce || call.root as usize == part.me;
    let parts = spans(call.bytes, call.elem_bytes, part.ranks);
    let mine = parts[part.me];
    // A rank that does not get the result has no place for a part of it.
    let mut place = vec![0u64; if gets_all { 0 } else { mine.bytes.div_ceil(size_of::<u64>()) }];
    let own = if gets_all { call.recv.wrapping_offset(mine.offset) } else { place.as_mut_ptr().cast::<u8>() };
    let combining = Call {
        kind: CollectiveKind::ReduceScatter as u32,
        recv: own,
        recv_spans: parts.as_ptr(),
        materialize: None,
        ..*call
    };
    let gathers = match call.kind() {
        CollectiveKind::Allreduce => CollectiveKind::Allgatherv,
        _ => CollectiveKind::Gatherv,
    };
    let gathering = Call {
        kind: gathers as u32,
        bytes: mine.bytes,
        send: own,
        recv: if gets_all { call.recv } else { ptr::null_mut() },
        combine: None,
        elem_bytes: 0,
        ..combining
    };
    let step = Step { called, is_last: false, needs_all: true };
    let first = carry(process, part, &combining, plan_of(part, &combining), &step)?;
    let step = Step { is_last, needs_all: false, ..step };
    let last = carry(process, part, &gathering, plan_of(part, &gathering), &step)?;
    Ok(Carried {
        waited_ns: first.waited_ns + last.waited_ns,
        awaited: first.awaited.or(last.awaited),
        is_sampled: first.is_sampled,
    })
}

fn plan_of(part: &NodePart, call: &Call) -> CallPlan {
    // SAFETY: the call's buffers are those of the program's call, and there is a span for each rank.
    unsafe { NodeOperation::plan_of(part, call, false) }
        .expect("a vector is cut into parts only where ranks may read each other's memory")
}

/// A vector of so many bytes, divided into spans of about as many elements each.
fn spans(bytes: usize, elem_bytes: usize, count: usize) -> Vec<Span> {
    let elem = elem_bytes.max(1);
    let begin = |index: usize| (bytes / elem * index / count) * elem;
    (0..count)
        .map(|index| Span { offset: begin(index) as isize, bytes: begin(index + 1) - begin(index) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_vector_and_split_no_element() {
        for ranks in 1..9 {
            for elements in [0usize, 1, 2, 7, 8, 1000] {
                for elem_bytes in [1usize, 8, 24, 50_000] {
                    let mut end = 0;
                    for Span { offset, bytes } in spans(elements * elem_bytes, elem_bytes, ranks) {
                        assert_eq!((offset, bytes % elem_bytes), (end as isize, 0));
                        end += bytes;
                    }
                    assert_eq!(end, elements * elem_bytes);
                }
            }
        }
    }
}
