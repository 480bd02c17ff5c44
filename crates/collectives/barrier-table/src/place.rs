//! Where a table is looked for, and how it is read.

use crate::machine::Machine;
use crate::{Table, Trouble, fingerprint};
use evenkeel_options as options;
use std::path::{Path, PathBuf};

/// Says that there is to be no table.
pub const NONE: &str = "none";

/// A table that is in use.
#[derive(Clone, Debug, PartialEq)]
pub struct InUse {
    pub path: PathBuf,
    pub table: Table,
    /// [`fingerprint`] of its text.
    pub fingerprint: u32,
}

/// Where tables are kept when nothing is said: `evenkeel/table.json` in `XDG_CONFIG_HOME`, or else in
/// `~/.config`. None without a home.
pub fn usual(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let given = |name: &str| variable(name).filter(|v| v.starts_with('/')).map(PathBuf::from);
    let configuration =
        given("XDG_CONFIG_HOME").or_else(|| given("HOME").map(|home| home.join(".config")))?;
    Some(configuration.join("evenkeel/table.json"))
}

/// The table in force: the one that [`options::TABLE`] names, else the one at the usual place, if there
/// is one.
pub fn in_force() -> Result<Option<InUse>, Trouble> {
    let given = options::TABLE.get();
    let path = match given.as_str() {
        NONE => return Ok(None),
        "" => match usual(|name| std::env::var(name).ok()).filter(|path| path.exists()) {
            Some(path) => path,
            None => return Ok(None),
        },
        given => PathBuf::from(given),
    };
    load(&path, &Machine::here()).map(Some)
}

/// Reads a table for this machine.
pub fn load(path: &Path, machine: &Machine) -> Result<InUse, Trouble> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| Trouble::Unreadable { path: path.into(), why: e.to_string() })?;
    let table = Table::parse(&text).map_err(|why| Trouble::Wrong { path: path.into(), why })?;
    if table.machine != *machine {
        let (theirs, ours) = (table.machine.processor, machine.processor.clone());
        return Err(Trouble::OtherMachine { path: path.into(), theirs, ours });
    }
    Ok(InUse { path: path.into(), fingerprint: fingerprint(&text), table })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_place_is_where_configurations_are() {
        let place = |xdg: &str, home: &str| {
            let of = |name: &str| Some(if name == "HOME" { home } else { xdg }.to_string());
            usual(of).map(|path| path.display().to_string())
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
        let here = Machine { processor: "this one".into() };
        let directory = std::env::temp_dir().join(format!("evenkeel-barrier-table-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("table.json");
        let said = |text: &str| {
            std::fs::write(&path, text).unwrap();
            load(&path, &here).map(|in_use| in_use.table).map_err(|trouble| trouble.to_string())
        };
        assert_eq!(said(&Table::new(here.clone()).text()), Ok(Table::new(here.clone())));
        let other = said(&Table::new(Machine { processor: "that one".into() }).text()).unwrap_err();
        assert!(
            other.contains("that one") && other.contains("this one") && other.contains("built-in"),
            "{other}"
        );
        assert!(said("{").unwrap_err().contains("not JSON"));
        std::fs::remove_dir_all(&directory).unwrap();
        assert!(load(&path, &here).unwrap_err().to_string().contains("cannot read"));
    }
}
