//! The measurement as text for the terminal.

use crate::record::{CoreNoise, LengthClass, NoiseSummary};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};
use evenkeel_text::units::{count, duration, percent, short_count};

/// The text of a measurement. No line is longer than `width` characters, which is limited to 40 to
/// 160.
pub fn text(noise: &NoiseSummary, width: usize) -> String {
    let width = width.clamp(40, 160);
    let mut lines = wrap(&headline(noise), width, "  ");
    lines.push(String::new());
    lines.extend(cores(noise, width));
    lines.push(String::new());
    lines.extend(classes(noise, width));
    lines.push(String::new());
    for paragraph in [correlation(noise), throttling(noise), unpinned(noise), LEGEND.to_string()]
        .iter()
        .filter(|p| !p.is_empty())
    {
        lines.extend(wrap(paragraph, width, ""));
    }
    lines.join("\n") + "\n"
}

const LEGEND: &str = "slow: quanta more than 5% longer than the fastest. lost: share of the time that delays \
     or gaps took. own, forced: context switches that the process made itself, and that were forced on it. \
     stolen: time that the hypervisor gave to others. r: correlation with context switches, by window.";

fn headline(noise: &NoiseSummary) -> String {
    let sum = |of: fn(&CoreNoise) -> u64| noise.cores.iter().map(of).sum::<u64>();
    let longest = noise.cores.iter().max_by_key(|c| c.longest_gap_ns);
    let lost = percent(sum(|c| c.delay_ns) + sum(|c| c.gap_ns), sum(|c| c.quanta_ns) + sum(|c| c.watched_ns));
    let cores = if noise.cores.len() == 1 { "1 core".into() } else { format!("{} cores", noise.cores.len()) };
    let gap = longest
        .map(|c| format!(" The longest gap was {}, on core {}.", duration(c.longest_gap_ns), c.core))
        .unwrap_or_default();
    format!(
        "evenkeel: {cores}, observed for {}: half of the time with work quanta of {}, half by reading the \
         clock. {lost} of the time was lost.{gap}",
        duration(noise.elapsed_ns),
        duration(noise.quantum_ns)
    )
}

const CORES: &[Column] = &[
    Column { group: "", head: "core", dispensable: 0 },
    Column { group: "quanta", head: "number", dispensable: 8 },
    Column { group: "quanta", head: "fastest", dispensable: 0 },
    Column { group: "quanta", head: "median", dispensable: 9 },
    Column { group: "quanta", head: "p99", dispensable: 2 },
    Column { group: "quanta", head: "slowest", dispensable: 0 },
    Column { group: "quanta", head: "slow", dispensable: 4 },
    Column { group: "quanta", head: "lost", dispensable: 0 },
    Column { group: "gaps", head: "number", dispensable: 7 },
    Column { group: "gaps", head: "longest", dispensable: 0 },
    Column { group: "gaps", head: "lost", dispensable: 3 },
    Column { group: "switches", head: "own", dispensable: 6 },
    Column { group: "switches", head: "forced", dispensable: 1 },
    Column { group: "", head: "stolen", dispensable: 5 },
];

fn cores(noise: &NoiseSummary, width: usize) -> Vec<String> {
    let row = |c: &CoreNoise| {
        vec![
            c.core.to_string(),
            count(c.quanta),
            duration(c.fastest_ns),
            duration(c.median_ns),
            duration(c.p99_ns),
            duration(c.slowest_ns),
            percent(c.slow, c.quanta),
            percent(c.delay_ns, c.quanta_ns),
            count(c.gaps),
            duration(c.longest_gap_ns),
            percent(c.gap_ns, c.watched_ns),
            count(c.voluntary),
            count(c.involuntary),
            c.steal_ns.map_or("-".into(), duration),
        ]
    };
    table(CORES, &noise.cores.iter().map(row).collect::<Vec<_>>(), width).lines().collect()
}

const CLASSES: &[Column] = &[
    Column { group: "", head: "length", dispensable: 0 },
    Column { group: "delays of quanta", head: "number", dispensable: 0 },
    Column { group: "delays of quanta", head: "", dispensable: 1 },
    Column { group: "delays of quanta", head: "r", dispensable: 0 },
    Column { group: "gaps", head: "number", dispensable: 0 },
    Column { group: "gaps", head: "", dispensable: 2 },
    Column { group: "gaps", head: "r", dispensable: 0 },
];

fn classes(noise: &NoiseSummary, width: usize) -> Vec<String> {
    // The bars share what six columns of numbers and their spaces leave.
    let bars = (width.saturating_sub(64) / 2).clamp(8, 24);
    let most = |of: fn(&LengthClass) -> u64| noise.classes.iter().map(of).max().unwrap_or(0);
    let (delays, gaps) = (most(|c| c.delays), most(|c| c.gaps));
    let used = |c: &&LengthClass| c.delays + c.gaps > 0;
    let row = |c: &LengthClass| {
        let r = |r: Option<f64>| r.map_or("-".into(), |r| format!("{r:+.2}"));
        vec![
            length(c),
            short_count(c.delays),
            bar(c.delays, delays, bars),
            r(c.correlation.delays),
            short_count(c.gaps),
            bar(c.gaps, gaps, bars),
            r(c.correlation.gaps),
        ]
    };
    table(CLASSES, &noise.classes.iter().filter(used).map(row).collect::<Vec<_>>(), width).lines().collect()
}

