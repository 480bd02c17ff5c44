//! The file of the table: where it lies, what it holds already, and writing it.

use super::arguments::TuneArguments;
use crate::errors::{CommandError, TuneError};
use crate::output::file;
use evenkeel_barrier_table::machine::MachineId;
use evenkeel_barrier_table::{BarrierTable, TableEntry, location};
use std::path::{Path, PathBuf};

/// The table that entries are added to.
#[derive(Debug)]
pub struct TableFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Whether the user has named the file; else it lies in the usual place.
    pub is_named: bool,
    table: BarrierTable,
}

impl TableFile {
    /// The table that is there already, or an empty one; None if none is to be written. A file that could not
    /// be written, or that holds something else, is refused.
    pub fn open(arguments: &TuneArguments, here: &MachineId) -> Result<Option<TableFile>, CommandError> {
        if arguments.dry_run {
            return Ok(None);
        }
        let usual = || location::default_path(|name| std::env::var(name).ok());
        let path = arguments.table.clone().or_else(usual).ok_or(TuneError::NoPlace)?;
        file::check_outputs(&[("--table", arguments.table.as_deref())], &[])?;
        file::check_apart(&[("--table", Some(&path)), ("--json", arguments.json.as_deref())], &[])?;
        let table = existing(&path, here)?;
        Ok(Some(TableFile { is_named: arguments.table.is_some(), path, table }))
    }

    /// Adds entries, each in place of the one for the same case.
    pub fn add(&mut self, entries: impl Iterator<Item = TableEntry>) {
        entries.for_each(|entry| self.table.set(entry));
    }

    /// Writes the file, and makes its directory.
    pub fn write(&self) -> Result<(), CommandError> {
        if let Some(directory) = self.path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            file::make_directory(directory)?;
        }
        Ok(file::write(&self.path, &self.table.text())?)
    }
}

/// The table in a file. A table of another machine is begun anew; anything else is kept from being
/// overwritten.
fn existing(path: &Path, here: &MachineId) -> Result<BarrierTable, TuneError> {
    if !path.exists() {
        return Ok(BarrierTable::new(here.clone()));
    }
    let refused = |why: String| TuneError::NotATable { path: path.into(), why };
    let text = std::fs::read_to_string(path).map_err(|e| refused(e.to_string()))?;
    let table = BarrierTable::parse(&text).map_err(|e| refused(e.to_string()))?;
    Ok(if table.machine == *here { table } else { BarrierTable::new(here.clone()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_table_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let (file, here) = (directory.path().join("table.json"), MachineId { processor: "p".into() });
        assert_eq!(existing(&file, &here).unwrap(), BarrierTable::new(here.clone()));
        std::fs::write(&file, "my thesis").unwrap();
        assert!(existing(&file, &here).unwrap_err().to_string().contains("not JSON"));
        std::fs::write(&file, BarrierTable::new(MachineId { processor: "q".into() }).text()).unwrap();
        assert_eq!(existing(&file, &here).unwrap().machine, here, "a table of another machine is begun anew");
    }
}
