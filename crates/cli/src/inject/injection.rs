//! The grammar of `--inject`. `FromStr` reads back what `Display` writes.

use super::span::{Distribution, Span};
use crate::errors::InjectionSyntaxError as SyntaxError;
use crate::machine::core_list;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// One way to disturb a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Injection {
    /// So many threads that do nothing but compute, on each core.
    Competitors(u32),
    /// All ranks on half of the cores.
    Doubled,
    /// Ranks stop for a while, repeatedly.
    Stalls(Stalls),
    /// This share of the cores' time for all ranks together.
    Quota(f64),
}

/// When and how long ranks are stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Stalls {
    /// How long a rank stays stopped.
    pub length: Span,
    /// From the end of a stall to the beginning of the next.
    pub interval: Span,
    /// What the random spans are drawn from; each rank has a sequence of its own.
    pub seed: u64,
    /// The ranks that are stopped; None for all.
    pub ranks: Option<Vec<usize>>,
}

impl Injection {
    /// The word before `=`.
    pub fn name(&self) -> &'static str {
        match self {
            Injection::Competitors(_) => "competitors",
            Injection::Doubled => "doubled",
            Injection::Stalls(_) => "stalls",
            Injection::Quota(_) => "quota",
        }
    }
}

impl FromStr for Injection {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Injection, SyntaxError> {
        let (kind, value) = text.split_once('=').map_or((text, None), |(k, v)| (k, Some(v)));
        match (kind, value) {
            ("competitors", Some(n)) => match n.parse() {
                Ok(n @ 1..=1000) => Ok(Injection::Competitors(n)),
                _ => Err(SyntaxError::Competitors),
            },
            ("competitors", None) => Ok(Injection::Competitors(1)),
            ("doubled", None) => Ok(Injection::Doubled),
            ("doubled", Some(_)) => Err(SyntaxError::Doubled),
            ("stalls", Some(value)) => stalls(value).map(Injection::Stalls),
            ("quota", Some(value)) => match value.strip_suffix('%').and_then(|n| n.parse::<f64>().ok()) {
                Some(percent) if (1.0..=100.0).contains(&percent) => Ok(Injection::Quota(percent / 100.0)),
                _ => Err(SyntaxError::Quota),
            },
            ("stalls" | "quota", None) => Err(SyntaxError::NoValue(kind.into())),
            _ => Err(SyntaxError::Unknown(kind.into())),
        }
    }
}

/// `exp:10ms/100ms,seed=7,ranks=0-3`, or `fixed:10ms/exp:100ms`.
fn stalls(text: &str) -> Result<Stalls, SyntaxError> {
    let mut parts = text.split(',').peekable();
    let (length, interval) = parts.next().and_then(|p| p.split_once('/')).ok_or(SyntaxError::Stalls)?;
    let length = span(length, None)?;
    let interval = span(interval, Some(length.distribution))?;
    let mut stalls = Stalls { length, interval, seed: 1, ranks: None };
    while let Some(part) = parts.next() {
        match part.split_once('=') {
            Some(("seed", n)) => stalls.seed = n.parse().map_err(|_| SyntaxError::Seed(n.into()))?,
            Some(("ranks", first)) => {
                // Commas separate ranks too: `ranks=0,2-3,seed=1`.
                let mut list = first.to_string();
                while let Some(more) = parts.next_if(|p| p.starts_with(|c: char| c.is_ascii_digit())) {
                    list += &format!(",{more}");
                }
                if !core_list::is_list(&list) {
                    return Err(SyntaxError::Ranks(list));
                }
                stalls.ranks = Some(core_list::parse(&list));
            }
            _ => return Err(SyntaxError::StallsOption(part.into())),
        }
    }
    Ok(stalls)
}

/// `exp:10ms`; without a distribution the one given, else exp.
fn span(text: &str, otherwise: Option<Distribution>) -> Result<Span, SyntaxError> {
    let (distribution, mean) = match text.split_once(':') {
        None => (otherwise.unwrap_or(Distribution::Exponential), text),
        Some((name, mean)) => {
            let known = Distribution::ALL.into_iter().find(|d| d.name() == name);
            (known.ok_or_else(|| SyntaxError::Distribution(name.into()))?, mean)
        }
    };
    Ok(Span { distribution, mean: duration(mean)? })
}

/// `250us`, `10ms`, `1.5s`.
fn duration(text: &str) -> Result<Duration, SyntaxError> {
    let wrong = || SyntaxError::Duration(text.into());
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let scale = match &text[unit..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(wrong()),
    };
    let seconds = text[..unit].parse::<f64>().map_err(|_| wrong())? * scale;
    // Shorter stalls would measure the injector itself.
    if !(1e-5..=86_400.0).contains(&seconds) {
        return Err(SyntaxError::DurationRange(text.into()));
    }
    Ok(Duration::from_secs_f64(seconds))
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Injection::Competitors(n) => write!(f, "competitors={n}"),
            Injection::Doubled => write!(f, "doubled"),
            Injection::Quota(share) => write!(f, "quota={}%", share * 100.0),
            Injection::Stalls(s) => {
                let span =
                    |s: &Span| format!("{}:{}us", s.distribution.name(), s.mean.as_nanos() as f64 / 1e3);
                write!(f, "stalls={}/{},seed={}", span(&s.length), span(&s.interval), s.seed)?;
                s.ranks.as_ref().map_or(Ok(()), |ranks| write!(f, ",ranks={}", core_list::show(ranks)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Injection {
        text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn every_injection_is_read() {
        assert_eq!(read("competitors"), Injection::Competitors(1));
        assert_eq!(read("competitors=3"), Injection::Competitors(3));
        assert_eq!(read("doubled"), Injection::Doubled);
        assert_eq!(read("quota=50%"), Injection::Quota(0.5));
        let Injection::Stalls(s) = read("stalls=exp:10ms/100ms") else { panic!() };
        assert_eq!(
            (s.length.mean, s.interval.mean, s.seed, s.ranks),
            (Duration::from_millis(10), Duration::from_millis(100), 1, None)
        );
        assert_eq!(
            (s.length.distribution, s.interval.distribution),
            (Distribution::Exponential, Distribution::Exponential)
        );
        let Injection::Stalls(s) = read("stalls=fixed:250us/uniform:1.5s,ranks=0-1,4,seed=9") else {
            panic!()
        };
        assert_eq!(
            (s.length.distribution, s.interval.distribution),
            (Distribution::Fixed, Distribution::Uniform)
        );
        assert_eq!((s.interval.mean, s.seed, s.ranks), (Duration::from_millis(1500), 9, Some(vec![0, 1, 4])));
        let Injection::Stalls(s) = read("stalls=fixed:1ms/2ms") else { panic!() };
        assert_eq!(s.interval.distribution, Distribution::Fixed, "the first distribution is for both");
    }

    #[test]
    fn what_is_written_is_read_back() {
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
    fn the_error_names_what_is_wrong() {
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
            ("stalls=normal:1ms/1ms", "not a distribution"),
            ("stalls=10/100", "not a duration"),
            ("stalls=1ms/1min", "not a duration"),
            ("stalls=1us/1ms", "between"),
            ("stalls=1ms/1ms,seed=x", "not a seed"),
            ("stalls=1ms/1ms,speed=1", "not known"),
            ("stalls=1ms/1ms,ranks=a", "not a list"),
            ("stalls=NaNs/1s", "not a duration"),
            ("", "not known"),
        ];
        for (text, words) in cases {
            let said = text.parse::<Injection>().expect_err(text).to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
