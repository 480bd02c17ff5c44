//! The measurement: one thread bound to each core, all at the same time, like the ranks of a job.

use rustix::thread::{CpuSet, sched_setaffinity};
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What to measure, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasurementPlan {
    /// The cores.
    pub cores: Vec<usize>,
    /// The duration of both traces together.
    pub length: Duration,
    /// The duration of one work quantum.
    pub quantum: Duration,
    /// Shorter gaps are not recorded.
    pub min_gap: Duration,
    /// The number of windows of each trace.
    pub windows: usize,
}

impl MeasurementPlan {
    /// The duration of one window.
    pub fn window(&self) -> Duration {
        self.length / 2 / self.windows.max(1) as u32
    }
}

/// The traces of one core.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoreTrace {
    /// The number of the core.
    pub core: usize,
    /// Why the thread could not be bound to the core, if so.
    pub unpinned: Option<String>,
    /// The quanta, window by window.
    pub quanta: Vec<Window>,
    /// The gaps, window by window.
    pub gaps: Vec<Window>,
}

/// What happened in one window of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// The duration of the window.
    pub length_ns: u64,
    /// Context switches that the thread made itself.
    pub voluntary: u64,
    /// Context switches that were forced on it.
    pub involuntary: u64,
    /// The lengths of the quanta or gaps.
    pub lengths_ns: Vec<u64>,
    /// For gaps: when each began, counted from the beginning of the window.
    pub starts_ns: Vec<u64>,
}

/// Takes both traces on all cores. Blocks for `plan.length` and for the short time it takes to find out
/// how much work a quantum is. `progress` is called twice a second on the caller's thread with the share
/// that is done; what it does is noise.
pub fn measure(plan: &MeasurementPlan, mut progress: impl FnMut(f64)) -> Vec<CoreTrace> {
    let turns = calibrate(plan.quantum);
    let together = Barrier::new(plan.cores.len() + 1);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = plan
            .cores
            .iter()
            .map(|&core| {
                scope.spawn({
                    let together = &together;
                    move || on_core(plan, core, turns, together)
                })
            })
            .collect();
        together.wait();
        let start = Instant::now();
        while !over.load(Ordering::Relaxed) && workers.iter().any(|w| !w.is_finished()) {
            progress((start.elapsed().as_secs_f64() / plan.length.as_secs_f64()).min(1.0));
            let left = plan.length.saturating_sub(start.elapsed());
            std::thread::sleep(left.clamp(Duration::from_millis(50), Duration::from_millis(500)));
        }
        progress(1.0);
        workers.into_iter().map(|w| w.join().expect("a measuring thread does not panic")).collect()
    })
}

fn on_core(plan: &MeasurementPlan, core: usize, turns: u64, together: &Barrier) -> CoreTrace {
    let mut set = CpuSet::new();
    set.set(core);
    let unpinned = sched_setaffinity(None, &set).err().map(|e| e.to_string());
    // Allocate and touch memory for all lengths now: a page fault during a trace would be noise of our
    // own.
    let most =
        |each: Duration| (plan.window().as_nanos() / each.as_nanos().max(1) + 16).min(1 << 20) as usize;
    let mut quanta = empty(plan.windows, most(plan.quantum));
    let mut gaps = empty(plan.windows, most(plan.min_gap * 20).min(1 << 14));
    together.wait();
    for window in &mut quanta {
        in_window(window, plan.window(), |window, start, end| {
            let mut before = start; // so that an interruption at the beginning belongs to the first quantum
            while before < end {
                compute(turns);
                let after = Instant::now();
                window.lengths_ns.push((after - before).as_nanos() as u64);
                before = after;
            }
        });
    }
    for window in &mut gaps {
        in_window(window, plan.window(), |window, start, end| {
            let mut before = start;
            while before < end {
                let now = Instant::now();
                let gap = now - before;
                if gap >= plan.min_gap {
                    window.lengths_ns.push(gap.as_nanos() as u64);
                    window.starts_ns.push((before - start).as_nanos() as u64);
                }
                before = now;
            }
        });
    }
    CoreTrace { core, unpinned, quanta, gaps }
}

fn empty(windows: usize, room: usize) -> Vec<Window> {
    let touched = || {
        let mut lengths = vec![1; room];
        lengths.clear();
        lengths
    };
    (0..windows)
        .map(|_| Window { lengths_ns: touched(), starts_ns: touched(), ..Default::default() })
        .collect()
}

fn in_window(window: &mut Window, length: Duration, work: impl FnOnce(&mut Window, Instant, Instant)) {
    let (voluntary, involuntary) = switches();
    let start = Instant::now();
    work(window, start, start + length);
    window.length_ns = start.elapsed().as_nanos() as u64;
    let after = switches();
    window.voluntary = after.0.saturating_sub(voluntary);
    window.involuntary = after.1.saturating_sub(involuntary);
}

/// The context switches of this thread so far: voluntary and involuntary.
fn switches() -> (u64, u64) {
    // SAFETY: zeros are a valid `rusage`, and the kernel writes nothing but this structure.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64)
}

/// The work. Each turn depends on the one before, so that neither the compiler nor the processor can
/// shorten it.
#[inline(never)]
fn compute(turns: u64) {
    let mut x = 1_u64;
    for _ in 0..turns {
        x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    }
    black_box(x);
}

/// The number of turns that take so long if nothing disturbs them, from the fastest of many short trials.
fn calibrate(quantum: Duration) -> u64 {
    const TURNS: u64 = 20_000;
    let fastest = (0..100)
        .map(|_| {
            let before = Instant::now();
            compute(TURNS);
            before.elapsed()
        })
        .min()
        .unwrap_or_default();
    let turns = TURNS as f64 * quantum.as_secs_f64() / fastest.as_secs_f64().max(1e-9);
    (turns as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_measurement_fills_every_window() {
        let plan = MeasurementPlan {
            cores: vec![0],
            length: Duration::from_millis(60),
            quantum: Duration::from_micros(100),
            min_gap: Duration::from_micros(1),
            windows: 3,
        };
        let mut shares = Vec::new();
        let traces = measure(&plan, |share| shares.push(share));
        assert_eq!(traces.len(), 1);
        assert_eq!((traces[0].quanta.len(), traces[0].gaps.len()), (3, 3));
        for window in &traces[0].quanta {
            assert!(!window.lengths_ns.is_empty());
            assert!(window.lengths_ns.iter().sum::<u64>() <= window.length_ns);
            assert!(window.length_ns >= 10_000_000);
        }
        assert!(traces[0].gaps.iter().flat_map(|w| &w.lengths_ns).all(|gap| *gap >= 1_000));
        let gaps = crate::gap_trace(&plan, &traces, &Default::default());
        let (core, found) =
            (&gaps.cores[0], traces[0].gaps.iter().map(|w| w.lengths_ns.len()).sum::<usize>());
        assert_eq!(core.gaps_ns.len(), found);
        assert!(core.gaps_ns.windows(2).all(|w| w[0][0] + w[0][1] <= w[1][0]));
        assert!(core.gaps_ns.last().is_none_or(|[start, length]| start + length <= core.watched_ns));
        assert_eq!(shares.last(), Some(&1.0));
    }

    #[test]
    fn a_core_that_does_not_exist_is_reported() {
        let plan = MeasurementPlan {
            cores: vec![1023],
            length: Duration::from_millis(4),
            quantum: Duration::from_micros(100),
            min_gap: Duration::from_micros(1),
            windows: 1,
        };
        assert!(measure(&plan, |_| {})[0].unpinned.is_some());
    }
}
