//! Whether a job could start on this host, before anything is started anywhere.

use crate::frame::Assignment;
use rustix::fs::{Access, access};
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The program's file, or why the job cannot start here.
pub(super) fn check(assignment: &Assignment) -> Result<PathBuf, String> {
    check_files(assignment, |_| false)?;
    program(assignment)
}

/// Why the job could not start here even if the files were here that are brought.
pub(super) fn check_beside(
    assignment: &Assignment,
    is_brought: impl Fn(&OsStr) -> bool,
) -> Result<(), String> {
    check_files(assignment, &is_brought)?;
    if is_brought(&assignment.job.program) { Ok(()) } else { program(assignment).map(drop) }
}

fn check_files(assignment: &Assignment, is_brought: impl Fn(&OsStr) -> bool) -> Result<(), String> {
    let (job, host) = (&assignment.job, &assignment.places[0].host);
    let directory = Path::new(&job.directory);
    if !directory.is_dir() {
        return Err(format!(
            "host {host} has no directory {}, where the job is to run. Make it, or go to another one \
             (--chdir).",
            directory.display()
        ));
    }
    let missing = job.files.iter().find(|file| !is_brought(file) && !directory.join(file).exists());
    match missing {
        None => Ok(()),
        Some(missing) => Err(format!(
            "host {host} has no file {}. Install it there, at this path.",
            Path::new(missing).display()
        )),
    }
}

fn program(assignment: &Assignment) -> Result<PathBuf, String> {
    let (job, host) = (&assignment.job, &assignment.places[0].host);
    let path = job.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    find(&job.program, Path::new(&job.directory), &path.unwrap_or_default()).map_err(|why| {
        format!(
            "host {host} cannot run {}: {why}. Install it there, or correct its name.",
            Path::new(&job.program).display()
        )
    })
}

/// The program's file: where it is said to be, or else the first of its name on `path`.
fn find(program: &OsStr, directory: &Path, path: &OsString) -> Result<PathBuf, String> {
    let name = Path::new(program);
    if program.as_encoded_bytes().contains(&b'/') {
        let file = directory.join(name);
        return match () {
            () if !file.exists() => Err("there is no such file".into()),
            () if !is_program(&file) => Err("it is no program that this user may execute".into()),
            () => Ok(file),
        };
    }
    let places = env::split_paths(path).filter(|place| !place.as_os_str().is_empty());
    let mut files = places.map(|place| directory.join(place).join(name));
    files.find(|file| is_program(file)).ok_or_else(|| "there is no such program on PATH".to_string())
}

fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let path = OsString::from("/nowhere:/bin");
        let find = |program: &str| find(OsStr::new(program), Path::new("/"), &path);
        assert_eq!(find("sh"), Ok(PathBuf::from("/bin/sh")));
        assert_eq!(find("bin/sh"), Ok(PathBuf::from("/bin/sh")));
        assert!(find("no-such-program").unwrap_err().contains("PATH"));
        assert!(find("/etc/passwd").unwrap_err().contains("execute"));
        assert!(find("/etc/no-such").unwrap_err().contains("no such file"));
    }
}
