//! Reductions of vectors that are too long for the segment: each rank combines a part of the vector, and then
//! the parts go to the ranks that get the result. So all ranks share the work, and each byte is read from
//! another rank's memory at most twice.
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

/// Carries out an allreduce, or a reduce to a root.
pub(super) fn carry_in_parts(process: &Process, part: &NodePart, called: &Call) -> Result<Carried, Revoked> {
    let gets_all = called.kind() == CollectiveKind::Allreduce || called.root as usize == part.me;
    let parts = parts(called, part.ranks);
    let mine = parts[part.me];
    // A rank that does not get the result has no place for a part of it.
    let mut place = vec![0u64; if gets_all { 0 } else { mine.bytes.div_ceil(size_of::<u64>()) }];
    let own =
        if gets_all { called.recv.wrapping_offset(mine.offset) } else { place.as_mut_ptr().cast::<u8>() };
    let combining = Call {
        kind: CollectiveKind::ReduceScatter as u32,
        recv: own,
        recv_spans: parts.as_ptr(),
        materialize: None,
        ..*called
    };
    let gathers = match called.kind() {
        CollectiveKind::Allreduce => CollectiveKind::Allgatherv,
        _ => CollectiveKind::Gatherv,
    };
    let gathering = Call {
        kind: gathers as u32,
        bytes: mine.bytes,
        send: own,
        recv: if gets_all { called.recv } else { ptr::null_mut() },
        combine: None,
        elem_bytes: 0,
        ..combining
    };
    let first =
        carry(process, part, &combining, plan_of(part, &combining), &Step { called, is_last: false })?;
    let last = carry(process, part, &gathering, plan_of(part, &gathering), &Step { called, is_last: true })?;
    Ok(Carried {
        waited_ns: first.waited_ns + last.waited_ns,
        awaited: if first.awaited.is_some() { first.awaited } else { last.awaited },
        is_sampled: first.is_sampled,
    })
}

fn plan_of(part: &NodePart, call: &Call) -> CallPlan {
    // SAFETY: the call's buffers are those of the program's call, and there is a span for each rank.
    unsafe { NodeOperation::plan_of(part, call, false) }
        .expect("a vector is cut into parts only where ranks may read each other's memory")
}

/// The part of the vector that each rank combines: about as many elements each.
fn parts(call: &Call, ranks: usize) -> Vec<Span> {
    let elements = call.bytes / call.elem_bytes.max(1);
    let begin = |rank: usize| (elements * rank / ranks) * call.elem_bytes.max(1);
    (0..ranks)
        .map(|rank| Span { offset: begin(rank) as isize, bytes: begin(rank + 1) - begin(rank) })
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
                    let call = Call {
                        bytes: elements * elem_bytes,
                        elem_bytes,
                        ..Call::empty(CollectiveKind::Allreduce)
                    };
                    let mut end = 0;
                    for Span { offset, bytes } in parts(&call, ranks) {
                        assert_eq!((offset, bytes % elem_bytes), (end as isize, 0));
                        end += bytes;
                    }
                    assert_eq!(end, call.bytes);
                }
            }
        }
    }
}
