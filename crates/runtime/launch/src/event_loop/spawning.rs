//! The processes of one call to spawn.

use crate::pmi1::SpawnCommand;
use crate::processes::{self, Started};
use crate::signals;
use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use tracing::debug;

/// Starts all of them. If one cannot be started, none of them stays. `variables(rank)`: what the one of this
/// number finds in its environment.
pub(super) fn start_all(
    commands: &[SpawnCommand],
    variables: impl Fn(u32) -> Vec<(OsString, OsString)>,
) -> io::Result<Vec<Started>> {
    let mut all: Vec<Started> = Vec::new();
    for command in commands {
        let directory = command.directory.as_deref().map(Path::new);
        let program = found(command, directory);
        for _ in 0..command.processes {
            let variables = variables(all.len() as u32);
            match processes::start(&program, &command.arguments, directory, &variables, false, true) {
                Ok(started) => all.push(started),
                Err(why) => {
                    debug!("cannot spawn {}: {why}", program.display());
                    for started in &all {
                        signals::send(started.pid, libc::SIGKILL);
                    }
                    return Err(why);
                }
            }
        }
    }
    Ok(all)
}

/// The file of a program to spawn: where the caller says, beside where it runs, or on PATH.
fn found(command: &SpawnCommand, directory: Option<&Path>) -> PathBuf {
    let name = Path::new(&command.program);
    let here = directory.unwrap_or(Path::new("."));
    if command.program.contains('/') {
        return here.join(name);
    }
    let given = command.path.iter().flat_map(|path| env::split_paths(path).collect::<Vec<_>>());
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = given.chain([here.to_path_buf()]).chain(env::split_paths(&path).collect::<Vec<_>>());
    let file = places.find_map(|place| Some(place.join(name)).filter(|file| file.is_file()));
    file.unwrap_or_else(|| name.to_path_buf())
}
