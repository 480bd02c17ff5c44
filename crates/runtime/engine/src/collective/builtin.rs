//! What the engine does within a node, in the list of algorithms.
//!
//! Who hands in what, who needs whose and in which order that is combined is said once, in
//! [`evenkeel_schedule::deposits`]: the schedules named here are made of it, and the engine asks it at
//! every call. What the engine adds is how deposits travel ([`crate::collective::deposit`], [`crate::collective::plan`]), and
//! what schedules know nothing of: it counts, keeps the window of operations under way, leaves barriers
//! pending ([`crate::barrier::central`]), and lets others combine for whoever is overdue. Each schedule is
//! proved where it is listed, and tests compare who is held by a late rank with it.
//!
//! A long call is cut into instances ([`crate::collective::plan`]): each is one epoch of the schedule, with a slice
//! of the vector as its vector.

use crate::collective::call::Kind;
use crate::collective::shared_fold::SHARED_RESULT;
use evenkeel_schedule::{Collective, Problem, Rank, Schedule};

/// The schedule that one instance of a blocking call comes to, for vectors of `bytes`. `root` counts
/// where the operation has one.
pub fn builtin(kind: Kind, ranks: u32, root: Rank, bytes: usize) -> Schedule {
    let pair = ranks == 2;
    let operation = kind.operation();
    let name = match operation {
        // Two exchange flags; more count at one place, and the last tells all.
        Collective::Barrier if pair => "pairwise-exchange".into(),
        Collective::Barrier => "central-counter".into(),
        // One copy that all read, and one flag.
        Collective::Bcast => format!("bcast-flag-tree:r={}", ranks.saturating_sub(1).max(1)),
        Collective::Reduce => "reduce-flat".into(),
        // Two combine for themselves; of more, whoever comes last combines for all, or if it is much, each
        // takes parts.
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
    Schedule::parse(&name, problem).expect("all are listed, for any number of ranks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_schedule::CombiningOrder;
    use evenkeel_schedule::check::{Interleaving, costs, run};

    #[test]
    fn all_are_right_combine_in_the_engines_order_and_hold_nobody_that_is_owed_nothing() {
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
                    let all = || (0..ranks as usize);
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
