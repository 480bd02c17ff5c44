//! The cores that this process may use, and how the ranks of a node are spread over them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The cores in this thread's affinity mask.
pub fn allowed() -> Vec<usize> {
    let Some(set) = current() else { return vec![0] };
    // SAFETY: the indices are below the size of a set.
    (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
}

/// Binds the calling thread, and the threads that it starts later, to `cores`.
pub fn bind(cores: &[usize]) -> bool {
    bind_to(&set_of(cores))
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

/// The share of the cores on which this rank was started, and from which the kernel may move it.
///
/// The kernel moves ranks away from the core of another program's busy process, and may then leave two ranks
/// on one core for long. Ranks that wait for each other there need the core by turns: a call that takes
/// 0.1 us on two cores takes 60. So a rank that meets another one on a foreign core returns to its share.
pub struct Share {
    mine: libc::cpu_set_t,
    /// Where the rank may run. If that changes, the rank is left alone.
    allowed: libc::cpu_set_t,
    is_left_alone: AtomicBool,
    /// When the rank returned last.
    returned: AtomicU64,
}

/// A rank returns no more often than this. The kernel balances its load every few milliseconds.
const RETURN_INTERVAL_NS: u64 = 10_000_000;

impl Share {
    /// The share `mine` of the cores `allowed`.
    pub fn new(mine: &[usize], allowed: &[usize]) -> Share {
        Share {
            mine: set_of(mine),
            allowed: set_of(allowed),
            is_left_alone: AtomicBool::new(false),
            returned: AtomicU64::new(0),
        }
    }

    /// The rank no longer returns: the program sets affinities, and may look at them.
    pub fn leave_alone(&self) {
        self.is_left_alone.store(true, Ordering::Relaxed);
    }

    /// Moves the calling thread to its share, if it is on the foreign core `core` and has not moved lately.
    /// Allocates nothing.
    pub fn return_from(&self, core: usize, now_ns: u64) {
        // SAFETY: `core` is below the size of a set, and the sets are valid.
        let is_foreign = unsafe { core < libc::CPU_SETSIZE as usize && !libc::CPU_ISSET(core, &self.mine) };
        let is_due = now_ns.saturating_sub(self.returned.load(Ordering::Relaxed)) >= RETURN_INTERVAL_NS;
        if is_foreign && is_due && !self.is_left_alone.load(Ordering::Relaxed) {
            if !current().is_some_and(|now| are_equal(&now, &self.allowed)) {
                return self.leave_alone();
            }
            self.returned.store(now_ns, Ordering::Relaxed);
            // If another process has bound this thread meanwhile, that stands.
            if bind_to(&self.mine) && current().is_some_and(|now| are_equal(&now, &self.mine)) {
                bind_to(&self.allowed);
            }
        }
    }
}

fn set_of(cores: &[usize]) -> libc::cpu_set_t {
    // SAFETY: an all-zero set is valid; the indices come from `allowed`.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &core in cores {
            libc::CPU_SET(core, &mut set);
        }
        set
    }
}

fn are_equal(one: &libc::cpu_set_t, other: &libc::cpu_set_t) -> bool {
    // SAFETY: both sets are valid.
    unsafe { libc::CPU_EQUAL(one, other) }
}

fn current() -> Option<libc::cpu_set_t> {
    // SAFETY: an all-zero set is valid, and the size passed is its own.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) == 0).then_some(set)
    }
}

fn bind_to(set: &libc::cpu_set_t) -> bool {
    // SAFETY: a valid set of the stated size.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) == 0 }
}

/// The core on which the calling thread runs.
pub fn current_core() -> Option<usize> {
    // SAFETY: the function has no preconditions.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
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

    /// In a thread of its own, whose affinity is changed.
    fn on_a_thread(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    fn a_rank_on_a_foreign_core_returns_to_its_share_and_may_run_everywhere() {
        on_a_thread(|| {
            let all = allowed();
            if all.len() < 2 {
                eprintln!("not tested: there is one core");
                return;
            }
            let share = Share::new(&all[1..2], &all);
            // The kernel may move the thread at any time, also back.
            let has_moved = (1..1_000).any(|at| {
                bind(&all[..1]);
                bind(&all);
                share.return_from(all[0], at * RETURN_INTERVAL_NS);
                current_core() == Some(all[1])
            });
            assert!(has_moved && allowed() == all);
        });
    }

    #[test]
    fn a_rank_stays_where_the_program_has_bound_it_and_from_then_on() {
        on_a_thread(|| {
            let all = allowed();
            if all.len() < 2 {
                eprintln!("not tested: there is one core");
                return;
            }
            let share = Share::new(&all[1..2], &all);
            bind(&all[..1]);
            share.return_from(all[0], RETURN_INTERVAL_NS);
            assert_eq!(allowed(), all[..1]);
            assert_eq!(share.returned.load(Ordering::Relaxed), 0);
            bind(&all);
            share.return_from(all[0], RETURN_INTERVAL_NS);
            assert_eq!(share.returned.load(Ordering::Relaxed), 0, "the program sets affinities");
        });
    }

    #[test]
    fn a_rank_returns_rarely() {
        on_a_thread(|| {
            let all = allowed();
            if all.len() < 2 {
                eprintln!("not tested: there is one core");
                return;
            }
            let share = Share::new(&all[1..2], &all);
            share.return_from(all[1], RETURN_INTERVAL_NS);
            assert_eq!(share.returned.load(Ordering::Relaxed), 0, "it is at home");
            share.return_from(all[0], RETURN_INTERVAL_NS);
            share.return_from(all[0], 2 * RETURN_INTERVAL_NS - 1);
            assert_eq!(share.returned.load(Ordering::Relaxed), RETURN_INTERVAL_NS);
        });
    }
}
