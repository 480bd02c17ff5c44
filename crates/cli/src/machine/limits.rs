//! How many cores and processes this process may use: affinity, cpuset, CPU quota of the control
//! groups, limits. The rules are functions of the kernel's texts; only the last few functions read them
//! from this machine.

use std::path::{Path, PathBuf};

/// A CPU quota of a control group.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// In cores: 150 ms of CPU time every 100 ms are 1.5.
    pub cores: f64,
    /// The kernel's file that says so.
    pub from: PathBuf,
}

/// `cpu.max` of cgroup v2: `150000 100000`, or `max 100000` for no quota.
pub fn parse_cpu_max(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next().unwrap_or("100000").parse().ok()?;
    (period > 0.0).then_some(quota / period)
}

/// `cpu.cfs_quota_us` and `cpu.cfs_period_us` of cgroup v1; a negative quota is none.
pub fn parse_cfs(quota: &str, period: &str) -> Option<f64> {
    let quota: f64 = quota.trim().parse().ok()?;
    let period: f64 = period.trim().parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// A kernel list of numbers: `0-3,8`.
pub fn parse_list(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            numbers.extend(first..=last);
        }
    }
    numbers
}

/// The same list in the kernel's way of writing it.
pub fn show_list(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &n in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => parts.push((n, n)),
        }
    }
    let shown: Vec<String> =
        parts.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    shown.join(",")
}

/// Directories of this process's control group for a controller, innermost first, up to its hierarchy's
/// mount point.
///
/// `cgroup` is /proc/self/cgroup, `mountinfo` /proc/self/mountinfo; controller "" means version 2.
pub fn group_directories(cgroup: &str, mountinfo: &str, controller: &str) -> Vec<PathBuf> {
    let of_controller = |line: &&str| {
        let mut fields = line.splitn(3, ':');
        let (id, controllers) = (fields.next(), fields.next().unwrap_or_default());
        if controller.is_empty() {
            id == Some("0") && controllers.is_empty()
        } else {
            controllers.split(',').any(|c| c == controller)
        }
    };
    let Some(group) = cgroup.lines().find(of_controller).and_then(|l| l.splitn(3, ':').nth(2)) else {
        return Vec::new();
    };
    for line in mountinfo.lines() {
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let (left, right): (Vec<&str>, Vec<&str>) = (left.split(' ').collect(), right.split(' ').collect());
        let (Some(root), Some(point), Some(kind), Some(flags)) =
            (left.get(3), left.get(4), right.first(), right.last())
        else {
            continue;
        };
        let fits = if controller.is_empty() {
            *kind == "cgroup2"
        } else {
            *kind == "cgroup" && flags.split(',').any(|f| f == controller)
        };
        if !fits {
            continue;
        }
        // In a container the mount's root is the container's own group; what lies above it is not to be seen.
        let below = Path::new(group).strip_prefix(root).or_else(|_| Path::new(group).strip_prefix("/"));
        let point = Path::new(point);
        let inner = below.map(|b| point.join(b)).unwrap_or_else(|_| point.to_path_buf());
        return inner.ancestors().take_while(|d| d.starts_with(point)).map(Path::to_path_buf).collect();
    }
    Vec::new()
}

/// The tightest CPU quota on the way from this process's control group to the root.
pub fn cpu_quota(cgroup: &str, mountinfo: &str, read: impl Fn(&Path) -> Option<String>) -> Option<Quota> {
    let mut found: Vec<Quota> = Vec::new();
    for directory in group_directories(cgroup, mountinfo, "") {
        let from = directory.join("cpu.max");
        found.extend(read(&from).and_then(|t| parse_cpu_max(&t)).map(|cores| Quota { cores, from }));
    }
    for directory in group_directories(cgroup, mountinfo, "cpu") {
        let from = directory.join("cpu.cfs_quota_us");
        let period = read(&directory.join("cpu.cfs_period_us"));
        let cores = read(&from).zip(period).and_then(|(q, p)| parse_cfs(&q, &p));
        found.extend(cores.map(|cores| Quota { cores, from }));
    }
    found.into_iter().min_by(|a, b| a.cores.total_cmp(&b.cores))
}

