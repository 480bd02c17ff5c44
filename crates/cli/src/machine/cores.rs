//! The cores that this process may use, and holding it on some of them.

use super::control_groups::{self, Quota};
use super::core_list;
use rustix::thread::{CpuSet, sched_setaffinity};

/// The cores that this process may run on: those of its affinity that are online.
pub fn usable() -> Vec<usize> {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let status = read("/proc/self/status");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let cores = core_list::parse(allowed.unwrap_or_default());
    let online = core_list::parse(&read("/sys/devices/system/cpu/online"));
    if online.is_empty() { cores } else { cores.into_iter().filter(|core| online.contains(core)).collect() }
}

/// How many ranks can run at once on so many cores, as the engine counts: a part of a core that a quota
/// leaves counts as a core.
pub fn at_once(cores: usize, quota: Option<&Quota>) -> usize {
    quota.map_or(cores, |quota| (quota.cores.ceil() as usize).min(cores)).max(1)
}

/// How many ranks can run at once under this process's affinity and quota.
pub fn usable_at_once() -> usize {
    at_once(usable().len(), control_groups::own_cpu_quota().as_ref())
}

/// How many of these cores are physical ones: hardware threads of one core count once.
pub fn physical(cores: &[usize]) -> usize {
    let first_thread = |core: &usize| {
        let file = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
        let siblings = std::fs::read_to_string(file).ok();
        siblings.and_then(|text| core_list::parse(&text).first().copied()).unwrap_or(*core)
    };
    let mut firsts: Vec<usize> = cores.iter().map(first_thread).collect();
    firsts.sort_unstable();
    firsts.dedup();
    firsts.len().max(1)
}

/// Holds the calling thread, and all that it will start, on these cores.
pub fn hold_on(cores: &[usize]) -> rustix::io::Result<()> {
    let mut set = CpuSet::new();
    cores.iter().for_each(|core| set.set(*core));
    sched_setaffinity(None, &set)
}
