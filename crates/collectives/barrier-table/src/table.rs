//! The table that says by which schedules barriers are run on a machine: what `evenkeel tune` writes,
//! the engine loads and `evenkeel doctor` tells of.
//!
//! A [`BarrierTable`] has an [`TableEntry`] for each number of ranks and cores that was measured; what was not
//! measured is not in it, and runs in the built-in way. [`place`] says where a table is looked for.
//! Whatever is wrong with a table, the answer is a sentence and the built-in way, never a wrong or a
//! failing program.
//!
//! May use: schedules and options. It reads the one file it is told to; it must never choose by
//! anything that ranks of a job see differently ([`fingerprint`] is how they find out whether they have
//! the same table).

pub mod location;
pub mod machine;

use evenkeel_schedule::{Collective, Problem, Schedule, ScheduleError};
use machine::MachineId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use thiserror::Error;

/// The layout of the file.
pub const SCHEMA: u32 = 1;

/// Which schedules to use on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BarrierTable {
    pub schema: u32,
    /// Which evenkeel has written it.
    pub version: String,
    pub machine: MachineId,
    pub entries: Vec<TableEntry>,
}

/// What to use for one operation with one number of ranks on one number of cores, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableEntry {
    /// The operation's name; barriers are all that there is so far.
    pub operation: String,
    /// Ranks of the communicator, which were all the ranks of the node.
    pub ranks: u32,
    /// Cores that they had.
    pub cores: u32,
    /// A schedule's name, `n-way-dissemination:n=3`. None: the engine's built-in way was best, or as good.
    pub schedule: Option<String>,
    /// When it was measured, in seconds since 1970.
    pub measured_unix_s: u64,
    /// A call in the built-in way and by the best schedule: medians in nanoseconds.
    pub builtin_ns: f64,
    pub best_ns: f64,
    /// The best schedule's time over that of the built-in way: the median of ratios of turns that followed
    /// each other, and the ends of its interval.
    pub ratio: f64,
    pub ratio_low: f64,
    pub ratio_high: f64,
    /// Turns that these numbers are from.
    pub turns: u32,
}

/// Where a communicator's ranks are, as all of them know alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankPlacement {
    /// Ranks of the job on this node.
    pub ranks_here: usize,
    /// Cores that they may use at once.
    pub cores: usize,
}

/// Why a table is not used.
#[derive(Debug, Error)]
pub enum TableError {
    #[error("cannot read the table {}: {why}; barriers are run in the built-in way. Name a file that `evenkeel tune` has written, or say --table none", .path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("cannot use the table {}: {why}; barriers are run in the built-in way. Write it anew with `evenkeel tune`", .path.display())]
    Invalid { path: PathBuf, why: String },
    #[error("the table {} is of another machine (it says `{theirs}`, this is `{ours}`); barriers are run in the built-in way. Make one for this machine with `evenkeel tune`", .path.display())]
    OtherMachine { path: PathBuf, theirs: String, ours: String },
}

impl BarrierTable {
    /// A table without entries, of this machine.
    pub fn new(machine: MachineId) -> BarrierTable {
        BarrierTable {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            machine,
            entries: Vec::new(),
        }
    }