/// The most processes that may be started, and what says so: control groups, the user's limit, the kernel.
pub fn lowest_process_limit(
    cgroup: &str,
    mountinfo: &str,
    limits: Option<&str>,
    read: impl Fn(&Path) -> Option<String>,
) -> Option<(u64, String)> {
    let mut found: Vec<(u64, String)> = Vec::new();
    for controller in ["", "pids"] {
        for directory in group_directories(cgroup, mountinfo, controller) {
            let file = directory.join("pids.max");
            found.extend(
                read(&file).and_then(|t| t.trim().parse().ok()).map(|n| (n, file.display().to_string())),
            );
        }
    }
    // /proc/self/limits: "Max processes             96271                96271                processes"
    let line = limits.and_then(|t| t.lines().find(|l| l.starts_with("Max processes")));
    let soft = line.and_then(|l| l["Max processes".len()..].split_whitespace().next()?.parse().ok());
    found.extend(soft.map(|n| (n, "ulimit -u".to_string())));
    for file in ["/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"] {
        found
            .extend(read(Path::new(file)).and_then(|t| t.trim().parse().ok()).map(|n| (n, file.to_string())));
    }
    found.into_iter().min_by_key(|(n, _)| *n)
}

fn read(file: &Path) -> Option<String> {
    std::fs::read_to_string(file).ok()
}

fn own(name: &str) -> String {
    read(&Path::new("/proc/self").join(name)).unwrap_or_default()
}

/// This process's CPU quota.
pub fn own_cpu_quota() -> Option<Quota> {
    cpu_quota(&own("cgroup"), &own("mountinfo"), read)
}

/// What `parse` makes of each cpu.stat on the way from this process's control group to the root.
pub fn own_cpu_stat<T>(parse: impl Fn(&str) -> Option<T>) -> Vec<T> {
    let directories = ["", "cpu"]
        .into_iter()
        .flat_map(|controller| group_directories(&own("cgroup"), &own("mountinfo"), controller));
    directories.filter_map(|directory| parse(&read(&directory.join("cpu.stat"))?)).collect()
}

/// This process's limit on processes. Root is not bound by its ulimit.
pub fn process_limit() -> Option<(u64, String)> {
    let limits = own("limits");
    let limits = (!rustix::process::geteuid().is_root()).then_some(limits.as_str());
    lowest_process_limit(&own("cgroup"), &own("mountinfo"), limits, read)
}

/// The cores that this process may run on.
pub fn usable_cores() -> Vec<usize> {
    let status = own("status");
    let line = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    let cores = parse_list(line);
    let online =
        read(Path::new("/sys/devices/system/cpu/online")).map(|t| parse_list(&t)).unwrap_or_default();
    if online.is_empty() { cores } else { cores.into_iter().filter(|c| online.contains(c)).collect() }
}

/// How many ranks can run at once, as the engine counts: a started core of a quota is a core.
pub fn at_once(cores: usize, quota: Option<&Quota>) -> usize {
    quota.map_or(cores, |q| (q.cores.ceil() as usize).min(cores)).max(1)
}

/// The same for this process.
pub fn cores_at_once() -> usize {
    at_once(usable_cores().len(), own_cpu_quota().as_ref())
}

/// How many of these cores are physical ones: hardware threads of one core count once.
pub fn physical_cores(cores: &[usize]) -> usize {
    let sibling = |core: &usize| {
        let file = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
        read(Path::new(&file)).and_then(|t| parse_list(&t).first().copied()).unwrap_or(*core)
    };
    let mut firsts: Vec<usize> = cores.iter().map(sibling).collect();
    firsts.sort_unstable();
    firsts.dedup();
    firsts.len().max(1)
}
