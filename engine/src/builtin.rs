//! What the built-in ways are in the list of algorithms.
//!
//! Barriers and small operations are written straight ([`crate::barrier`], [`crate::small`]): they also count, keep the window, and may be left
//! pending, which schedules know nothing of. Whom they wait for, what they combine in which order and what they write is what these
//! schedules say: each is proved there, and tests compare who is held by a late rank with it.

use crate::call::Kind;
use evenkeel_schedule::{Problem, Rank, Schedule};

/// The schedule that the built-in way of a blocking operation comes to, for at most a cell's payload where there is data. None for what has
/// no short way. `root` counts where the operation has one.
pub fn builtin(kind: Kind, ranks: u32, root: Rank) -> Option<Schedule> {
    let pair = ranks == 2;
    let name = match kind {
        // Two exchange flags; more count at one place, and the last tells all.
        Kind::Barrier if pair => "pairwise-exchange".into(),
        Kind::Barrier => "central-counter".into(),
        // One copy that all read, and one flag.
        Kind::Bcast => format!("bcast-flag-tree:r={}", ranks.saturating_sub(1).max(1)),
        Kind::Reduce => "reduce-flat".into(),
        // Two combine for themselves; of more, whoever comes last combines for all.
        Kind::Allreduce if pair => "allreduce-simultaneous-broadcast".into(),
        Kind::Allreduce => "allreduce-central-counter".into(),
        _ => return None,
    };
    let root = if matches!(kind, Kind::Bcast | Kind::Reduce) { root } else { Rank(0) };
    Some(Schedule::named(&name, Problem::new(ranks).with_root(root)).expect("all are listed, for any number of ranks"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_schedule::check::{Driver, figures, run};
    use evenkeel_schedule::{Operation, Order};

    #[test]
    fn all_are_right_combine_in_the_engines_order_and_hold_nobody_that_is_owed_nothing() {
        for ranks in [1, 2, 3, 5, 16] {
            for root in [0, ranks - 1].map(Rank) {
                for kind in [Kind::Barrier, Kind::Bcast, Kind::Reduce, Kind::Allreduce] {
                    let schedule = builtin(kind, ranks, root).unwrap();
                    run(&schedule, 5, Driver::Prompt).unwrap();
                    let algorithm = schedule.algorithm;
                    let combines = matches!(algorithm.operation, Operation::Reduce | Operation::Allreduce);
                    assert_eq!(algorithm.order, if combines { Order::Fold } else { Order::Nothing });
                    let found = figures(&schedule).unwrap();
                    let others = ranks as usize - 1;
                    let (least, most) = match kind {
                        Kind::Bcast => (0, others.min(1)),
                        Kind::Reduce => (0, others),
                        _ => (others, others),
                    };
                    assert_eq!((found.least_responders as usize, found.responders as usize), (least, most), "{kind:?}, {ranks} ranks");
                }
            }
        }
        assert!(builtin(Kind::Alltoall, 4, Rank(0)).is_none());
    }
}
