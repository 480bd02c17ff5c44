//! `MPI_Comm_spawn` in PMI-1: a block of lines from `mcmd=spawn` to `endcmd`, one block for each command.

use std::collections::BTreeMap;

/// The most processes that one call may ask for; a larger number is a broken client.
const MOST_PROCESSES: u32 = 1 << 16;

/// One command of a call to spawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpawnCommand {
    /// The program's name, as given by the caller.
    pub(crate) program: String,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// Number of processes.
    pub(crate) processes: u32,
    /// The directory in which it is to run, if the caller names one (`wdir`, or `wd`).
    pub(crate) directory: Option<String>,
    /// Where to look for the program, if the caller says so (`path`).
    pub(crate) path: Option<String>,
}

/// A block that is being read.
#[derive(Debug, Default)]
pub(super) struct SpawnBlock {
    values: BTreeMap<String, String>,
}

/// A whole block.
#[derive(Debug, PartialEq)]
pub(super) struct SpawnPart {
    pub(super) command: SpawnCommand,
    /// Whether this is the last command of the call.
    pub(super) is_last: bool,
    /// Keys and values that the new processes are to find.
    pub(super) values: Vec<(String, String)>,
}

impl SpawnBlock {
    /// Takes one line of the block. False if the line is none of a block.
    pub(super) fn take(&mut self, line: &str) -> bool {
        match line.split_once('=') {
            Some((name, value)) => {
                self.values.insert(name.trim().to_string(), value.to_string());
                true
            }
            None => false,
        }
    }

    /// The block as a whole. None if something that is needed is missing or is no number.
    pub(super) fn finish(mut self) -> Option<SpawnPart> {
        let processes = self.number("nprocs")?;
        let (total, so_far) = (self.number("totspawns")?, self.number("spawnssofar")?);
        let arguments = (1..=self.count("argcnt")).map(|n| self.values.remove(&format!("arg{n}")));
        let arguments = arguments.collect::<Option<Vec<_>>>()?;
        let values = self.pairs("preput_num", "preput_key", "preput_val")?;
        let info: BTreeMap<String, String> =
            self.pairs("info_num", "info_key", "info_val")?.into_iter().collect();
        let program = self.values.remove("execname").filter(|name| !name.is_empty())?;
        (1..=MOST_PROCESSES).contains(&processes).then(|| SpawnPart {
            command: SpawnCommand {
                program,
                arguments,
                processes,
                directory: info.get("wdir").or_else(|| info.get("wd")).cloned(),
                path: info.get("path").cloned(),
            },
            is_last: so_far == total,
            values,
        })
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.values.get(name)?.trim().parse().ok()
    }

    /// How many there are of something; no more than there are lines.
    fn count(&self, name: &str) -> usize {
        self.number(name).map_or(0, |n| (n as usize).min(self.values.len()))
    }

    fn pairs(&mut self, number: &str, key: &str, value: &str) -> Option<Vec<(String, String)>> {
        let count = self.number(number).unwrap_or(0);
        let pair = |n| {
            Some((self.values.remove(&format!("{key}_{n}"))?, self.values.remove(&format!("{value}_{n}"))?))
        };
        (0..count).map(pair).collect()
    }
}
