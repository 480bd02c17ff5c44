//! How a call is cut into instances, using only facts that all members know to be equal.
//!
//! Everything here is a pure function of the kind of collective, the number of bytes that MPI guarantees to
//! be equal, the number of ranks, and the facts of the node that all ranks have agreed on.

use evenkeel_segment::Geometry;
use evenkeel_segment::board::geometry::CELL_BYTES;
use evenkeel_spanning::CollectiveKind as Kind;

/// How a deposit that is too large for the segment travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeDeposits {
    /// Its readers may read it from the depositor's memory.
    Read,
    /// It goes through the segment in slices, if all ranks know its length.
    Cut,
    /// There are none: calls have been cut before they come here.
    Never,
}

/// What all members of a communicator know about the memory that they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanFacts {
    /// How many cores the ranks of the node may use.
    pub cores: usize,
    /// How large deposits travel.
    pub large: LargeDeposits,
}

/// How the payload travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Through the segment: depositors may leave at once.
    Segment,
    /// Past the board: through the depositor's bounce buffer if that has room, and then depositors may leave
    /// at once. Otherwise readers read the depositor's memory, and the depositor stays until they have.
    Direct,
    /// A reduction in two steps: each rank combines a part of the vectors, and then the parts go to those
    /// that get the result.
    Parts,
}

/// How a call is cut into instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallPlan {
    /// How the payload travels.
    pub route: Route,
    /// The number of instances.
    pub instances: u64,
    /// Bytes of the cut dimension (`Call::bytes`; one block in gather-like kinds) in each instance but the
    /// last.
    pub slice: usize,
}

/// No more than this of a deposit goes through its rank's bounce buffer. Of a longer one two copies through
/// the caches take longer than one by the kernel. This and what follows has been measured:
/// docs/src/decisions/long-collectives.md.
pub const LARGEST_BOUNCED: usize = 512 * 1024;
/// Slice of a longer deposit: what the depositor writes is still in its cache when the reader takes it.
const BOUNCED_SLICE: usize = 64 * 1024;
/// A root combines the vectors of all ranks if they have no more bytes together. Of longer ones each rank
/// combines a part.
const COMBINED_BY_ROOT: usize = 2 * 1024 * 1024;
/// A larger broadcast does not go through the common area if there is another way.
const LARGEST_COMMON_BCAST: usize = 512 * 1024;
/// Slice of a broadcast if every rank has a core: while the root writes one slice, the others read the one
/// before.
const STREAM_SLICE: usize = 16 * 1024;
/// The largest offset table that fits into a ring and leaves room for some data, in entries.
const LARGEST_TABLE: usize = 1024;

/// Returns the plan, or `None` if the host library must carry out the call.
///
/// `bytes` is [`Call::common_bytes`](super::call::Call::common_bytes). `elem_bytes` is the size of an
/// element of a reduction, which is not split; 0 for other kinds.
pub fn plan(
    kind: Kind,
    bytes: usize,
    elem_bytes: usize,
    nonblocking: bool,
    g: &Geometry,
    facts: PlanFacts,
) -> Option<CallPlan> {
    let reads = facts.large == LargeDeposits::Read;
    let plan = match kind {
        Kind::Barrier => CallPlan::whole(bytes),
        Kind::Bcast => plan_broadcast(bytes, nonblocking, g, facts),
        Kind::Reduce
        | Kind::Allreduce
        | Kind::ReduceScatter
        | Kind::ReduceScatterBlock
        | Kind::Scan
        | Kind::Exscan => {
            let vector = if kind == Kind::ReduceScatterBlock { bytes * g.ranks } else { bytes };
            if reads && vector > g.ring_bytes {
                plan_long_reduction(kind, vector, elem_bytes, nonblocking, g)?
            } else {
                plan_reduction(vector, elem_bytes, g.ring_bytes)?
            }
        }
        Kind::Gather | Kind::Allgather | Kind::Allgatherv => {
            if bytes <= g.ring_bytes {
                CallPlan::whole(bytes)
            } else if reads {
                CallPlan::past_board(bytes, 1, !nonblocking)
            } else {
                CallPlan::cut(bytes, g.ring_bytes / 2)
            }
        }
        Kind::Scatter | Kind::Alltoall => plan_blocks_for_all(bytes, nonblocking, g, facts)?,
        // A rank that knows only its own share cannot know whether all shares fit. A rank whose share is
        // too large offers it for direct reading.
        Kind::Gatherv | Kind::Scatterv | Kind::Alltoallv | Kind::Alltoallw => {
            if facts.large == LargeDeposits::Cut || g.ranks > LARGEST_TABLE {
                return None;
            }
            CallPlan::whole(bytes)
        }
    };
    // A nonblocking call must complete even if the program never polls it again, so its whole deposit must
    // fit at once.
    if nonblocking && plan.instances > 1 {
        return None;
    }
    Some(plan)
}

