//! The summary of the traces of all cores.

use crate::bins::{BINS, bin_of, edges_ns};
use crate::correlation::pearson;
use crate::counters::Throttling;
use crate::measure::{CoreTrace, MeasurementPlan, Window};
use crate::record::{CoreNoise, Correlation, LengthClass, NoiseSummary};
use evenkeel_statistics::nearest_rank;
use std::ops::Range;

/// A quantum is slow if it takes more than this share longer than the fastest.
pub const SLOW_SHARE: f64 = 0.05;

/// What is known besides the traces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The version of evenkeel.
    pub version: String,
    /// The name and release of the kernel.
    pub kernel: String,
    /// When the measurement started, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// How often the CPU quota was exceeded. None if the kernel does not count.
    pub throttling: Option<Throttling>,
    /// For each trace: time that the hypervisor gave to others. None if the kernel does not tell.
    pub steal_ns: Vec<Option<u64>>,
}

/// Computes everything that is shown. Takes O(n log n) time in the number of quanta.
pub fn summarize(plan: &MeasurementPlan, traces: &[CoreTrace], conditions: Conditions) -> NoiseSummary {
    let fastest: Vec<u64> = traces.iter().map(|t| lengths(&t.quanta).min().unwrap_or(0)).collect();
    let delays: Vec<&[Window]> = traces.iter().map(|t| t.quanta.as_slice()).collect();
    let gaps: Vec<&[Window]> = traces.iter().map(|t| t.gaps.as_slice()).collect();
    let zeros = vec![0; traces.len()];
    let of_classes = |classes: Range<usize>| Correlation {
        delays: with_switches(&delays, &fastest, classes.clone()),
        gaps: with_switches(&gaps, &zeros, classes),
    };
    let classes = (0..BINS).map(|bin| {
        let (from_ns, to_ns) = edges_ns(bin);
        let sum = |all: &[&[Window]], less: &[u64]| {
            all.iter()
                .zip(less)
                .flat_map(|(w, less)| w.iter().map(|w| in_classes(w, *less, &(bin..bin + 1))))
                .sum()
        };
        LengthClass {
            from_ns,
            to_ns,
            delays: sum(&delays, &fastest),
            gaps: sum(&gaps, &zeros),
            correlation: of_classes(bin..bin + 1),
        }
    });
    NoiseSummary {
        kind: "noise".into(),
        schema: 1,
        version: conditions.version,
        kernel: conditions.kernel,
        started_unix_ns: conditions.started_unix_ns,
        elapsed_ns: traces.iter().map(|t| span(&t.quanta) + span(&t.gaps)).max().unwrap_or(0),
        quantum_ns: plan.quantum.as_nanos() as u64,
        least_gap_ns: plan.min_gap.as_nanos() as u64,
        window_ns: plan.window().as_nanos() as u64,
        cores: traces
            .iter()
            .zip(&fastest)
            .enumerate()
            .map(|(i, (trace, fastest))| core(trace, *fastest, conditions.steal_ns.get(i).copied().flatten()))
            .collect(),
        classes: classes.collect(),
        between_100_and_1000_us: of_classes(bin_of(100_000)..bin_of(1_000_000)),
        throttling: conditions.throttling,
    }
}

fn lengths(windows: &[Window]) -> impl Iterator<Item = u64> + '_ {
    windows.iter().flat_map(|w| w.lengths_ns.iter().copied())
}

fn span(windows: &[Window]) -> u64 {
    windows.iter().map(|w| w.length_ns).sum()
}

/// How many lengths of a window, each reduced by `less`, are in these classes.
fn in_classes(window: &Window, less: u64, classes: &Range<usize>) -> u64 {
    window.lengths_ns.iter().filter(|ns| classes.contains(&bin_of(ns.saturating_sub(less)))).count() as u64
}

/// The correlation of the lengths in some classes with context switches, over the windows of all cores.
fn with_switches(cores: &[&[Window]], less: &[u64], classes: Range<usize>) -> Option<f64> {
    let windows = cores.iter().zip(less).flat_map(|(windows, less)| windows.iter().map(move |w| (w, *less)));
    let pairs: Vec<(f64, f64)> = windows
        .map(|(w, less)| ((w.voluntary + w.involuntary) as f64, in_classes(w, less, &classes) as f64))
        .collect();
    pearson(&pairs)
}

