//! The kernel's counts of time that was withheld, parsed from its texts.

use serde::{Deserialize, Serialize};

/// How often, and for how long in total, a control group exceeded its CPU quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Throttling {
    /// The number of times.
    pub times: u64,
    /// The total time in nanoseconds.
    pub ns: u64,
}

impl Throttling {
    /// What was added since an earlier reading.
    pub fn since(self, before: Throttling) -> Throttling {
        Throttling { times: self.times.saturating_sub(before.times), ns: self.ns.saturating_sub(before.ns) }
    }
}

/// Parses `cpu.stat` of a control group: `throttled_usec` in version 2, `throttled_time` in nanoseconds
/// in version 1. None if the group has no such counters, because no quota can be set.
pub fn parse_cpu_stat(text: &str) -> Option<Throttling> {
    let value = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
    };
    let ns =
        value("throttled_time").or_else(|| value("throttled_usec").map(|us| us.saturating_mul(1_000)))?;
    Some(Throttling { times: value("nr_throttled")?, ns })
}

/// Parses the time since boot in which the hypervisor gave a core to others although this machine wanted
/// it, in nanoseconds: the field `steal` of /proc/stat, which counts hundredths of a second.
pub fn parse_steal_ns(stat: &str, core: usize) -> Option<u64> {
    let name = format!("cpu{core}");
    let line = stat.lines().find(|line| line.split_whitespace().next() == Some(&name))?;
    line.split_whitespace().nth(8)?.parse::<u64>().ok().map(|ticks| ticks.saturating_mul(10_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_cpu_stat_are_parsed() {
        let second =
            "usage_usec 12\nuser_usec 10\nsystem_usec 2\nnr_periods 9\nnr_throttled 3\nthrottled_usec 4500\n";
        let first = "nr_periods 9\nnr_throttled 3\nthrottled_time 4500000\n";
        assert_eq!(parse_cpu_stat(second), Some(Throttling { times: 3, ns: 4_500_000 }));
        assert_eq!(parse_cpu_stat(first), parse_cpu_stat(second));
        assert_eq!(parse_cpu_stat("usage_usec 12\n"), None);
        assert_eq!(
            Throttling { times: 5, ns: 9 }.since(Throttling { times: 3, ns: 4 }),
            Throttling { times: 2, ns: 5 }
        );
    }

    #[test]
    fn steal_is_found_by_core() {
        let stat = "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 11 0 0\ncpu1 1 2 3 4 5 6 7 0 0 0\n";
        assert_eq!(parse_steal_ns(stat, 0), Some(110_000_000));
        assert_eq!(parse_steal_ns(stat, 1), Some(0));
        assert_eq!(parse_steal_ns(stat, 10), None);
    }
}
