//! The table: its entries, its text, and the schedule that it names for a communicator.

use crate::error::TableFormatError;
use crate::machine::MachineId;
use evenkeel_schedule::{Collective, Problem, Schedule, ScheduleError};
use serde::{Deserialize, Serialize};

/// The number of the layout of the file.
pub const SCHEMA: u32 = 1;

/// The schedules for the barriers of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BarrierTable {
    /// The number of the layout: [`SCHEMA`].
    pub schema: u32,
    /// The version of evenkeel that has written the table.
    pub version: String,
    /// The machine that was measured.
    pub machine: MachineId,
    /// One entry for each number of ranks and cores that was measured.
    pub entries: Vec<TableEntry>,
}

/// The schedule for one collective with one number of ranks on one number of cores, and the measurement
/// behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableEntry {
    /// The name of the collective. There are only barriers so far.
    pub operation: String,
    /// Ranks of the communicator, which were all ranks of the node.
    pub ranks: u32,
    /// Cores that they had.
    pub cores: u32,
    /// The name of a schedule: `n-way-dissemination:n=3`. None if the built-in barrier was best, or as good.
    pub schedule: Option<String>,
    /// When it was measured, in seconds since 1970.
    pub measured_unix_s: u64,
    /// The median time of the built-in barrier, in nanoseconds.
    pub builtin_ns: f64,
    /// The median time of the best schedule, in nanoseconds.
    pub best_ns: f64,
    /// The time of the best schedule divided by that of the built-in barrier: the median of the ratios of
    /// consecutive turns.
    pub ratio: f64,
    /// The lower end of the interval of the ratio.
    pub ratio_low: f64,
    /// The upper end of the interval of the ratio.
    pub ratio_high: f64,
    /// The number of turns.
    pub turns: u32,
}

/// Where the ranks of a communicator are, which is equal at all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankPlacement {
    /// Ranks of the job on this node.
    pub ranks_here: usize,
    /// Cores that they may use at the same time.
    pub cores: usize,
}

impl BarrierTable {
    /// A table for a machine, without entries.
    pub fn new(machine: MachineId) -> BarrierTable {
        BarrierTable {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            machine,
            entries: Vec::new(),
        }
    }

    /// Parses a table and refuses one that the engine could not use.
    pub fn parse(text: &str) -> Result<BarrierTable, TableFormatError> {
        let value: serde_json::Value = serde_json::from_str(text).map_err(TableFormatError::NotJson)?;
        match value.get("schema").and_then(serde_json::Value::as_u64) {
            None => return Err(TableFormatError::NoSchema),
            Some(found) if found != u64::from(SCHEMA) => {
                return Err(TableFormatError::Schema { found, known: SCHEMA });
            }
            Some(_) => {}
        }
        let table: BarrierTable = serde_json::from_value(value).map_err(TableFormatError::NotATable)?;
        table.entries.iter().try_for_each(TableEntry::check)?;
        Ok(table)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data has a JSON form") + "\n"
    }

    /// Adds an entry, or replaces the one for the same collective, cores and ranks. Entries are kept sorted.
    pub fn set(&mut self, entry: TableEntry) {
        self.entries.retain(|e| e.key() != entry.key());
        self.entries.push(entry);
        self.entries.sort_by(|a, b| a.key().cmp(&b.key()));
    }

    /// The schedule for the barriers of a communicator. None: the built-in barrier.
    ///
    /// An entry applies to as many ranks on as many cores as were measured. A communicator of some of the
    /// job's ranks agrees with that only if every rank has a core of its own.
    pub fn barrier(&self, ranks: usize, placement: RankPlacement) -> Option<Schedule> {
        let agrees = placement.ranks_here == ranks || placement.ranks_here <= placement.cores;
        let applies = |e: &&TableEntry| {
            e.operation == Collective::Barrier.name()
                && (e.ranks as usize, e.cores as usize) == (ranks, placement.cores)
        };
        let entry = self.entries.iter().find(applies).filter(|_| agrees)?;
        entry.parse_schedule().ok()?
    }
}

impl TableEntry {
    fn key(&self) -> (&str, u32, u32) {
        (&self.operation, self.cores, self.ranks)
    }

