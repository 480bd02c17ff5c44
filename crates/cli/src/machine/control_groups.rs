//! Control groups, version 1 and 2: where this process's groups lie, and which CPU quota they set.

use std::path::{Path, PathBuf};

/// A CPU quota of a control group.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// In cores: 150 ms of processor time every 100 ms are 1.5.
    pub cores: f64,
    /// The kernel's file that says so.
    pub from: PathBuf,
}

/// `cpu.max` of version 2, in cores: `150000 100000`; None for `max 100000`, which is no quota.
pub fn parse_cpu_max(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next().unwrap_or("100000").parse().ok()?;
    (period > 0.0).then_some(quota / period)
}

/// `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1, in cores; None for a negative quota, which is
/// none.
pub fn parse_cfs(quota: &str, period: &str) -> Option<f64> {
    let quota: f64 = quota.trim().parse().ok()?;
    let period: f64 = period.trim().parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// Directories of this process's control group for a controller, innermost first, up to its hierarchy's mount
/// point.
///
/// `cgroup` is /proc/self/cgroup and `mountinfo` /proc/self/mountinfo. The controller "" means version 2.
pub fn directories(cgroup: &str, mountinfo: &str, controller: &str) -> Vec<PathBuf> {
    let Some(group) = group_of(cgroup, controller) else { return Vec::new() };
    let Some((root, point)) = mountinfo.lines().find_map(|line| mount_of(line, controller)) else {
        return Vec::new();
    };
    // In a container the mount's root is the container's own group; the groups above it are not visible.
    let below = Path::new(group).strip_prefix(root).or_else(|_| Path::new(group).strip_prefix("/"));
    let point = Path::new(point);
    let innermost = below.map(|below| point.join(below)).unwrap_or_else(|_| point.to_path_buf());
    innermost.ancestors().take_while(|d| d.starts_with(point)).map(Path::to_path_buf).collect()
}

/// The path of the group in its hierarchy, from a line like `3:cpu,cpuacct:/user/job`.
fn group_of<'a>(cgroup: &'a str, controller: &str) -> Option<&'a str> {
    let is_of_controller = |line: &&str| {
        let mut fields = line.splitn(3, ':');
        let (id, controllers) = (fields.next(), fields.next().unwrap_or_default());
        if controller.is_empty() {
            id == Some("0") && controllers.is_empty()
        } else {
            controllers.split(',').any(|name| name == controller)
        }
    };
    cgroup.lines().find(is_of_controller)?.splitn(3, ':').nth(2)
}

/// Root and mount point of the controller's hierarchy, if this line of mountinfo is about it:
/// `31 20 0:27 /root /mount/point rw - cgroup cgroup rw,cpu,cpuacct`.
fn mount_of<'a>(line: &'a str, controller: &str) -> Option<(&'a str, &'a str)> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let (root, point) = (left.next()?, left.next()?);
    let right: Vec<&str> = right.split(' ').collect();
    let (file_system, options) = (right.first()?, right.last()?);
    let is_of_controller = if controller.is_empty() {
        *file_system == "cgroup2"
    } else {
        *file_system == "cgroup" && options.split(',').any(|option| option == controller)
    };
    is_of_controller.then_some((root, point))
}

/// The tightest CPU quota on the way from this process's control group to the root.
pub fn cpu_quota(cgroup: &str, mountinfo: &str, read: impl Fn(&Path) -> Option<String>) -> Option<Quota> {
    let mut found: Vec<Quota> = Vec::new();
    for directory in directories(cgroup, mountinfo, "") {
        let from = directory.join("cpu.max");
        found.extend(read(&from).and_then(|text| parse_cpu_max(&text)).map(|cores| Quota { cores, from }));
    }
    for directory in directories(cgroup, mountinfo, "cpu") {
        let from = directory.join("cpu.cfs_quota_us");
        let period = read(&directory.join("cpu.cfs_period_us"));
        let cores = read(&from).zip(period).and_then(|(quota, period)| parse_cfs(&quota, &period));
        found.extend(cores.map(|cores| Quota { cores, from }));
    }
    found.into_iter().min_by(|a, b| a.cores.total_cmp(&b.cores))
}

/// This process's groups: /proc/self/cgroup and /proc/self/mountinfo.
pub fn own_texts() -> (String, String) {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    (read("cgroup"), read("mountinfo"))
}

/// This process's CPU quota.
pub fn own_cpu_quota() -> Option<Quota> {
    let (cgroup, mountinfo) = own_texts();
    cpu_quota(&cgroup, &mountinfo, |file| std::fs::read_to_string(file).ok())
}

/// What `parse` makes of each cpu.stat on the way from this process's control group to the root.
pub fn own_cpu_stat<T>(parse: impl Fn(&str) -> Option<T>) -> Vec<T> {
    let (cgroup, mountinfo) = own_texts();
    let directories = ["", "cpu"].into_iter().flat_map(|name| directories(&cgroup, &mountinfo, name));
    let read = |directory: PathBuf| std::fs::read_to_string(directory.join("cpu.stat")).ok();
    directories.filter_map(|directory| parse(&read(directory)?)).collect()
}
