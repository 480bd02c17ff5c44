//! The clock of `--trace-level times`.

use evenkeel_trace::times::format::{Moment, Ticks};
use std::sync::OnceLock;

/// Where the kernel says which clocks it trusts.
const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// Which clock this processor is measured by. The counter must go on at the same rate whatever the processor
/// does, and be the same on all cores: the processor says the first, and the kernel has checked the second.
pub(super) fn kind() -> Ticks {
    static KIND: OnceLock<Ticks> = OnceLock::new();
    *KIND.get_or_init(|| {
        let is_trusted = std::fs::read_to_string(CLOCKS).is_ok_and(|clocks| clocks.contains("tsc"));
        if is_trusted && is_invariant() { Ticks::Counter } else { Ticks::Nanoseconds }
    })
}

#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;
    const POWER: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    // SAFETY: every x86-64 processor has the instruction, and the first leaf asked for.
    #[allow(unused_unsafe, reason = "newer compilers have it as a safe function")]
    unsafe {
        __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & INVARIANT != 0
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}

fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// `CLOCK_MONOTONIC`.
fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Both clocks at one moment: of a few attempts the one that was interrupted least.
pub(super) fn moment() -> Moment {
    if kind() == Ticks::Nanoseconds {
        let ns = monotonic_ns();
        return Moment { ticks: ns, ns };
    }
    let attempt = || {
        let (before, ns, after) = (counter(), monotonic_ns(), counter());
        let took = after.saturating_sub(before);
        (took, Moment { ticks: before + took / 2, ns })
    };
    let attempts = [attempt(), attempt(), attempt()];
    attempts.into_iter().min_by_key(|(took, _)| *took).expect("there are three").1
}
