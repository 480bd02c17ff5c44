//! How much memory processes may use.

use super::control_groups;
use std::path::Path;

/// The most bytes that all processes here can have, swap included, and what says so: the kernel, or a control
/// group, which limits memory alone.
pub fn lowest(
    cgroup: &str,
    mountinfo: &str,
    read: impl Fn(&Path) -> Option<String>,
) -> Option<(u64, String)> {
    const OF_KERNEL: &str = "/proc/meminfo";
    let meminfo = read(Path::new(OF_KERNEL)).unwrap_or_default();
    // "MemTotal:       24683864 kB"
    let kib = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let swap = kib("SwapTotal:").unwrap_or(0) << 10;
    let mut found: Vec<(u64, String)> = Vec::new();
    for (controller, name) in [("", "memory.max"), ("memory", "memory.limit_in_bytes")] {
        for directory in control_groups::directories(cgroup, mountinfo, controller) {
            let file = directory.join(name);
            let bytes: Option<u64> = read(&file).and_then(|text| text.trim().parse().ok());
            found.extend(bytes.map(|bytes| (bytes.saturating_add(swap), file.display().to_string())));
        }
    }
    found.extend(kib("MemTotal:").map(|kib| ((kib << 10) + swap, OF_KERNEL.to_string())));
    found.into_iter().min_by_key(|(bytes, _)| *bytes)
}

/// What processes of this one's control group can have.
pub fn own() -> Option<(u64, String)> {
    let (cgroup, mountinfo) = control_groups::own_texts();
    lowest(&cgroup, &mountinfo, |file| std::fs::read_to_string(file).ok())
}
