//! Decides whether the ranks of a node can use the barrier tables that they have found: they can if all of
//! them have found the same table.

use evenkeel_barrier_table::location::ActiveTable;
use evenkeel_barrier_table::{BarrierTable, TableError};

/// What a rank tells the others about its barrier table.
#[derive(Clone, Copy, Debug)]
pub struct TableOffer {
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: usize,
    /// Fingerprint of its table; 0 if it has no usable table.
    pub fingerprint: u32,
    /// Its barriers are never deferred, and it has one thread in MPI.
    pub may_run_schedules: bool,
}

/// Returns the table to use, and a sentence for the user that the first rank prints. All ranks get the same
/// table, or none.
///
/// `offers` are those of all ranks of the node. `mine` is the table that this rank has found.
pub fn agree(
    offers: &[TableOffer],
    mine: Result<Option<ActiveTable>, TableError>,
) -> (Option<BarrierTable>, Option<String>) {
    let first = offers[0];
    if let Some(other) = offers.iter().find(|offer| offer.fingerprint != first.fingerprint) {
        let sentence = format!(
            "rank {} has another barrier table than rank {}, or none; the built-in barrier is used. Give \
             all ranks the same table with --table FILE, or none with --table none",
            other.rank, first.rank
        );
        return (None, Some(sentence));
    }
    match mine {
        Ok(active) => {
            let table = active.map(|active| active.table);
            (table.filter(|_| offers.iter().all(|offer| offer.may_run_schedules)), None)
        }
        Err(error) => (None, Some(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_barrier_table::machine::MachineId;

    fn offers(fingerprints: &[u32], may_run_schedules: bool) -> Vec<TableOffer> {
        fingerprints
            .iter()
            .enumerate()
            .map(|(rank, &fingerprint)| TableOffer { rank: rank + 4, fingerprint, may_run_schedules })
            .collect()
    }

    fn found() -> Result<Option<ActiveTable>, TableError> {
        Ok(Some(ActiveTable {
            path: "t".into(),
            table: BarrierTable::new(MachineId { processor: "p".into() }),
            fingerprint: 7,
        }))
    }

    #[test]
    fn the_table_is_used_if_all_ranks_have_the_same_one() {
        let (table, sentence) = agree(&offers(&[7, 7, 7], true), found());
        assert!(table.is_some() && sentence.is_none());
        let (table, sentence) = agree(&offers(&[7, 7, 8], true), found());
        assert!(table.is_none());
        assert!(sentence.unwrap().contains("rank 6 has another barrier table than rank 4"));
        let (table, sentence) = agree(&offers(&[0, 0], true), Ok(None));
        assert!(table.is_none() && sentence.is_none());
    }

    #[test]
    fn schedules_need_strict_barriers_and_one_thread_on_all_ranks() {
        let mut here = offers(&[7, 7], true);
        here[1].may_run_schedules = false;
        let (table, sentence) = agree(&here, found());
        assert!(table.is_none() && sentence.is_none(), "nothing is wrong with the table");
    }

    #[test]
    fn a_table_that_cannot_be_used_is_reported() {
        let (table, sentence) = agree(
            &offers(&[0, 0], true),
            Err(TableError::Invalid { path: "t".into(), why: "it is JSON, but no table".into() }),
        );
        assert!(table.is_none() && sentence.unwrap().contains("no table"));
    }
}
