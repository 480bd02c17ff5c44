//! The grammar of `--inject`. What is written by `Display` is read back by `FromStr`.

use crate::inject::span::{Distribution, Span};
use crate::machine::limits::{parse_list, show_list};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// One way to disturb a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// So many processes that do nothing but compute, on each core.
    Competitors(u32),
    /// All ranks on half of the cores.
    Doubled,
    /// Ranks stop for a while, again and again.
    Stalls(Stalls),
    /// This share of the cores' time for all ranks together, and nothing once it is used up.
    Quota(f64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stalls {
    pub length: Span,
    /// From the end of a stall to the beginning of the next.
    pub interval: Span,
    pub seed: u64,
    /// None: all.
    pub ranks: Option<Vec<usize>>,
}

impl Spec {
    pub fn name(&self) -> &'static str {
        match self {
            Spec::Competitors(_) => "competitors",
            Spec::Doubled => "doubled",
            Spec::Stalls(_) => "stalls",
            Spec::Quota(_) => "quota",
        }
    }
}

const KINDS: &str = "there are competitors=N, doubled, stalls=exp:10ms/100ms and quota=50%";

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let (kind, value) = text.split_once('=').map_or((text, None), |(k, v)| (k, Some(v)));
        match (kind, value) {
            ("competitors", Some(n)) => match n.parse() {
                Ok(n @ 1..=1000) => Ok(Spec::Competitors(n)),
                _ => Err("competitors takes their number for each core, 1 to 1000".into()),
            },
            ("competitors", None) => Ok(Spec::Competitors(1)),
            ("doubled", None) => Ok(Spec::Doubled),
            ("doubled", Some(_)) => Err("doubled takes no value".into()),
            ("stalls", Some(value)) => stalls(value).map(Spec::Stalls),
            ("quota", Some(value)) => match value.strip_suffix('%').and_then(|n| n.parse::<f64>().ok()) {
                Some(percent) if (1.0..=100.0).contains(&percent) => Ok(Spec::Quota(percent / 100.0)),
                _ => Err("quota takes a share of the cores' time: 1% to 100%".into()),
            },
            ("stalls" | "quota", None) => Err(format!("{kind} needs a value: {KINDS}")),
            _ => Err(format!("`{kind}` is not known: {KINDS}")),
        }
    }
}

/// `exp:10ms/100ms,seed=7,ranks=0-3`, or `fixed:10ms/exp:100ms`.
fn stalls(text: &str) -> Result<Stalls, String> {
    let mut parts = text.split(',').peekable();
    let (length, interval) = parts
        .next()
        .and_then(|p| p.split_once('/'))
        .ok_or("stalls takes LENGTH/INTERVAL, for instance exp:10ms/100ms")?;
    let length = span(length, None)?;
    let interval = span(interval, Some(length.distribution))?;
    let mut stalls = Stalls { length, interval, seed: 1, ranks: None };
    while let Some(part) = parts.next() {
        match part.split_once('=') {
            Some(("seed", n)) => {
                stalls.seed = n.parse().map_err(|_| format!("`{n}` is no seed: it must be a whole number"))?
            }
            Some(("ranks", first)) => {
                // Commas separate ranks too: `ranks=0,2-3,seed=1`.
                let mut list = first.to_string();
                while let Some(more) = parts.next_if(|p| p.starts_with(|c: char| c.is_ascii_digit())) {
                    list += &format!(",{more}");
                }
                let ranks = parse_list(&list);
                if ranks.is_empty() || list.contains(|c: char| !c.is_ascii_digit() && !"-,".contains(c)) {
                    return Err(format!("`{list}` is no list of ranks like 0-3,8"));
                }
                stalls.ranks = Some(ranks);
            }
            _ => {
                return Err(format!(
                    "`{part}` is not known: after LENGTH/INTERVAL stalls takes seed=N and ranks=LIST"
                ));
            }
        }
    }
    Ok(stalls)
}