    /// The schedule that it names.
    fn parse_schedule(&self) -> Result<Option<Schedule>, ScheduleError> {
        self.schedule.as_ref().map(|name| Schedule::parse(name, Problem::new(self.ranks))).transpose()
    }

    fn check(&self) -> Result<(), TableFormatError> {
        let ranks = self.ranks;
        if self.operation != Collective::Barrier.name() {
            return Err(TableFormatError::NotSupported { operation: self.operation.clone(), ranks });
        }
        match self.parse_schedule() {
            Ok(Some(schedule)) if schedule.algorithm.collective != Collective::Barrier => {
                Err(TableFormatError::NotABarrier { ranks, algorithm: schedule.algorithm.name })
            }
            Ok(_) => Ok(()),
            Err(error) => Err(TableFormatError::Schedule { ranks, error }),
        }
    }
}

/// A number that distinguishes tables: FNV-1a of the text. It is never 0.
pub fn fingerprint(text: &str) -> u32 {
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    ((hash >> 32) as u32 ^ hash as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(ranks: u32, cores: u32, schedule: Option<&str>) -> TableEntry {
        TableEntry {
            operation: "barrier".into(),
            ranks,
            cores,
            schedule: schedule.map(Into::into),
            measured_unix_s: 1,
            builtin_ns: 100.0,
            best_ns: 80.0,
            ratio: 0.8,
            ratio_low: 0.75,
            ratio_high: 0.85,
            turns: 100,
        }
    }

    fn table(entries: Vec<TableEntry>) -> BarrierTable {
        BarrierTable { entries, ..BarrierTable::new(MachineId { processor: "P".into() }) }
    }

    #[test]
    fn an_entry_applies_only_to_what_was_measured() {
        let table =
            table(vec![entry(4, 8, Some("dissemination")), entry(16, 8, Some("mcs:n=2")), entry(8, 8, None)]);
        let chosen = |ranks: usize, ranks_here: usize, cores: usize| {
            table.barrier(ranks, RankPlacement { ranks_here, cores }).map(|s| s.name())
        };
        assert_eq!(chosen(4, 4, 8).as_deref(), Some("dissemination"));
        assert_eq!(chosen(4, 8, 8).as_deref(), Some("dissemination"), "each rank has a core either way");
        assert_eq!(chosen(4, 16, 8), None, "four of sixteen on eight cores share cores with others");
        assert_eq!(chosen(16, 16, 8).as_deref(), Some("mcs:n=2"));
        assert_eq!((chosen(16, 16, 4), chosen(5, 5, 8), chosen(8, 8, 8)), (None, None, None));
    }

    #[test]
    fn a_written_table_is_read_back() {
        let mut table = table(vec![entry(16, 2, Some("mcs:n=2")), entry(4, 2, None)]);
        table.set(entry(16, 2, Some("dissemination")));
        table.set(entry(2, 2, Some("butterfly")));
        let ranks: Vec<u32> = table.entries.iter().map(|e| e.ranks).collect();
        assert_eq!(ranks, [2, 4, 16]);
        assert_eq!(BarrierTable::parse(&table.text()).unwrap(), table);
    }

    #[test]
    fn a_table_that_the_engine_cannot_use_is_refused_with_a_reason() {
        let refused = |table: &BarrierTable| BarrierTable::parse(&table.text()).unwrap_err().to_string();
        let of = |schedule: &str| refused(&table(vec![entry(8, 2, Some(schedule))]));
        assert!(of("bcast-flat").contains("no barrier"));
        assert!(of("quickest").contains("`quickest`"));
        assert!(of("mcs:n=0").contains("must be 1"));
        let mut other = table(vec![entry(8, 2, None)]);
        other.entries[0].operation = "bcast".into();
        assert!(refused(&other).contains("for bcast"));
        other.schema = 2;
        assert!(refused(&other).contains("number 2"));
        assert!(BarrierTable::parse("{}").unwrap_err().to_string().contains("no table"));
        assert!(BarrierTable::parse("{").unwrap_err().to_string().contains("not JSON"));
    }

    #[test]
    fn different_tables_have_different_fingerprints() {
        let (one, other) =
            (table(vec![entry(8, 2, None)]).text(), table(vec![entry(8, 2, Some("mcs"))]).text());
        assert_ne!(fingerprint(&one), fingerprint(&other));
        assert_ne!(fingerprint(""), 0);
    }
}
