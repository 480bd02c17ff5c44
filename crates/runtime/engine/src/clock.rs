//! A cheap clock: the time-stamp counter where it is steady on all cores, the monotonic clock elsewhere.

/// Ticks of a [`Clock`]. They are comparable between the cores of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

/// How this process reads the time. A plain value: it is calibrated once, in `MPI_Init`, and copied to the
/// places that need it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    reads_counter: bool,
    /// Nanoseconds per tick, times 2^32.
    scale: u64,
}

/// For how long the counter is compared with the monotonic clock.
const CALIBRATION_NS: u64 = 2_000_000;

/// How often both clocks are read for one comparison. One reading without an interruption is enough.
const READINGS: usize = 16;

impl Clock {
    /// The monotonic clock, whose ticks are nanoseconds.
    pub const MONOTONIC: Clock = Clock { reads_counter: false, scale: 1 << 32 };

    /// Calibrates the counter against the monotonic clock. This takes 2 ms.
    pub fn calibrate() -> Clock {
        if !counter_is_steady() {
            return Clock::MONOTONIC;
        }
        let first = read_together(read_counter, monotonic_ns);
        while monotonic_ns() - first.ns < CALIBRATION_NS {}
        let last = read_together(read_counter, monotonic_ns);
        let ticks = last.ticks.wrapping_sub(first.ticks).max(1);
        let scale = (u128::from(last.ns - first.ns) << 32).checked_div(u128::from(ticks)).unwrap_or(1);
        Clock { reads_counter: true, scale: scale as u64 }
    }

    /// The time now.
    #[inline(always)]
    pub fn now(self) -> Ticks {
        Ticks(if self.reads_counter { read_counter() } else { monotonic_ns() })
    }

    /// Nanoseconds per tick, times 2^32; 0 if ticks are nanoseconds of the monotonic clock.
    pub fn tick_scale(self) -> u64 {
        if self.reads_counter { self.scale } else { 0 }
    }

    /// Nanoseconds from `earlier` to `later`; 0 if `later` comes first.
    #[inline]
    pub fn ns_between(self, earlier: Ticks, later: Ticks) -> u64 {
        ((u128::from(later.0.saturating_sub(earlier.0)) * u128::from(self.scale)) >> 32) as u64
    }

    /// Nanoseconds from `earlier` until now.
    #[inline]
    pub fn ns_since(self, earlier: Ticks) -> u64 {
        self.ns_between(earlier, self.now())
    }
}

/// The same moment by both clocks.
#[derive(Debug, PartialEq, Eq)]
struct Moment {
    ticks: u64,
    ns: u64,
}

/// Reads both clocks at the same moment, as nearly as possible: of several readings the one that took the
/// fewest ticks. A process that loses its core between the two clocks would otherwise take a wrong scale for
/// the whole run.
fn read_together(mut read_counter: impl FnMut() -> u64, mut read_ns: impl FnMut() -> u64) -> Moment {
    let mut read = || {
        let (before, ns, after) = (read_counter(), read_ns(), read_counter());
        let took = after.wrapping_sub(before);
        (took, Moment { ticks: before.wrapping_add(took / 2), ns })
    };
    let (mut shortest, mut moment) = read();
    for _ in 1..READINGS {
        let (took, read) = read();
        if took < shortest {
            (shortest, moment) = (took, read);
        }
    }
    moment
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
    // This repeats the kernel's own criterion: it uses the counter as its clock source only while the
    // counter is steady on all cores. The clock source itself says less: in a virtual machine the host's
    // clock may be preferred although the same flags are set.
    cfg!(target_arch = "x86_64")
        && std::fs::read_to_string("/proc/cpuinfo")
            .is_ok_and(|s| s.contains(" constant_tsc") && s.contains(" nonstop_tsc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_monotonic_clock() {
        let clock = Clock::calibrate();
        let (before_first, first, after_first) = (monotonic_ns(), clock.now(), monotonic_ns());
        while monotonic_ns() - after_first < 10_000_000 {}
        let (before_last, last, after_last) = (monotonic_ns(), clock.now(), monotonic_ns());
        // The two readings lie between the monotonic readings around them, even if the test is interrupted.
        let elapsed = clock.ns_between(first, last) as f64;
        let (least, most) = ((before_last - after_first) as f64, (after_last - before_first) as f64);
        assert!((0.9 * least..=1.1 * most).contains(&elapsed), "{elapsed} ns, and {least} to {most}");
    }

    /// A counter of two ticks a nanosecond, and a process that is interrupted in most of its readings.
    #[test]
    fn a_reading_that_was_interrupted_does_not_count() {
        for undisturbed in [0, 7, READINGS - 1] {
            let (now, readings) = (std::cell::Cell::new(1_000), std::cell::Cell::new(0));
            let interrupt = |ns| now.set(now.get() + if readings.get() == undisturbed { 0 } else { ns });
            let read_counter = || 2 * now.get();
            let read_ns = || {
                interrupt(4_000_000);
                let ns = now.get();
                now.set(ns + 20);
                interrupt(1_000_000);
                readings.set(readings.get() + 1);
                ns
            };
            let moment = read_together(read_counter, read_ns);
            assert!(moment.ticks.abs_diff(2 * moment.ns) <= 40, "{undisturbed}: {moment:?}");
        }
    }

    #[test]
    fn time_does_not_run_backwards() {
        let clock = Clock { reads_counter: true, scale: 1 << 31 };
        assert_eq!(clock.ns_between(Ticks(10), Ticks(30)), 10);
        assert_eq!(clock.ns_between(Ticks(30), Ticks(10)), 0);
    }
}