impl CallPlan {
    /// One instance, through the segment.
    fn whole(bytes: usize) -> CallPlan {
        CallPlan { route: Route::Segment, instances: 1, slice: bytes }
    }

    /// One instance, past the board.
    fn direct(bytes: usize) -> CallPlan {
        CallPlan { route: Route::Direct, instances: 1, slice: bytes }
    }

    /// Past the board, and in slices if the deposit does not fit into a bounce buffer and `may_be_cut`. A
    /// deposit is `times` as long as the dimension that is cut.
    fn past_board(bytes: usize, times: usize, may_be_cut: bool) -> CallPlan {
        if may_be_cut && bytes.saturating_mul(times) > LARGEST_BOUNCED {
            CallPlan::direct_cut(bytes, (BOUNCED_SLICE / times).max(64))
        } else {
            CallPlan::direct(bytes)
        }
    }

    /// Past the board, in slices.
    fn direct_cut(bytes: usize, slice: usize) -> CallPlan {
        CallPlan { route: Route::Direct, instances: bytes.div_ceil(slice) as u64, slice }
    }

    /// Two calls of one instance each for each chunk. Of a chunk a rank deposits all but its own part.
    fn in_parts(bytes: usize, elem_bytes: usize, ranks: usize) -> CallPlan {
        let elem = elem_bytes.max(1);
        let chunk = (LARGEST_BOUNCED / (ranks - 1) * ranks / elem).max(1) * elem;
        CallPlan { route: Route::Parts, instances: 2 * bytes.div_ceil(chunk) as u64, slice: chunk }
    }

    /// As many instances as slices are needed, through the segment.
    fn cut(bytes: usize, slice: usize) -> CallPlan {
        CallPlan { route: Route::Segment, instances: bytes.div_ceil(slice) as u64, slice }
    }
}

fn plan_broadcast(bytes: usize, nonblocking: bool, g: &Geometry, facts: PlanFacts) -> CallPlan {
    // A nonblocking one is not cut, so all of it has to fit.
    let largest_common =
        if nonblocking { g.common_bytes.min(LARGEST_COMMON_BCAST) } else { LARGEST_COMMON_BCAST };
    if bytes <= CELL_BYTES {
        CallPlan::whole(bytes)
    } else if bytes > largest_common && facts.large == LargeDeposits::Read {
        CallPlan::past_board(bytes, 1, !nonblocking)
    } else if g.ranks <= facts.cores && bytes > STREAM_SLICE && !nonblocking {
        CallPlan::cut(bytes, STREAM_SLICE)
    } else if bytes <= g.common_bytes {
        CallPlan::whole(bytes)
    } else {
        CallPlan::cut(bytes, (g.common_bytes / 2).min(256 * 1024) & !63)
    }
}

/// A reduction of `vector` bytes per rank. Elements are not split, so a slice holds at least one.
fn plan_reduction(vector: usize, elem_bytes: usize, ring: usize) -> Option<CallPlan> {
    if vector <= ring {
        return Some(CallPlan::whole(vector));
    }
    let slice = ring / 2 / elem_bytes.max(1) * elem_bytes;
    (slice > 0).then(|| CallPlan::cut(vector, slice))
}

/// A reduction of more than a ring holds, where ranks may read each other's memory.
fn plan_long_reduction(
    kind: Kind,
    vector: usize,
    elem_bytes: usize,
    nonblocking: bool,
    g: &Geometry,
) -> Option<CallPlan> {
    let elem = elem_bytes.max(1);
    let bounced = (BOUNCED_SLICE / elem).max(1) * elem;
    match kind {
        Kind::ReduceScatter => Some(CallPlan::direct(vector)),
        Kind::ReduceScatterBlock => {
            let others = g.ranks.saturating_sub(1).max(1);
            let (block, slice) = (vector / g.ranks, (LARGEST_BOUNCED / others / elem).max(1) * elem);
            Some(if nonblocking { CallPlan::direct(block) } else { CallPlan::direct_cut(block, slice) })
        }
        // The others need not wait for the root, however long it takes.
        Kind::Reduce if nonblocking && vector <= LARGEST_BOUNCED => Some(CallPlan::direct(vector)),
        // The parts of a reduce are gathered with a length of each.
        Kind::Reduce if vector * g.ranks <= COMBINED_BY_ROOT || g.ranks > LARGEST_TABLE => {
            Some(CallPlan::direct_cut(vector, bounced))
        }
        // Of two ranks each combines for itself: no second step has to wait until it calls MPI again.
        Kind::Allreduce if nonblocking && g.ranks == 2 && vector <= LARGEST_BOUNCED => {
            Some(CallPlan::direct(vector))
        }
        Kind::Reduce | Kind::Allreduce if g.ranks > 1 => {
            Some(CallPlan::in_parts(vector, elem_bytes, g.ranks))
        }
        Kind::Scan | Kind::Exscan if !nonblocking => Some(CallPlan::direct_cut(vector, bounced)),
        _ => plan_reduction(vector, elem_bytes, g.ring_bytes),
    }
}

