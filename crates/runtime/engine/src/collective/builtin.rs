//! The schedules that describe what the engine does within a node.
//!
//! [`evenkeel_schedule::deposits`] defines which rank contributes what, which ranks need it, and in which
//! order contributions are combined. The schedules named here are built from it, and the engine reads it at
//! every call. The engine adds what schedules do not describe: how deposits travel
//! ([`crate::collective::deposit`], [`crate::collective::plan`]), counters, the window of operations in
//! progress, pending barriers, and ranks that combine on behalf of an overdue rank. Each schedule is proved
//! where it is listed, and tests compare it with the ranks that must wait for a late rank.
//!
//! A long call is cut into instances ([`crate::collective::plan`]). Each instance is one epoch of the
//! schedule, whose vector is a slice of the call's vector.

use crate::collective::shared_fold::SHARED_RESULT;
use evenkeel_schedule::{Collective, Problem, Rank, Schedule};
use evenkeel_spanning::CollectiveKind as Kind;

/// The schedule of one instance of a blocking call, for vectors of `bytes`. `root` is ignored if the
/// operation has none.
pub fn builtin(kind: Kind, ranks: u32, root: Rank, bytes: usize) -> Schedule {
    let pair = ranks == 2;
    let operation = kind.operation();
    let name = match operation {
        // Two ranks exchange flags. More ranks add to one counter, and the last raises one flag for all.
        Collective::Barrier if pair => "pairwise-exchange".into(),
        Collective::Barrier => "central-counter".into(),
        // All ranks read one copy, and wait for one flag.
        Collective::Bcast => format!("bcast-flag-tree:r={}", ranks.saturating_sub(1).max(1)),
        Collective::Reduce => "reduce-flat".into(),
        // Two ranks combine each for itself. Among more ranks the last to arrive combines for all; if there
        // is much to combine, each rank takes a part.
        Collective::Allreduce if pair => "allreduce-simultaneous-broadcast".into(),
        Collective::Allreduce if bytes <= SHARED_RESULT => "allreduce-central-counter".into(),
        Collective::Allreduce => "allreduce-parts".into(),
        Collective::Gather => "gather-flat".into(),
        Collective::Scatter => "scatter-flat".into(),
        Collective::Allgather => "allgather-flat".into(),
        Collective::Alltoall => "alltoall-flat".into(),
        Collective::ReduceScatter => "reduce-scatter-flat".into(),
        Collective::Scan => "scan-flat".into(),
        Collective::Exscan => "exscan-flat".into(),
    };
    let rooted = matches!(
        operation,
        Collective::Bcast | Collective::Reduce | Collective::Gather | Collective::Scatter
    );
    let problem = Problem::new(ranks).with_root(if rooted { root } else { Rank(0) });
    Schedule::parse(&name, problem).expect("these schedules exist for every number of ranks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_schedule::CombiningOrder;
    use evenkeel_schedule::check::{Interleaving, costs, run};

    #[test]
    fn all_are_correct_combine_in_rank_order_and_block_only_ranks_that_need_data() {
        for ranks in [1, 2, 3, 5, 16] {
            for root in [0, ranks - 1].map(Rank) {
                for (kind, bytes) in Kind::ALL.into_iter().flat_map(|kind| [(kind, 8), (kind, 1 << 20)]) {
                    let schedule = builtin(kind, ranks, root, bytes);
                    let of = format!("{kind:?} by {}, {ranks} ranks, root {root:?}", schedule.name());
                    run(&schedule, 5, Interleaving::Prompt).unwrap();
                    let algorithm = schedule.algorithm;
                    assert_eq!(algorithm.collective, kind.operation(), "{of}");
                    let combines = matches!(
                        algorithm.collective,
                        Collective::Reduce
                            | Collective::Allreduce
                            | Collective::ReduceScatter
                            | Collective::Scan
                            | Collective::Exscan
                    );
                    assert_eq!(
                        algorithm.order,
                        if combines { CombiningOrder::Fold } else { CombiningOrder::Nothing },
                        "{of}"
                    );
                    let all = || 0..ranks as usize;
                    let needed = |me| {
                        let needs = kind.participation(ranks as usize, root.0 as usize, me).needs;
                        all().filter(|other| needs.includes(Rank(me as u32), Rank(*other as u32))).count()
                    };
                    let found = costs(&schedule).unwrap();
                    let expected = (all().map(needed).min().unwrap(), all().map(needed).max().unwrap());
                    assert_eq!(
                        (found.least_responders as usize, found.responders as usize),
                        expected,
                        "{of}"
                    );
                }
            }
        }
    }
}