/// `<1 µs`, `100-300 µs`, `300 µs-1 ms`, `>100 ms`
fn length(class: &LengthClass) -> String {
    let plain = |ns: u64| duration(ns).replace(".00 ", " ").replace(".0 ", " ");
    let (from, to) = (plain(class.from_ns), class.to_ns.map(plain));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_string());
    match to {
        None => format!(">{from}"),
        Some(to) if class.from_ns == 0 => format!("<{to}"),
        Some(to) if unit(&from) == unit(&to) => {
            format!("{}-{to}", from.split(' ').next().unwrap_or_default())
        }
        Some(to) => format!("{from}-{to}"),
    }
}

/// A bar for a count: one block for 1, all blocks for `most`. The scale is logarithmic, because one long
/// delay among a million short ones matters.
fn bar(n: u64, most: u64, width: usize) -> String {
    let filled = if n == 0 {
        0
    } else {
        1 + ((n as f64).ln() / (most.max(2) as f64).ln() * (width - 1) as f64).round() as usize
    };
    format!("{:<width$}", "#".repeat(filled.min(width)))
}

fn correlation(noise: &NoiseSummary) -> String {
    let say = |r: Option<f64>| match r {
        Some(r) => format!("{r:+.2}"),
        None => "unknown, because one of the two never changed".into(),
    };
    let windows = duration(noise.window_ns);
    format!(
        "Correlation of context switches with delays of 100 µs to 1 ms: r = {}; with gaps of that length: \
         r = {} (windows of {windows}).",
        say(noise.between_100_and_1000_us.delays),
        say(noise.between_100_and_1000_us.gaps)
    )
}

fn throttling(noise: &NoiseSummary) -> String {
    match noise.throttling {
        None => "The kernel does not count CPU throttling here.".into(),
        Some(t) if t.times == 0 => "The CPU quota was never exceeded.".into(),
        Some(t) => {
            format!("The CPU quota was exceeded {} times, for {} in total.", count(t.times), duration(t.ns))
        }
    }
}

fn unpinned(noise: &NoiseSummary) -> String {
    let of_core = |c: &CoreNoise| {
        c.unpinned.as_ref().map(|why| format!("The process could not be bound to core {}: {why}.", c.core))
    };
    noise.cores.iter().filter_map(of_core).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Correlation;
    use crate::{BINS, Throttling, edges_ns};

    fn noise() -> NoiseSummary {
        let core = |core, involuntary| CoreNoise {
            core,
            quanta: 5_000,
            fastest_ns: 1_000_000,
            median_ns: 1_002_000,
            p99_ns: 1_100_000,
            slowest_ns: 9_000_000,
            slow: 60,
            delay_ns: 90_000_000,
            quanta_ns: 5_090_000_000,
            gaps: 1_234,
            longest_gap_ns: 4_200_000 + u64::from(core),
            gap_ns: 50_000_000,
            watched_ns: 5_000_000_000,
            involuntary,
            ..Default::default()
        };
        let class = |bin: usize| {
            let (from_ns, to_ns) = edges_ns(bin);
            let delays = if bin < 9 { 10_u64.pow(8 - bin as u32) } else { 0 };
            LengthClass {
                from_ns,
                to_ns,
                delays,
                gaps: delays / 10,
                correlation: Correlation { delays: (bin == 5).then_some(0.97), gaps: None },
            }
        };
        NoiseSummary {
            elapsed_ns: 10_000_000_000,
            quantum_ns: 1_000_000,
            window_ns: 50_000_000,
            cores: vec![core(0, 120), core(1, 98)],
            classes: (0..BINS).map(class).collect(),
            between_100_and_1000_us: Correlation { delays: Some(0.97), gaps: None },
            throttling: Some(Throttling { times: 3, ns: 4_500_000 }),
            ..Default::default()
        }
    }

    #[test]
    fn everything_is_shown_and_no_line_is_too_wide() {
        for width in [40, 60, 80, 100, 160] {
            let text = text(&noise(), width);
            for words in [
                "2 cores",
                "core 1.",
                "+0.97",
                "3 times, for 4.50 ms",
                "r = unknown",
                "100-300 µs",
                "300 µs-1 ms",
                "3-10 ms",
                "<1 µs",
            ] {
                let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(flat.contains(words), "`{words}` is not in\n{text}");
            }
            assert!(text.lines().all(|l| l.chars().count() <= width), "{width}:\n{text}");
            assert!(!text.contains(">100 ms"), "empty classes are left out");
        }
    }

    #[test]
    fn bars_grow_with_the_logarithm() {
        assert_eq!(bar(0, 100, 8).trim(), "");
        assert_eq!(bar(1, 1_000_000, 8).trim(), "#");
        assert_eq!(bar(1_000_000, 1_000_000, 8).trim(), "########");
        assert_eq!(bar(1, 1, 8).trim(), "#");
    }

    #[test]
    fn an_empty_measurement_has_a_text() {
        assert!(text(&NoiseSummary::default(), 80).contains("0 cores"));
    }
}
