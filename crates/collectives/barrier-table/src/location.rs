//! Where a table is found, and how it is read.

use crate::machine::MachineId;
use crate::{BarrierTable, TableError, fingerprint};
use evenkeel_options as options;
use std::path::{Path, PathBuf};

/// The value of the option that asks for no table.
pub const NONE: &str = "none";

/// The table that is in use.
#[derive(Clone, Debug, PartialEq)]
pub struct ActiveTable {
    /// Its file.
    pub path: PathBuf,
    /// Its contents.
    pub table: BarrierTable,
    /// The [`fingerprint`] of its text.
    pub fingerprint: u32,
}

/// The default file of a table: `evenkeel/table.json` in `XDG_CONFIG_HOME` or, without that, in
/// `~/.config`. None without a home directory.
pub fn default_path(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let given = |name: &str| variable(name).filter(|v| v.starts_with('/')).map(PathBuf::from);
    let configuration =
        given("XDG_CONFIG_HOME").or_else(|| given("HOME").map(|home| home.join(".config")))?;
    Some(configuration.join("evenkeel/table.json"))
}

/// The table in use: the file that [`options::TABLE`] names or, without that, the default file. None if
/// there is no such file, or if the option asks for no table.
pub fn active_table() -> Result<Option<ActiveTable>, TableError> {
    let given = options::TABLE.get();
    let path = match given.as_str() {
        NONE => return Ok(None),
        "" => match default_path(|name| std::env::var(name).ok()).filter(|path| path.exists()) {
            Some(path) => path,
            None => return Ok(None),
        },
        given => PathBuf::from(given),
    };
    load(&path, &MachineId::here()).map(Some)
}

/// Reads a table for this machine.
pub fn load(path: &Path, machine: &MachineId) -> Result<ActiveTable, TableError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| TableError::Read { path: path.into(), why: e.to_string() })?;
    let table = BarrierTable::parse(&text)
        .map_err(|error| TableError::Invalid { path: path.into(), why: error.to_string() })?;
    if table.machine != *machine {
        let (theirs, ours) = (table.machine.processor, machine.processor.clone());
        return Err(TableError::OtherMachine { path: path.into(), theirs, ours });
    }
    Ok(ActiveTable { path: path.into(), fingerprint: fingerprint(&text), table })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_path_is_in_the_configuration_directory() {
        let place = |xdg: &str, home: &str| {
            let of = |name: &str| Some(if name == "HOME" { home } else { xdg }.to_string());
            default_path(of).map(|path| path.display().to_string())
        };
        assert_eq!(place("/etc/me", "/home/me").as_deref(), Some("/etc/me/evenkeel/table.json"));
        assert_eq!(place("", "/home/me").as_deref(), Some("/home/me/.config/evenkeel/table.json"));
        assert_eq!(
            place("relative", "/home/me").as_deref(),
            Some("/home/me/.config/evenkeel/table.json"),
            "not absolute: to be ignored"
        );
        assert_eq!(place("", ""), None);
    }

    #[test]
    fn a_table_of_another_machine_is_not_used() {
        let here = MachineId { processor: "this one".into() };
        let directory = std::env::temp_dir().join(format!("evenkeel-barrier-table-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("table.json");
        let said = |text: &str| {
            std::fs::write(&path, text).unwrap();
            load(&path, &here).map(|in_use| in_use.table).map_err(|error| error.to_string())
        };
        assert_eq!(said(&BarrierTable::new(here.clone()).text()), Ok(BarrierTable::new(here.clone())));
        let other = said(&BarrierTable::new(MachineId { processor: "that one".into() }).text()).unwrap_err();
        assert!(
            other.contains("that one") && other.contains("this one") && other.contains("built-in"),
            "{other}"
        );
        assert!(said("{").unwrap_err().contains("not JSON"));
        std::fs::remove_dir_all(&directory).unwrap();
        assert!(load(&path, &here).unwrap_err().to_string().contains("cannot read"));
    }
}