fn core(trace: &CoreTrace, fastest: u64, steal_ns: Option<u64>) -> CoreNoise {
    let mut sorted: Vec<u64> = lengths(&trace.quanta).collect();
    sorted.sort_unstable();
    let quantile = |share: f64| nearest_rank(&sorted, share).unwrap_or(0);
    let quanta_ns: u64 = sorted.iter().sum();
    let both = || trace.quanta.iter().chain(&trace.gaps);
    let share =
        |part: u64, whole: u64| (part as f64 / whole.max(1) as f64 * 10_000.0).round().min(10_000.0) as u32;
    let delay = |w: &Window| w.lengths_ns.iter().map(|ns| ns - fastest).sum::<u64>();
    CoreNoise {
        core: trace.core as u32,
        unpinned: trace.unpinned.clone(),
        quanta: sorted.len() as u64,
        fastest_ns: fastest,
        median_ns: quantile(0.5),
        p99_ns: quantile(0.99),
        slowest_ns: quantile(1.0),
        slow: sorted.iter().filter(|ns| **ns as f64 > fastest as f64 * (1.0 + SLOW_SHARE)).count() as u64,
        delay_ns: quanta_ns - fastest * sorted.len() as u64,
        quanta_ns,
        gaps: lengths(&trace.gaps).count() as u64,
        longest_gap_ns: lengths(&trace.gaps).max().unwrap_or(0),
        gap_ns: lengths(&trace.gaps).sum(),
        watched_ns: span(&trace.gaps),
        voluntary: both().map(|w| w.voluntary).sum(),
        involuntary: both().map(|w| w.involuntary).sum(),
        steal_ns,
        lost: trace
            .quanta
            .iter()
            .map(|w| share(delay(w), w.length_ns))
            .chain(trace.gaps.iter().map(|w| share(w.lengths_ns.iter().sum(), w.length_ns)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn window(switches: u64, lengths_ns: &[u64]) -> Window {
        Window {
            length_ns: 10_000_000,
            voluntary: 0,
            involuntary: switches,
            lengths_ns: lengths_ns.to_vec(),
            starts_ns: Vec::new(),
        }
    }

    fn plan() -> MeasurementPlan {
        MeasurementPlan {
            cores: vec![0],
            length: Duration::from_millis(80),
            quantum: Duration::from_millis(1),
            min_gap: Duration::from_micros(1),
            windows: 4,
        }
    }

    #[test]
    fn a_delay_is_the_excess_over_the_fastest_quantum() {
        let quanta = vec![
            window(0, &[1_000_000, 1_000_400]),
            window(2, &[1_000_000, 1_200_000, 1_150_000]),
            window(1, &[1_000_000, 1_301_000]),
        ];
        let gaps = vec![window(0, &[2_000]), window(1, &[250_000]), window(0, &[])];
        let trace = CoreTrace { core: 3, unpinned: None, quanta, gaps };
        let noise =
            summarize(&plan(), &[trace], Conditions { steal_ns: vec![Some(7)], ..Default::default() });
        let core = &noise.cores[0];
        assert_eq!(
            (core.core, core.quanta, core.fastest_ns, core.slowest_ns, core.slow),
            (3, 7, 1_000_000, 1_301_000, 3)
        );
        assert_eq!(core.delay_ns, 400 + 200_000 + 150_000 + 301_000);
        assert_eq!(
            (core.gaps, core.longest_gap_ns, core.gap_ns, core.involuntary, core.steal_ns),
            (2, 250_000, 252_000, 4, Some(7))
        );
        assert_eq!(core.lost, [0, 350, 301, 2, 250, 0]);
        let delays: Vec<u64> = noise.classes.iter().map(|c| c.delays).collect();
        assert_eq!(delays, [4, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0]);
        // As many as there were context switches, so r is 1, although one of them is in another class.
        assert_eq!(noise.between_100_and_1000_us.delays, Some(1.0));
        assert_eq!(noise.between_100_and_1000_us.gaps, Some(1.0));
        assert_eq!(noise.classes[11].correlation, Correlation::default());
    }

    #[test]
    fn an_empty_measurement_has_a_summary() {
        let noise = summarize(&plan(), &[CoreTrace::default()], Conditions::default());
        assert_eq!((noise.cores[0].quanta, noise.cores[0].median_ns), (0, 0));
        assert!(summarize(&plan(), &[], Conditions::default()).cores.is_empty());
    }

    #[test]
    fn the_record_can_be_read_back() {
        let trace = CoreTrace { quanta: vec![window(1, &[5, 7])], gaps: vec![], ..Default::default() };
        let noise = summarize(
            &plan(),
            &[trace],
            Conditions { throttling: Some(Throttling { times: 1, ns: 2 }), ..Default::default() },
        );
        let text = serde_json::to_string(&noise).unwrap();
        assert_eq!(serde_json::from_str::<NoiseSummary>(&text).unwrap(), noise);
    }
}
