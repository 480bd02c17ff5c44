//! Whether the ranks of a node can use the tables of schedules that they have found: they can if all
//! found the same one.

use evenkeel_barrier_table::location::ActiveTable;
use evenkeel_barrier_table::{BarrierTable, TableError};

/// What a rank says about its table of schedules.
#[derive(Clone, Copy, Debug)]
pub struct TableOffer {
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: usize,
    /// Fingerprint of its table; 0: none, or none that can be used.
    pub fingerprint: u32,
    /// None of its barriers is ever left pending, and one thread is in MPI.
    pub may_run_schedules: bool,
}

/// The table to use, and a sentence that the first rank prints about it. All ranks come to the same
/// table or to none.
///
/// `offers`: of all ranks of the node. `mine`: the table that this rank has found.
pub fn agree(
    offers: &[TableOffer],
    mine: Result<Option<ActiveTable>, TableError>,
) -> (Option<BarrierTable>, Option<String>) {
    let first = offers[0];
    if let Some(other) = offers.iter().find(|offer| offer.fingerprint != first.fingerprint) {
        let sentence = format!(
            "rank {} has another table of schedules than rank {}, or none; barriers run by the built-in \
             algorithm. Give all ranks the same table with --table FILE, or none with --table none",
            other.rank, first.rank
        );
        return (None, Some(sentence));
    }
    match mine {
        Ok(in_use) => {
            (in_use.map(|i| i.table).filter(|_| offers.iter().all(|offer| offer.may_run_schedules)), None)
        }
        Err(error) => (None, Some(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_barrier_table::machine::MachineId;

    fn told(fingerprints: &[u32], may_run_schedules: bool) -> Vec<TableOffer> {
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
    fn all_have_the_same_table_or_none_is_used() {
        let (table, said) = agree(&told(&[7, 7, 7], true), found());
        assert!(table.is_some() && said.is_none());
        let (table, said) = agree(&told(&[7, 7, 8], true), found());
        assert!(
            table.is_none() && said.unwrap().contains("rank 6 has another table of schedules than rank 4")
        );
        let (table, said) = agree(&told(&[0, 0], true), Ok(None));
        assert!(table.is_none() && said.is_none());
    }

    #[test]
    fn schedules_are_for_ranks_that_wait_in_one_thread() {
        let mut here = told(&[7, 7], true);
        here[1].may_run_schedules = false;
        let (table, said) = agree(&here, found());
        assert!(table.is_none() && said.is_none(), "nothing is wrong with the table");
    }

    #[test]
    fn a_table_that_cannot_be_used_is_told_of() {
        let (table, said) = agree(
            &told(&[0, 0], true),
            Err(TableError::Invalid { path: "t".into(), why: "it is JSON, but no table".into() }),
        );
        assert!(table.is_none() && said.unwrap().contains("no table"));
    }
}
