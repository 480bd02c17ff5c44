//! The cores that this process may use, and how the ranks of a node are spread over them.

/// The cores in this thread's affinity mask.
pub fn allowed() -> Vec<usize> {
    // SAFETY: an all-zero set is valid, and the size passed is its own.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return vec![0];
        }
        (0..libc::CPU_SETSIZE as usize).filter(|&c| libc::CPU_ISSET(c, &set)).collect()
    }
}

/// Binds the calling thread, and the threads that it starts later, to `cores`.
pub fn bind(cores: &[usize]) -> bool {
    // SAFETY: as above; the indices come from `allowed`.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &core in cores {
            libc::CPU_SET(core, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) == 0
    }
}

/// The cores for rank number `index` of `ranks` ranks on this node, or `None` if the cores cannot be
/// divided equally.
///
/// If there are fewer ranks than cores, each rank gets several cores, so that its threads can run. If there
/// are more ranks than cores, each core gets the same number of ranks. If neither divides the other, the
/// operating system is left to move ranks about.
pub fn share(cores: &[usize], index: usize, ranks: usize) -> Option<Vec<usize>> {
    let n = cores.len();
    if n < 2 || ranks < 2 {
        None
    } else if ranks % n == 0 {
        Some(vec![cores[index % n]])
    } else if n % ranks == 0 {
        let each = n / ranks;
        Some(cores[index * each..(index + 1) * each].to_vec())
    } else {
        None
    }
}

/// The session by which the kernel groups this process for scheduling, or 0 if it does not group by
/// session.
///
/// With `sched_autogroup_enabled` each session is one unit to the scheduler, unless a control group has
/// already made another division. Some launchers give each rank a session of its own; `sched_yield` then
/// does not give the core to any other rank.
pub fn scheduled_session() -> u32 {
    let enabled =
        std::fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled").is_ok_and(|s| s.trim() == "1");
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    if !enabled || !in_root_cpu_group(&groups) {
        return 0;
    }
    // SAFETY: asks for the caller's own session.
    unsafe { libc::getsid(0) as u32 }
}

fn in_root_cpu_group(groups: &str) -> bool {
    let has_cpu = |controllers: &str| controllers.split(',').any(|c| c == "cpu");
    let version1 = groups.lines().find(|l| l.split(':').nth(1).is_some_and(has_cpu));
    let line = version1.or_else(|| groups.lines().find(|l| l.starts_with("0::")));
    line.is_none_or(|l| l.rsplit(':').next() == Some("/"))
}

/// The CPU quota of this process's control group in cores, if there is one (cgroup v2 `cpu.max`, v1
/// `cpu.cfs_quota_us`).
pub fn quota() -> Option<f64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    quota_of(&groups, |path| std::fs::read_to_string(path).ok())
}

/// The tightest quota of the groups in `groups`, which is the text of `/proc/self/cgroup`.
fn quota_of(groups: &str, read: impl Fn(&str) -> Option<String>) -> Option<f64> {
    groups.lines().filter_map(|line| quota_of_group(line, &read)).reduce(f64::min)
}

/// The tightest quota of one group and of the groups above it. `line` is `number:controllers:path`; a group
/// of cgroup v2 names no controllers.
fn quota_of_group(line: &str, read: &impl Fn(&str) -> Option<String>) -> Option<f64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let quota_at = |level: &str| match controllers {
        "" => quota_v2(level, read),
        _ => quota_v1(level, read),
    };
    let has_quotas = controllers.is_empty() || controllers.split(',').any(|controller| controller == "cpu");
    has_quotas.then(|| levels(path).filter_map(quota_at).reduce(f64::min)).flatten()
}

/// The path of a group and of all groups above it; the root is the empty path. Inside a container the path
/// may not exist, because the container's root is what is mounted.
fn levels(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path.trim_end_matches('/')), |level| Some(&level[..level.rfind('/')?]))
}

/// The quota of one group of cgroup v2: its `cpu.max` holds quota and period.
fn quota_v2(level: &str, read: &impl Fn(&str) -> Option<String>) -> Option<f64> {
    let quota_in = |mount: &str| {
        let max = read(&format!("{mount}{level}/cpu.max"))?;
        let mut words = max.split_whitespace().map(|word| word.parse::<f64>().ok());
        Some(words.next()?? / words.next()??)
    };
    ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].into_iter().filter_map(quota_in).reduce(f64::min)
}

/// The quota of one group of cgroup v1; -1 stands for none.
fn quota_v1(level: &str, read: &impl Fn(&str) -> Option<String>) -> Option<f64> {
    let quota_in = |mount: &str| {
        let number = |file: &str| read(&format!("{mount}{level}/{file}"))?.trim().parse::<f64>().ok();
        let (quota, period) = (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?);
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    };
    ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"].into_iter().filter_map(quota_in).reduce(f64::min)
}

/// How many cores can really be used at once: those allowed, but no more than the quota covers, and at
/// least one.
pub fn usable(allowed: usize, quota: Option<f64>) -> usize {
    let covered = quota.map_or(allowed, |q| q.ceil().max(1.0) as usize);
    allowed.min(covered).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_equal_or_there_are_none() {
        let cores = [0, 1, 2, 3];
        assert_eq!(share(&cores, 5, 8), Some(vec![1]));
        assert_eq!(share(&cores, 1, 2), Some(vec![2, 3]));
        assert_eq!(share(&cores, 0, 3), None);
        assert_eq!(share(&cores, 0, 6), None);
        assert_eq!(share(&[7], 0, 2), None);
        assert_eq!(share(&cores, 0, 1), None);
    }

    #[test]
    fn control_groups_take_precedence_over_sessions() {
        assert!(in_root_cpu_group("4:cpu,cpuacct:/\n0::/user.slice\n"));
        assert!(!in_root_cpu_group("4:cpu,cpuacct:/job\n0::/\n"));
        assert!(!in_root_cpu_group("0::/user.slice\n") && in_root_cpu_group("0::/\n"));
    }

    #[test]
    fn the_tightest_level_counts() {
        let files = |path: &str| match path {
            "/sys/fs/cgroup/a/b/cpu.max" => Some("max 100000".to_string()),
            "/sys/fs/cgroup/a/cpu.max" => Some("150000 100000\n".to_string()),
            "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us" => Some("-1\n".to_string()),
            "/sys/fs/cgroup/cpu/x/cpu.cfs_period_us" => Some("100000\n".to_string()),
            "/sys/fs/cgroup/cpu/y/cpu.cfs_quota_us" => Some("50000\n".to_string()),
            "/sys/fs/cgroup/cpu/y/cpu.cfs_period_us" => Some("100000\n".to_string()),
            _ => None,
        };
        assert_eq!(quota_of("0::/a/b\n", files), Some(1.5));
        assert_eq!(quota_of("3:cpu,cpuacct:/x\n", files), None);
        assert_eq!(quota_of("3:cpu,cpuacct:/y/z\n", files), Some(0.5));
        assert_eq!((usable(8, Some(1.5)), usable(2, None), usable(4, Some(0.5))), (2, 2, 1));
    }
}