/// A call in which a rank contributes one block of `bytes` for each rank.
fn plan_blocks_for_all(bytes: usize, nonblocking: bool, g: &Geometry, facts: PlanFacts) -> Option<CallPlan> {
    if bytes.checked_mul(g.ranks)? <= g.ring_bytes {
        return Some(CallPlan::whole(bytes));
    }
    if facts.large == LargeDeposits::Read {
        // Each reader takes little of a slice. Where ranks share cores that costs more than the kernel's
        // copy.
        let may_be_cut = !nonblocking && g.ranks <= facts.cores;
        return Some(CallPlan::past_board(bytes, g.ranks.saturating_sub(1).max(1), may_be_cut));
    }
    let slice = (g.ring_bytes / 2 / g.ranks) & !15;
    (slice > 0).then(|| CallPlan::cut(bytes, slice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_cover_the_bytes_and_fit_the_segment() {
        for ranks in [2, 3, 5, 16, 64, 200] {
            let g = Geometry::new(ranks);
            for large in [LargeDeposits::Cut, LargeDeposits::Read] {
                let facts = PlanFacts { cores: 2, large };
                for kind in Kind::ALL {
                    for bytes in [0usize, 1, 40, 41, 4096, 32768, 32776, 65536, 1 << 20, 10_000_000] {
                        let elem = if kind as u32 >= Kind::ReduceScatter as u32
                            || matches!(kind, Kind::Reduce | Kind::Allreduce)
                        {
                            8
                        } else {
                            0
                        };
                        let Some(p) = plan(kind, bytes, elem, false, &g, facts) else {
                            assert!(
                                kind.is_private() && large == LargeDeposits::Cut,
                                "{kind:?} {bytes} {ranks}"
                            );
                            continue;
                        };
                        let cuts_blocks = kind != Kind::ReduceScatterBlock || p.route == Route::Direct;
                        let total = if cuts_blocks { bytes } else { bytes * ranks };
                        if kind != Kind::Barrier && !kind.is_private() {
                            assert!(p.slice as u64 * p.instances >= total as u64);
                            assert!(p.instances >= 1);
                        }
                        if p.route == Route::Segment && !kind.is_private() && kind != Kind::Barrier {
                            let deposit = if matches!(kind, Kind::Scatter | Kind::Alltoall) {
                                p.slice * ranks
                            } else {
                                p.slice
                            };
                            let room = if kind == Kind::Bcast { g.common_bytes } else { g.ring_bytes };
                            assert!(deposit <= room, "{kind:?} {bytes} B on {ranks} ranks: {p:?}");
                        }
                        if let Some(n) = plan(kind, bytes, elem, true, &g, facts) {
                            assert_eq!(n.instances, 1);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_nonblocking_broadcast_that_fits_is_not_cut() {
        let g = Geometry::new(2);
        let facts = PlanFacts { cores: 2, large: LargeDeposits::Cut };
        assert!(plan(Kind::Bcast, 40_000, 0, false, &g, facts).unwrap().instances > 1);
        assert_eq!(plan(Kind::Bcast, 40_000, 0, true, &g, facts).unwrap().instances, 1);
        assert_eq!(plan(Kind::Bcast, 60_000, 0, true, &g, facts), None);
    }

    #[test]
    fn where_a_reduction_goes_in_parts_both_steps_have_a_plan() {
        for ranks in [2, 3, 64, LARGEST_TABLE, LARGEST_TABLE + 1] {
            let g = Geometry::new(ranks);
            for (kind, gathers) in [(Kind::Allreduce, Kind::Allgatherv), (Kind::Reduce, Kind::Gatherv)] {
                for bytes in [40_000, 100_000, 3_000_000] {
                    let facts = PlanFacts { cores: 2, large: LargeDeposits::Read };
                    let whole = plan(kind, bytes, 8, false, &g, facts).unwrap();
                    if whole.route == Route::Parts {
                        assert!(plan(Kind::ReduceScatter, bytes, 8, false, &g, facts).is_some());
                        assert!(plan(gathers, bytes.div_ceil(ranks), 0, false, &g, facts).is_some());
                    }
                    let facts = PlanFacts { large: LargeDeposits::Cut, ..facts };
                    assert_eq!(plan(kind, bytes, 8, false, &g, facts).unwrap().route, Route::Segment);
                }
            }
        }
    }

    #[test]
    fn elements_are_not_split() {
        let g = Geometry::new(4);
        let facts = PlanFacts { cores: 2, large: LargeDeposits::Cut };
        let p = plan(Kind::Allreduce, 24 * 10_000, 24, false, &g, facts).unwrap();
        assert_eq!(p.slice % 24, 0);
        assert_eq!(
            plan(Kind::Allreduce, 200_000, 100_000, false, &g, facts),
            None,
            "an element larger than a slice"
        );
        assert!(
            plan(Kind::Allreduce, 30_000, 30_000, false, &g, facts).is_some(),
            "but one that fits whole is fine"
        );
    }
}