    /// Reads a table and refuses what the engine could not use: the reason, without an end.
    pub fn parse(text: &str) -> Result<BarrierTable, String> {
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|e| format!("it is not JSON ({e})"))?;
        match value.get("schema").and_then(serde_json::Value::as_u64) {
            None => return Err("it is JSON, but no table".into()),
            Some(schema) if schema != u64::from(SCHEMA) => {
                return Err(format!(
                    "its layout is number {schema}, and this evenkeel knows number {SCHEMA}"
                ));
            }
            Some(_) => {}
        }
        let table: BarrierTable =
            serde_json::from_value(value).map_err(|e| format!("it is no table ({e})"))?;
        for entry in &table.entries {
            entry.check()?;
        }
        Ok(table)
    }

    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data has a JSON form") + "\n"
    }

    /// Puts an entry in the place of the one for the same case, or at the end; entries are kept in order.
    pub fn set(&mut self, entry: TableEntry) {
        self.entries.retain(|e| e.case() != entry.case());
        self.entries.push(entry);
        self.entries.sort_by(|a, b| a.case().cmp(&b.case()));
    }

    /// The schedule for a communicator's barriers; None: the built-in way.
    ///
    /// An entry goes for as many ranks on as many cores as it was measured with. A communicator of some of
    /// the job's ranks is like that only where every rank has a core of its own.
    pub fn barrier(&self, ranks: usize, situation: RankPlacement) -> Option<Schedule> {
        let alike = situation.ranks_here == ranks || situation.ranks_here <= situation.cores;
        let fits = |e: &&TableEntry| {
            e.operation == Collective::Barrier.name()
                && (e.ranks as usize, e.cores as usize) == (ranks, situation.cores)
        };
        let entry = self.entries.iter().find(fits).filter(|_| alike)?;
        entry.made().ok()?
    }
}

impl TableEntry {
    fn case(&self) -> (&str, u32, u32) {
        (&self.operation, self.cores, self.ranks)
    }

    /// The schedule that it names.
    fn made(&self) -> Result<Option<Schedule>, ScheduleError> {
        self.schedule.as_ref().map(|name| Schedule::parse(name, Problem::new(self.ranks))).transpose()
    }

    fn check(&self) -> Result<(), String> {
        let (ranks, operation) = (self.ranks, &self.operation);
        if operation != Collective::Barrier.name() {
            return Err(format!(
                "its entry for {operation} with {ranks} ranks is for an operation that the engine runs no schedules of"
            ));
        }
        match self.made() {
            Ok(Some(schedule)) if schedule.algorithm.collective != Collective::Barrier => Err(format!(
                "its entry for {ranks} ranks names {}, which is no barrier",
                schedule.algorithm.name
            )),
            Ok(_) => Ok(()),
            Err(refusal) => Err(format!(
                "its entry for {ranks} ranks does not hold: {}",
                refusal.to_string().trim_end_matches('.')
            )),
        }
    }
}

/// A number that tells tables apart, never 0: FNV-1a of the text.
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
    fn an_entry_goes_for_what_was_measured_and_nothing_else() {
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
    fn what_is_written_is_read_again() {
        let mut table = table(vec![entry(16, 2, Some("mcs:n=2")), entry(4, 2, None)]);
        table.set(entry(16, 2, Some("dissemination")));
        table.set(entry(2, 2, Some("butterfly")));
        let ranks: Vec<u32> = table.entries.iter().map(|e| e.ranks).collect();
        assert_eq!(ranks, [2, 4, 16]);
        assert_eq!(BarrierTable::parse(&table.text()), Ok(table));
    }

    #[test]
    fn what_the_engine_could_not_use_is_refused_with_a_reason() {
        let refused = |table: &BarrierTable| BarrierTable::parse(&table.text()).unwrap_err();
        let of = |schedule: &str| refused(&table(vec![entry(8, 2, Some(schedule))]));
        assert!(of("bcast-flat").contains("no barrier"));
        assert!(of("quickest").contains("`quickest`"));
        assert!(of("mcs:n=0").contains("must be 1"));
        let mut other = table(vec![entry(8, 2, None)]);
        other.entries[0].operation = "bcast".into();
        assert!(refused(&other).contains("for bcast"));
        other.schema = 2;
        assert!(refused(&other).contains("number 2"));
        assert!(BarrierTable::parse("{}").unwrap_err().contains("no table"));
        assert!(BarrierTable::parse("{").unwrap_err().contains("not JSON"));
    }

    #[test]
    fn tables_are_told_apart() {
        let (one, other) =
            (table(vec![entry(8, 2, None)]).text(), table(vec![entry(8, 2, Some("mcs"))]).text());
        assert_ne!(fingerprint(&one), fingerprint(&other));
        assert_ne!(fingerprint(""), 0);
    }
}
