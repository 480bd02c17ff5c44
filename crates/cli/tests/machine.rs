//! What this machine allows, read from the kernel's texts.

use evenkeel_cli::machine::control_groups::{self, Quota};
use evenkeel_cli::machine::{memory, process_limit};
use std::path::{Path, PathBuf};

#[test]
fn cpu_quotas_are_read_in_both_versions() {
    assert_eq!(control_groups::parse_cpu_max("150000 100000\n"), Some(1.5));
    assert_eq!(control_groups::parse_cpu_max("max 100000\n"), None);
    assert_eq!(control_groups::parse_cpu_max(""), None);
    assert_eq!(control_groups::parse_cfs("50000\n", "100000\n"), Some(0.5));
    assert_eq!(control_groups::parse_cfs("-1\n", "100000\n"), None);
}

#[test]
fn the_tightest_quota_on_the_way_up_counts() {
    let mounts = "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
    let files = |path: &Path| match path.to_str().unwrap() {
        "/sys/fs/cgroup/user/job/cpu.max" => Some("400000 100000".to_string()),
        "/sys/fs/cgroup/user/cpu.max" => Some("200000 100000".to_string()),
        "/sys/fs/cgroup/cpu.max" => Some("max 100000".to_string()),
        _ => None,
    };
    let found = control_groups::cpu_quota("0::/user/job\n", mounts, files);
    assert_eq!(found, Some(Quota { cores: 2.0, from: "/sys/fs/cgroup/user/cpu.max".into() }));
    assert_eq!(control_groups::cpu_quota("0::/\n", mounts, |_| None), None);
}

#[test]
fn groups_of_version_1_and_of_containers_are_found() {
    // In a container the hierarchy's root is the container's own group.
    let mounts = "31 20 0:27 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
    let group = "4:memory:/x\n3:cpu,cpuacct:/docker/abc/inner\n";
    assert_eq!(
        control_groups::directories(group, mounts, "cpu"),
        [PathBuf::from("/sys/fs/cgroup/cpu/inner"), "/sys/fs/cgroup/cpu".into()]
    );
    let files = |path: &Path| match path.to_str().unwrap() {
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us" => Some("75000".to_string()),
        "/sys/fs/cgroup/cpu/cpu.cfs_period_us" => Some("50000".to_string()),
        _ => None,
    };
    assert_eq!(control_groups::cpu_quota(group, mounts, files).map(|q| q.cores), Some(1.5));
}

#[test]
fn the_lowest_limit_on_processes_is_named() {
    let mounts = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                  Max processes             1000                 2000                 processes \n";
    let files = |pids: &'static str| {
        move |path: &Path| match path.to_str().unwrap() {
            "/sys/fs/cgroup/job/pids.max" => Some(pids.to_string()),
            "/proc/sys/kernel/pid_max" => Some("32768\n".to_string()),
            _ => None,
        }
    };
    let of = |pids, limits| process_limit::lowest("0::/job\n", mounts, limits, files(pids));
    assert_eq!(of("64\n", Some(limits)), Some((64, "/sys/fs/cgroup/job/pids.max".into())));
    assert_eq!(of("max\n", Some(limits)), Some((1000, "ulimit -u".into())));
    assert_eq!(of("max\n", None), Some((32768, "/proc/sys/kernel/pid_max".into())));
}

#[test]
fn the_lowest_limit_on_memory_is_named() {
    let mounts = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    let files = |of_group: &'static str| {
        move |path: &Path| match path.to_str().unwrap() {
            "/sys/fs/cgroup/job/memory.max" => Some(of_group.to_string()),
            "/proc/meminfo" => Some("MemTotal:  2048 kB\nMemFree:  1 kB\nSwapTotal:  1024 kB\n".to_string()),
            _ => None,
        }
    };
    let of = |of_group| memory::lowest("0::/job\n", mounts, files(of_group));
    assert_eq!(of("1048576\n"), Some((2 << 20, "/sys/fs/cgroup/job/memory.max".into())));
    assert_eq!(of("max\n"), Some((3 << 20, "/proc/meminfo".into())));
    assert_eq!(memory::lowest("", "", |_| None), None);
}
