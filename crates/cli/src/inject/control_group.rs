//! A control group with a CPU quota for one run.

use crate::errors::InjectionError;
use crate::machine::control_groups;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The kernel's default period.
const PERIOD_US: u64 = 100_000;

/// Makes a group below this process's own that may use this share of so many cores, and returns its
/// directory.
pub fn make(share: f64, cores: usize) -> Result<PathBuf, InjectionError> {
    let (cgroup, mountinfo) = control_groups::own_texts();
    let quota_us = (share * cores as f64 * PERIOD_US as f64).round() as u64;
    let mut obstacles = Vec::new();
    // Version 1 first: where both versions are mounted, a controller belongs to the one that lists it.
    for (controller, files) in [("cpu", quota_files_1(quota_us)), ("", quota_files_2(quota_us))] {
        let Some(own) = control_groups::directories(&cgroup, &mountinfo, controller).into_iter().next()
        else {
            continue;
        };
        match make_in(&own, controller.is_empty(), &files) {
            Ok(made) => return Ok(made),
            Err(obstacle) => obstacles.push(obstacle.to_string()),
        }
    }
    let why =
        if obstacles.is_empty() { "no control groups are mounted here".into() } else { obstacles.join("; ") };
    Err(InjectionError::Quota { why })
}

/// Moves this process, and so all that it will start, into a group.
pub fn join(group: &Path) -> Result<(), InjectionError> {
    let file = group.join("cgroup.procs");
    std::fs::write(&file, std::process::id().to_string())
        .map_err(|e| InjectionError::Quota { why: format!("{}: {e}", file.display()) })
}

/// Removes a group. Returns false while one of its processes still runs.
pub fn remove(group: &Path) -> bool {
    match std::fs::remove_dir(group) {
        Ok(()) => true,
        Err(e) => e.kind() == io::ErrorKind::NotFound,
    }
}

/// Names of a group's files, and what is written into them.
type Files = Vec<(&'static str, String)>;

fn quota_files_1(quota_us: u64) -> Files {
    vec![("cpu.cfs_period_us", PERIOD_US.to_string()), ("cpu.cfs_quota_us", quota_us.to_string())]
}

fn quota_files_2(quota_us: u64) -> Files {
    vec![("cpu.max", format!("{quota_us} {PERIOD_US}"))]
}

/// A file or directory of a group that could not be made or written.
#[derive(Debug, Error)]
#[error("{}: {why}", .file.display())]
struct GroupFileError {
    file: PathBuf,
    why: io::Error,
}

fn make_in(own: &Path, is_version_2: bool, files: &Files) -> Result<PathBuf, GroupFileError> {
    let at = |file: &Path, why: io::Error| GroupFileError { file: file.into(), why };
    if is_version_2 {
        let control = own.join("cgroup.subtree_control");
        std::fs::write(&control, "+cpu").map_err(|e| at(&control, e))?;
    }
    let group = own.join(format!("evenkeel-{}", std::process::id()));
    std::fs::create_dir(&group).map_err(|e| at(&group, e))?;
    for (name, value) in files {
        let file = group.join(name);
        if let Err(e) = std::fs::write(&file, value) {
            remove(&group);
            return Err(at(&file, e));
        }
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_its_files() {
        assert_eq!(
            quota_files_1(75_000),
            [("cpu.cfs_period_us", "100000".to_string()), ("cpu.cfs_quota_us", "75000".to_string())]
        );
        assert_eq!(quota_files_2(75_000), [("cpu.max", "75000 100000".to_string())]);
    }

    #[test]
    fn a_group_that_cannot_be_made_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plain");
        std::fs::write(&file, "").unwrap();
        assert!(make_in(&file, false, &Vec::new()).unwrap_err().to_string().contains("plain"));
        let made = make_in(directory.path(), false, &vec![("no/such/file", String::new())]);
        assert!(made.is_err());
        assert_eq!(directory.path().read_dir().unwrap().count(), 1);
    }
}
