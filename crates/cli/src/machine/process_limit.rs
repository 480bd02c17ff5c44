//! How many processes may be started.

use super::control_groups;
use std::path::Path;

/// The most processes that may be started, and what says so: control groups, the user's limit, the kernel.
///
/// `limits` is /proc/self/limits, or None for a user that it does not bind.
pub fn lowest(
    cgroup: &str,
    mountinfo: &str,
    limits: Option<&str>,
    read: impl Fn(&Path) -> Option<String>,
) -> Option<(u64, String)> {
    let number = |file: &Path| Some((read(file)?.trim().parse().ok()?, file.display().to_string()));
    let mut found: Vec<(u64, String)> = Vec::new();
    for controller in ["", "pids"] {
        let directories = control_groups::directories(cgroup, mountinfo, controller);
        found.extend(directories.iter().filter_map(|directory| number(&directory.join("pids.max"))));
    }
    // /proc/self/limits: "Max processes             96271                96271                processes"
    let line = limits.and_then(|text| text.lines().find(|line| line.starts_with("Max processes")));
    let soft = line.and_then(|line| line["Max processes".len()..].split_whitespace().next()?.parse().ok());
    found.extend(soft.map(|most| (most, "ulimit -u".to_string())));
    let of_kernel = ["/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"];
    found.extend(of_kernel.iter().filter_map(|file| number(Path::new(file))));
    found.into_iter().min_by_key(|(most, _)| *most)
}

/// This process's limit. Root is not bound by its ulimit.
pub fn own() -> Option<(u64, String)> {
    let (cgroup, mountinfo) = control_groups::own_texts();
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limits = (!rustix::process::geteuid().is_root()).then_some(limits.as_str());
    lowest(&cgroup, &mountinfo, limits, |file| std::fs::read_to_string(file).ok())
}