/// `exp:10ms`; without a distribution the one given, else exp.
fn span(text: &str, otherwise: Option<Distribution>) -> Result<Span, String> {
    let (distribution, mean) = match text.split_once(':') {
        None => (otherwise.unwrap_or(Distribution::Exponential), text),
        Some((name, mean)) => {
            let known = Distribution::ALL.into_iter().find(|d| d.name() == name);
            (
                known.ok_or_else(|| {
                    format!("`{name}` is no distribution: there are exp, uniform and fixed")
                })?,
                mean,
            )
        }
    };
    Ok(Span { distribution, mean: duration(mean)? })
}

/// `250us`, `10ms`, `1.5s`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no duration like 250us, 10ms or 1.5s");
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let scale = match &text[unit..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(wrong()),
    };
    let seconds = text[..unit].parse::<f64>().map_err(|_| wrong())? * scale;
    // Below ten microseconds it is the injector that would be measured; a day is longer than anybody waits.
    if !(1e-5..=86_400.0).contains(&seconds) {
        return Err(format!("`{text}` is not between 10us and a day"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Competitors(n) => write!(f, "competitors={n}"),
            Spec::Doubled => write!(f, "doubled"),
            Spec::Quota(share) => write!(f, "quota={}%", share * 100.0),
            Spec::Stalls(s) => {
                let span =
                    |s: &Span| format!("{}:{}us", s.distribution.name(), s.mean.as_nanos() as f64 / 1e3);
                write!(f, "stalls={}/{},seed={}", span(&s.length), span(&s.interval), s.seed)?;
                s.ranks.as_ref().map_or(Ok(()), |ranks| write!(f, ",ranks={}", show_list(ranks)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Spec {
        text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn every_kind_is_read() {
        assert_eq!(read("competitors"), Spec::Competitors(1));
        assert_eq!(read("competitors=3"), Spec::Competitors(3));
        assert_eq!(read("doubled"), Spec::Doubled);
        assert_eq!(read("quota=50%"), Spec::Quota(0.5));
        let Spec::Stalls(s) = read("stalls=exp:10ms/100ms") else { panic!() };
        assert_eq!(
            (s.length.mean, s.interval.mean, s.seed, s.ranks),
            (Duration::from_millis(10), Duration::from_millis(100), 1, None)
        );
        assert_eq!(
            (s.length.distribution, s.interval.distribution),
            (Distribution::Exponential, Distribution::Exponential)
        );
        let Spec::Stalls(s) = read("stalls=fixed:250us/uniform:1.5s,ranks=0-1,4,seed=9") else { panic!() };
        assert_eq!(
            (s.length.distribution, s.interval.distribution),
            (Distribution::Fixed, Distribution::Uniform)
        );
        assert_eq!((s.interval.mean, s.seed, s.ranks), (Duration::from_millis(1500), 9, Some(vec![0, 1, 4])));
        let Spec::Stalls(s) = read("stalls=fixed:1ms/2ms") else { panic!() };
        assert_eq!(s.interval.distribution, Distribution::Fixed, "the first distribution is for both");
    }

    #[test]
    fn what_is_shown_is_read_back() {
        for text in [
            "competitors=2",
            "doubled",
            "quota=12.5%",
            "stalls=exp:10ms/100ms,seed=3",
            "stalls=fixed:33.25us/uniform:2s,ranks=1,3-5",
        ] {
            assert_eq!(read(&read(text).to_string()), read(text), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("noise", "not known"),
            ("doubled=2", "no value"),
            ("competitors=0", "1 to 1000"),
            ("competitors=x", "1 to 1000"),
            ("quota=50", "1% to 100%"),
            ("quota=0%", "1% to 100%"),
            ("quota=101%", "1% to 100%"),
            ("quota", "needs a value"),
            ("stalls=10ms", "LENGTH/INTERVAL"),
            ("stalls=normal:1ms/1ms", "no distribution"),
            ("stalls=10/100", "no duration"),
            ("stalls=1ms/1min", "no duration"),
            ("stalls=1us/1ms", "between"),
            ("stalls=1ms/1ms,seed=x", "no seed"),
            ("stalls=1ms/1ms,speed=1", "not known"),
            ("stalls=1ms/1ms,ranks=a", "no list"),
            ("stalls=NaNs/1s", "no duration"),
            ("", "not known"),
        ];
        for (text, words) in cases {
            let said = text.parse::<Spec>().expect_err(text);
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
