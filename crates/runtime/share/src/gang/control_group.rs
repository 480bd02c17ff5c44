//! A control group of version 2 for the processes of one job.
//!
//! ```text
//! evenkeel-share-PID          the launchers
//! evenkeel-share-PID/ranks    all that is switched, in one group for each process that was found
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The group of a job.
#[derive(Clone, Debug)]
pub(crate) struct ControlGroup {
    directory: PathBuf,
}

impl ControlGroup {
    /// Where the group of a process with this number would lie: in the group of this process.
    fn place(pid: u32) -> Result<PathBuf, String> {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let parent = own_group(&read("cgroup"), &read("mountinfo"));
        let parent = parent.ok_or("control groups of version 2 are not mounted here")?;
        Ok(parent.join(format!("evenkeel-share-{pid}")))
    }

    /// Whether such a group can be made, can be frozen, and can be entered.
    pub(crate) fn attempt() -> Result<(), String> {
        let place = ControlGroup::place(std::process::id())?;
        let trial = place.with_file_name(format!("evenkeel-share-trial-{}", std::process::id()));
        let made = std::fs::create_dir(&trial).map_err(|e| format!("mkdir {}: {e}", trial.display()));
        let tried = made.and_then(|()| {
            let file = trial.join("cgroup.freeze");
            let freeze = File::options().write(true).open(&file).map(drop);
            freeze.map_err(|e| format!("{}: {e}", file.display()))?;
            let procs = trial.with_file_name("cgroup.procs");
            File::options()
                .write(true)
                .open(&procs)
                .map_err(|e| format!("{}: {e}", procs.display()))
                .map(drop)
        });
        let _ = std::fs::remove_dir(&trial);
        tried
    }

    /// Makes the group of a job that this process will start.
    pub(crate) fn make() -> io::Result<ControlGroup> {
        let directory = ControlGroup::place(std::process::id()).map_err(io::Error::other)?;
        let group = ControlGroup { directory };
        // One of an earlier process with this number.
        group.remove_within(Duration::ZERO);
        std::fs::create_dir(&group.directory)?;
        let made = std::fs::create_dir(group.ranks());
        if made.is_err() {
            group.remove_within(Duration::ZERO);
        }
        made.map(|()| group)
    }

    /// Moves this process into it, and so all that it starts.
    pub(crate) fn enter(&self) -> io::Result<()> {
        self.add(&self.directory, std::process::id() as i32)
    }

    /// Moves this process back to where it was.
    pub(crate) fn leave(&self) {
        let parent = self.directory.parent().unwrap_or(Path::new("/"));
        // If it cannot, the group stays until its process has ended, and the warden removes it then.
        let _ = self.add(parent, std::process::id() as i32);
    }

    /// One that stands in a list. None: it is no group of a job's.
    pub(crate) fn listed(directory: &Path) -> Option<ControlGroup> {
        let name = directory.file_name()?.to_str()?;
        let is_one = name.starts_with("evenkeel-share-") && directory.join("cgroup.freeze").exists();
        is_one.then(|| ControlGroup { directory: directory.to_path_buf() })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The group of all that is switched.
    pub(crate) fn ranks(&self) -> PathBuf {
        self.directory.join("ranks")
    }

    /// Moves a process into a group.
    pub(crate) fn add(&self, group: &Path, pid: i32) -> io::Result<()> {
        let file = File::options().write(true).open(group.join("cgroup.procs"))?;
        file.write_all_at(pid.to_string().as_bytes(), 0)
    }

    /// The processes of a group, without those of the groups in it.
    pub(crate) fn processes(group: &Path) -> Vec<i32> {
        numbers(&std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default())
    }

    /// The groups in the group of ranks.
    pub(crate) fn leaves(&self) -> Vec<PathBuf> {
        let entries = self.ranks().read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    }

    /// Lets everything in it run.
    pub(crate) fn thaw_all(&self) {
        let groups = [self.ranks(), self.directory.clone()].into_iter().chain(self.leaves());
        groups.for_each(|group| set_frozen(&group, false));
    }

    /// Removes it when its processes have ended; waits for that so long.
    pub(crate) fn remove_within(&self, patience: Duration) {
        let until = Instant::now() + patience;
        loop {
            self.leaves().iter().for_each(|leaf| drop(std::fs::remove_dir(leaf)));
            let _ = std::fs::remove_dir(self.ranks());
            let removed = std::fs::remove_dir(&self.directory);
            if removed.is_ok() || !self.directory.exists() || Instant::now() >= until {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn set_frozen(group: &Path, frozen: bool) {
    // It may have been removed.
    let _ = std::fs::write(group.join("cgroup.freeze"), if frozen { "1" } else { "0" });
}

/// The numbers of processes or threads in a list of the kernel's.
pub(super) fn numbers(text: &str) -> Vec<i32> {
    text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The directory of this process's group of version 2.
fn own_group(cgroup: &str, mountinfo: &str) -> Option<PathBuf> {
    let group = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, point) = mountinfo.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        (right.split(' ').next()? == "cgroup2").then_some((left.next()?, left.next()?))
    })?;
    // In a container the mount's root is the container's own group.
    let below = Path::new(group).strip_prefix(root).or_else(|_| Path::new(group).strip_prefix("/")).ok()?;
    let place = Path::new(point).join(below);
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_found_where_it_is_mounted() {
        let mounts = "30 20 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      31 30 0:27 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let found = own_group("3:cpu:/x\n0::/user.slice/a\n", mounts);
        assert_eq!(found, Some(PathBuf::from("/sys/fs/cgroup/unified/user.slice/a")));
        let inside = "31 30 0:27 /docker/7 /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        assert_eq!(own_group("0::/docker/7/a\n", inside), Some(PathBuf::from("/sys/fs/cgroup/a")));
        assert_eq!(own_group("3:cpu:/x\n", mounts), None);
        assert_eq!(own_group("0::/\n", ""), None);
    }
}
