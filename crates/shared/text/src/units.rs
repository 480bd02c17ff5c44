//! Numbers as people read them: three significant digits and a unit, counts with separators, shares in
//! percent. The HTML page formats the same way (web/src/format.ts); tests/units.json holds both to the same
//! cases.

/// Scales `value` up the ladder of `units`, each `step` times the one before, and keeps three digits.
fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut unit = 0;
    // 999.5 would round to "1000": the next unit is due half a digit early.
    while value >= step.min(999.5) && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", units[unit])
}

/// A duration: `0 ns`, `63 ns`, `1.23 µs`, `45.6 ms`, `123 s`, `16.7 min`, `2.50 h`.
pub fn duration(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds >= 99.5 * 60.0 {
        scaled_above(seconds / 3600.0, "h")
    } else if seconds >= 999.5 {
        scaled_above(seconds / 60.0, "min")
    } else {
        scaled(ns as f64, 1000.0, &["ns", "µs", "ms", "s"])
    }
}

/// A duration with three significant digits, also below ten nanoseconds: `0.03 ns`, `1.50 ns`, `12.3 µs`.
pub fn nanoseconds(ns: f64) -> String {
    match ns {
        ns if !ns.is_finite() => "-".into(),
        ns if ns.abs() < 9.995 => format!("{ns:.2} ns"),
        ns if ns.abs() < 99.95 => format!("{ns:.1} ns"),
        ns if ns < 0.0 => format!("-{}", duration(-ns.round() as i64 as u64)),
        ns => duration(ns.round() as u64),
    }
}

fn scaled_above(value: f64, unit: &str) -> String {
    let digits = if value >= 99.95 { 0 } else { 1 };
    format!("{value:.digits$} {unit}")
}

/// A size: `0 B`, `512 B`, `1.50 KiB`, `64.0 KiB`.
pub fn bytes(n: u64) -> String {
    scaled(n as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// A count with separators: `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(c);
    }
    text
}

/// A count for a narrow column: exact below a million, then `1.23 M`.
pub fn short_count(n: u64) -> String {
    if n < 1_000_000 { count(n) } else { scaled(n as f64, 1000.0, &["", "k", "M", "G", "T", "P"]) }
}

/// `part` of `whole`: `0%`, `<0.1%`, `2.3%`, `41%`; `-` of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".into();
    }
    let share = part as f64 / whole as f64 * 100.0;
    match share {
        0.0 => "0%".into(),
        s if s < 0.05 => "<0.1%".into(),
        s if s < 9.95 => format!("{s:.1}%"),
        // Almost all is not all.
        s if s > 99.5 && part < whole => ">99%".into(),
        s => format!("{s:.0}%"),
    }
}

/// `1 rank`, `2 ranks`, `1,024 ranks`.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Ranks as ranges: `0-3, 7`; the tail of a long list is only counted.
pub fn rank_ranges(ranks: &[u32]) -> String {
    const SHOWN: usize = 4;
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &rank in ranks {
        match ranges.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(rank) => last.1 = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    let mut text: Vec<String> = Vec::new();
    for &(first, last) in ranges.iter().take(SHOWN) {
        text.push(if first == last { first.to_string() } else { format!("{first}-{last}") });
    }
    let left: u64 = ranges.iter().skip(SHOWN).map(|(a, b)| (b - a) as u64 + 1).sum();
    let text = text.join(", ");
    if left > 0 { format!("{text} and {} more", count(left)) } else { text }
}

/// Text of unknown origin made safe for a terminal: no control characters, at most `limit` characters.
/// What is too long loses its middle, because command lines tell by their beginning and their end.
pub fn plain(text: &str, limit: usize) -> String {
    let clean: Vec<char> = text.chars().map(|c| if is_unprintable(c) { '?' } else { c }).collect();
    if clean.len() <= limit {
        return clean.into_iter().collect();
    }
    let kept = limit.saturating_sub(3);
    let head = kept - kept / 3;
    let mut short: String = clean[..head].iter().collect();
    short.push_str("...");
    short.extend(&clean[clean.len() - (kept - head)..]);
    short
}

/// Control characters, and those that turn the direction of what follows.
fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page formats numbers too (web/src/format.ts); both are held to the same cases.
    #[test]
    fn numbers_read_as_the_shared_cases_say() {
        let cases: serde_json::Value = serde_json::from_str(include_str!("../tests/units.json")).unwrap();
        let each = |name: &str, check: &dyn Fn(&[serde_json::Value]) -> String| {
            for case in cases[name].as_array().unwrap() {
                let (given, text) = case.as_array().unwrap().split_at(case.as_array().unwrap().len() - 1);
                assert_eq!(check(given), text[0].as_str().unwrap(), "{name} of {given:?}");
            }
        };
        let number = |v: &serde_json::Value| v.as_u64().unwrap();
        each("duration", &|v| duration(number(&v[0])));
        each("bytes", &|v| bytes(number(&v[0])));
        each("count", &|v| count(number(&v[0])));
        each("percent", &|v| percent(number(&v[0]), number(&v[1])));
        each("ranges", &|v| {
            let ranks: Vec<u32> = v[0].as_array().unwrap().iter().map(|r| number(r) as u32).collect();
            rank_ranges(&ranks)
        });
    }

    #[test]
    fn narrow_counts_and_plurals() {
        assert_eq!(short_count(999_999), "999,999");
        assert_eq!(short_count(12_345_678), "12.3 M");
        assert_eq!(plural(1, "rank", "ranks"), "1 rank");
        assert_eq!(plural(0, "rank", "ranks"), "0 ranks");
    }

    #[test]
    fn small_durations_keep_their_digits() {
        assert_eq!(
            [0.0312, 1.5, 12.34, 123.4, 12_340.0].map(nanoseconds),
            ["0.03 ns", "1.50 ns", "12.3 ns", "123 ns", "12.3 µs"]
        );
        assert_eq!([-1.5, -1234.0, f64::NAN].map(nanoseconds), ["-1.50 ns", "-1.23 µs", "-"]);
    }

    #[test]
    fn hostile_text_is_made_plain() {
        assert_eq!(plain("a\u{1b}[31mb\n", 20), "a?[31mb?");
        assert_eq!(plain("\u{202e}gpj", 20), "?gpj");
        assert_eq!(plain("abcdefghijklmnop", 10), "abcde...op");
        assert_eq!(plain("short", 10), "short");
    }
}
