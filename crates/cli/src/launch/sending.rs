//! Files that are sent to hosts before a job starts there: the program, its libraries, what the user names.

use crate::errors::LaunchError;
use crate::program::elf::Elf;
use crate::program::loader::Search;
use evenkeel_node::{SentAs, SentFile};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Libraries below these belong to the system: a host has its own, which fit each other.
const OF_THE_SYSTEM: [&str; 4] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

/// Options of `evenkeel exec` and `evenkeel run` that say what is sent.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SendArguments {
    /// Send this file to each host first, unless it has it from an earlier job
    ///
    /// May be given several times. Where exactly this path stands among the command and its arguments, the
    /// file's path on the host takes its place. $EVENKEEL_SENT_FILES names the folder of all such files
    /// there; it is removed when the job ends. Files are kept in ~/.cache/evenkeel/files by their content, so
    /// that they need not be sent again, for 14 days after their last use.
    #[arg(long, value_name = "FILE")]
    pub send: Vec<PathBuf>,
    /// Send the program, too, and its libraries that are not the system's (below /lib and /usr/lib)
    ///
    /// Libraries that it opens by itself, such as plugins, are not known and not sent.
    #[arg(long)]
    pub send_program: bool,
}

impl SendArguments {
    /// Whether anything is to be sent.
    pub fn is_given(&self) -> bool {
        self.send_program || !self.send.is_empty()
    }

    /// Reads the files. `program` is sent, with its libraries and with `beside`, if the user says so.
    pub fn files(&self, program: &Path, beside: &[PathBuf]) -> Result<Vec<SentFile>, LaunchError> {
        let mut found = Vec::new();
        if self.send_program {
            add(&mut found, program, file_name(program)?, SentAs::Program)?;
            for (name, library) in libraries(program, &Search::of_this_machine()) {
                add(&mut found, &library, name, SentAs::Library)?;
            }
            for file in beside {
                add(&mut found, file, file_name(file)?, SentAs::Program)?;
            }
        }
        for file in &self.send {
            add(&mut found, file, file_name(file)?, SentAs::Data)?;
        }
        Ok(found)
    }
}

fn file_name(path: &Path) -> Result<OsString, LaunchError> {
    let name = path.file_name().map(OsStr::to_os_string);
    name.ok_or_else(|| LaunchError::Unsendable { path: path.into(), why: "it is no file".into() })
}

fn add(all: &mut Vec<SentFile>, path: &Path, name: OsString, sent_as: SentAs) -> Result<(), LaunchError> {
    if all.iter().any(|known| known.path == path) {
        return Ok(());
    }
    let folder = |of: SentAs| of == SentAs::Library;
    let other = all.iter().find(|known| known.name == name && folder(known.sent_as) == folder(sent_as));
    if let Some(other) = other {
        return Err(LaunchError::SentTwice { one: other.path.clone().into(), other: path.into() });
    }
    let unreadable = |why: std::io::Error| {
        let why =
            if path.is_dir() { "it is a folder; pack it into one file".into() } else { why.to_string() };
        LaunchError::Unsendable { path: path.into(), why }
    };
    all.push(SentFile::read(path, &name, sent_as).map_err(unreadable)?);
    Ok(())
}

/// The libraries of a program that are not the system's: by which name they are asked for, and their files.
fn libraries(program: &Path, search: &Search) -> Vec<(OsString, PathBuf)> {
    // A script has none, and what is no program fails where it is run.
    let Ok(elf) = Elf::read(program) else { return Vec::new() };
    let is_own = |file: &Path| {
        let file = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        !OF_THE_SYSTEM.iter().any(|folder| file.starts_with(folder))
    };
    let loaded = search.resolve(elf).loaded.into_iter().skip(1);
    // The loader takes one that is asked for by its path from there only.
    let named = loaded.filter(|library| is_own(&library.elf.path) && !library.name.contains('/'));
    named.map(|library| (library.name.into(), library.elf.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_and_what_is_no_file_are_refused_by_a_sentence() {
        let folder = std::env::temp_dir().join(format!("evenkeel-sending-{}", std::process::id()));
        let (one, two) = (folder.join("a/data"), folder.join("b/data"));
        for file in [&one, &two] {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "x").unwrap();
        }
        let files = |send: &[&PathBuf]| {
            let send = send.iter().map(|path| path.to_path_buf()).collect();
            SendArguments { send, send_program: false }.files(Path::new("x"), &[])
        };
        assert_eq!(files(&[&one, &one]).unwrap().len(), 1, "the same file twice is one");
        assert!(files(&[&one, &two]).unwrap_err().to_string().contains("have one name"));
        assert!(files(&[&folder]).unwrap_err().to_string().contains("it is a folder"));
        assert!(files(&[&folder.join("missing")]).unwrap_err().to_string().contains("missing"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_systems_libraries_are_not_sent() {
        assert_eq!(libraries(Path::new("/bin/sh"), &Search::of_this_machine()), []);
    }
}
