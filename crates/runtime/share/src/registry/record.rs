//! What stands in the file.

use crate::process_id::ProcessId;
use crate::timetable::Timetable;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The version of the format. Another one is not understood.
const VERSION: u32 = 1;
const MOST_JOBS: usize = 10_000;

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It waits for its place.
    Queued,
    /// It takes turns.
    Placed,
    /// A person has stopped it: it has no turns.
    Paused,
    /// Its switcher has died: it runs on without turns.
    Unswitched,
}

/// A job that takes turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Counted up in the order in which jobs come.
    pub job: u64,
    /// The process that has started it, or its launcher.
    pub process: ProcessId,
    /// The process that switches it, once there is one.
    pub switcher: Option<ProcessId>,
    /// The number of its ranks.
    pub ranks: u32,
    /// The memory that it needs, as far as it has been told, bytes.
    pub memory_bytes: u64,
    /// Its share in relation to the others', at least 1.
    pub rate: u32,
    /// The quantum that was asked for, ns.
    pub quantum_ns: u64,
    /// The shortest quantum that its switcher can keep, ns.
    pub shortest_quantum_ns: u64,
    /// How it is switched, for people.
    pub mechanism: String,
    /// The control group of its processes, if there is one.
    pub group: Option<PathBuf>,
    /// Where it is.
    pub status: Status,
    /// The cores of its place, counted among those that the jobs may use.
    #[serde(default)]
    pub cores: Vec<usize>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    /// The number of the next job.
    pub next_job: u64,
    /// The jobs, in the order in which they have come.
    pub jobs: Vec<Row>,
    /// The timetable that holds until the last one does, and the last one.
    pub timetables: Vec<Timetable>,
}

impl Default for Record {
    fn default() -> Record {
        Record { version: VERSION, next_job: 1, jobs: Vec::new(), timetables: Vec::new() }
    }
}

impl Record {
    /// Reads the text of the file. Err: what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Record, String> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let version = serde_json::from_str::<Versioned>(text).map_err(|error| error.to_string())?.version;
        if version != VERSION {
            return Err(format!(
                "its format has version {version}, and this evenkeel knows version {VERSION}"
            ));
        }
        let record: Record = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if let Some(wrong) = record.jobs.iter().find(|row| row.rate == 0 || row.ranks == 0) {
            return Err(format!("job {} has no ranks or no share", wrong.job));
        }
        if !record.timetables.iter().all(Timetable::is_valid) || record.jobs.len() > MOST_JOBS {
            return Err("a timetable cannot be followed".into());
        }
        Ok(record)
    }

    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).expect("records consist of plain data") + "\n"
    }

    /// The timetable that holds at this time.
    pub fn timetable(&self, at_ns: u64) -> Option<&Timetable> {
        self.timetables.iter().rev().find(|table| table.from_ns <= at_ns)
    }

    /// The first timetable that will hold after this time.
    pub(crate) fn next_timetable(&self, after_ns: u64) -> Option<&Timetable> {
        self.timetables.iter().find(|table| table.from_ns > after_ns)
    }

    /// How many of the jobs have not ended.
    pub fn living(&self) -> usize {
        self.jobs.iter().filter(|row| row.process.is_alive()).count()
    }

    /// The row of a job.
    pub fn row(&self, job: u64) -> Option<&Row> {
        self.jobs.iter().find(|row| row.job == job)
    }

    pub(crate) fn row_mut(&mut self, job: u64) -> Option<&mut Row> {
        self.jobs.iter_mut().find(|row| row.job == job)
    }

    /// How many jobs wait before this one, and it: its position, counted from 1.
    pub fn position(&self, job: u64) -> Option<usize> {
        let mut queued = self.jobs.iter().filter(|row| row.status == Status::Queued);
        queued.position(|row| row.job == job).map(|at| at + 1)
    }

    /// Takes the jobs out that have ended, and returns them.
    pub(crate) fn remove_ended(&mut self) -> Vec<Row> {
        let (living, ended) =
            std::mem::take(&mut self.jobs).into_iter().partition(|row| row.process.is_alive());
        self.jobs = living;
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_and_what_is_none_is_refused() {
        let mut record = Record::default();
        record.timetables.push(Timetable {
            from_ns: 5,
            quantum_ns: 10_000_000,
            slots: vec![vec![1], vec![2]],
        });
        assert_eq!(Record::parse(&record.text()), Ok(record.clone()));
        record.timetables[0].quantum_ns = 0;
        assert!(Record::parse(&record.text()).is_err());
        record.timetables[0] = Timetable { from_ns: 5, quantum_ns: 10_000_000, slots: Vec::new() };
        assert!(Record::parse(&record.text()).is_err());
        for text in ["", "{", "{}", "null", "[1]", "{\"version\":2}", "{\"version\":1}"] {
            assert!(Record::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cut_and_changed_files_never_panic() {
        let mut record = Record::default();
        record.timetables.push(Timetable {
            from_ns: 5,
            quantum_ns: 10_000_000,
            slots: vec![vec![1], vec![2]],
        });
        let text = record.text();
        for end in 0..text.len() {
            let _ = Record::parse(&text[..end]);
            let mut bytes = text.clone().into_bytes();
            bytes[end] = b'9';
            let _ = Record::parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
