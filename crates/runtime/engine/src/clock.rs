//! A cheap clock: the time-stamp counter where it runs evenly on all cores, the monotonic clock elsewhere.

use std::sync::OnceLock;

/// Ticks of the cheap clock; the same on all cores of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

struct Clock {
    counter: bool,
    /// Nanoseconds a tick, times 2^32.
    scale: u64,
}

static CLOCK: OnceLock<Clock> = OnceLock::new();

/// Measures the counter against the monotonic clock (2 ms, once a process).
pub fn calibrate() {
    CLOCK.get_or_init(|| {
        if !counter_is_steady() {
            return Clock { counter: false, scale: 1 << 32 };
        }
        let (t0, n0) = (read_counter(), monotonic_ns());
        let mut n1 = monotonic_ns();
        while n1 - n0 < 2_000_000 {
            n1 = monotonic_ns();
        }
        let ticks = read_counter().wrapping_sub(t0).max(1);
        Clock {
            counter: true,
            scale: (((n1 - n0) as u128) << 32).checked_div(ticks as u128).unwrap_or(1) as u64,
        }
    });
}

impl Ticks {
    #[inline(always)]
    pub fn now() -> Ticks {
        match CLOCK.get() {
            Some(c) if c.counter => Ticks(read_counter()),
            _ => Ticks(monotonic_ns()),
        }
    }

    /// Nanoseconds from `earlier` to this; 0 if `earlier` is later.
    #[inline]
    pub fn ns_since(self, earlier: Ticks) -> u64 {
        let scale = CLOCK.get().map_or(1 << 32, |c| c.scale);
        ((self.0.saturating_sub(earlier.0) as u128 * scale as u128) >> 32) as u64
    }
}

/// The monotonic clock in nanoseconds.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time of the whole process in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn clock_ns(id: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: t is a valid place to write to; these clocks always exist.
    unsafe { libc::clock_gettime(id, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn read_counter() -> u64 {
    // SAFETY: reading the time-stamp counter has no precondition in user space on Linux.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn read_counter() -> u64 {
    monotonic_ns()
}

fn counter_is_steady() -> bool {
    // The kernel's own judgement: it uses the counter as its clock source only while it is steady on all
    // cores; in a virtual machine the host's clock may be preferred although the flags promise the same.
    cfg!(target_arch = "x86_64")
        && std::fs::read_to_string("/proc/cpuinfo")
            .is_ok_and(|s| s.contains(" constant_tsc") && s.contains(" nonstop_tsc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_monotonic_clock() {
        calibrate();
        let (a, n) = (Ticks::now(), monotonic_ns());
        while monotonic_ns() - n < 5_000_000 {}
        let measured = Ticks::now().ns_since(a);
        assert!((4_500_000..50_000_000).contains(&measured), "{measured}");
        assert_eq!(a.ns_since(Ticks(a.0 + 10)), 0);
    }
}
