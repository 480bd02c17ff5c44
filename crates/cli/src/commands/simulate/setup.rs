//! From words on the command line to what the simulator takes.

use super::arguments::{Leave, Multicast, Simulate};
use crate::errors::Failure;
use evenkeel_model::{LogGp, Model, Node, Parameters, builtin};
use evenkeel_schedule::{Algorithm, algorithms};
use evenkeel_schedule_sim::{
    Distribution, Fault, Leaving, Machine, Noise, SharedCores, Span, Trace, VirtualTime, Workload,
};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// A schedule's name and parameters, as typed.
#[derive(Clone, Debug)]
pub struct Named {
    pub algorithm: &'static Algorithm,
    set: Vec<(String, String)>,
}

impl FromStr for Named {
    type Err = String;
    fn from_str(text: &str) -> Result<Named, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let algorithm = algorithms::find(name).ok_or_else(|| {
            let near: Vec<&str> = algorithms::ALL
                .iter()
                .map(|a| a.name)
                .filter(|known| known.contains(name) || name.contains(known))
                .collect();
            let near = if near.is_empty() {
                "`evenkeel schedule list` lists them".into()
            } else {
                format!("there is {}", near.join(", "))
            };
            format!("there is no schedule `{name}`; {near}")
        })?;
        let pair = |part: &str| {
            part.split_once('=')
                .map(|(n, v)| (n.into(), v.into()))
                .ok_or_else(|| format!("`{part}` is no parameter: it must be NAME=VALUE"))
        };
        let set = rest.split(',').filter(|part| !part.is_empty()).map(pair).collect::<Result<_, String>>()?;
        Ok(Named { algorithm, set })
    }
}

impl Named {
    /// Parameters as numbers; `wrong` is made for a word that is none and no choice either.
    pub fn set<E>(&self, wrong: impl Fn(&str, &str, &str) -> E) -> Result<Vec<(&str, u32)>, E> {
        let value = |(name, word): &'_ (String, String)| match self
            .algorithm
            .parameters
            .iter()
            .find(|p| p.name == *name)
        {
            Some(parameter) => parameter.parse(word),
            // The schedule says itself what it has.
            None => Some(0),
        };
        self.set
            .iter()
            .map(|pair| {
                value(pair)
                    .map(|v| (pair.0.as_str(), v))
                    .ok_or_else(|| wrong(self.algorithm.name, &pair.0, &pair.1))
            })
            .collect()
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.algorithm.name)?;
        let set: Vec<String> = self.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if set.is_empty() { Ok(()) } else { write!(f, ":{}", set.join(",")) }
    }
}

/// `2,64,1000`, `2..1024` by doubling.
#[derive(Clone, Debug, PartialEq)]
pub struct RankCounts(pub Vec<u32>);

/// More would not fit into memory.
const MOST_RANKS: u32 = 1 << 24;

impl FromStr for RankCounts {
    type Err = String;
    fn from_str(text: &str) -> Result<RankCounts, String> {
        let number = |word: &str| match word.parse::<u32>() {
            Ok(n) if (1..=MOST_RANKS).contains(&n) => Ok(n),
            _ => Err(format!("`{word}` is no number of ranks: it must be between 1 and {MOST_RANKS}")),
        };
        let mut all = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                None => all.push(number(part)?),
                Some((from, to)) => {
                    let (from, to) = (number(from)?, number(to)?);
                    all.extend(
                        std::iter::successors(Some(from), |n| n.checked_mul(2)).take_while(|n| *n <= to),
                    );
                }
            }
        }
        if all.is_empty() {
            Err(format!("`{text}` contains no number of ranks"))
        } else {
            Ok(RankCounts(all))
        }
    }
}

/// What happens to a rank: `3=2.5`, `3=10us`, `3=10us+20ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Distortion(pub u32, pub Fault);

impl FromStr for Distortion {
    type Err = String;
    fn from_str(text: &str) -> Result<Distortion, String> {
        let wrong = || format!("`{text}` must be a rank, `=`, and what happens to it");
        let (rank, what) = text.split_once('=').ok_or_else(wrong)?;
        let rank = rank.parse().map_err(|_| wrong())?;
        let fault = match (what.split_once('+'), what.parse::<f64>()) {
            (Some((at, length)), _) => Fault::Stall { at: at.parse()?, length: length.parse()? },
            (None, Ok(factor)) if factor > 0.0 && factor.is_finite() => Fault::Slow(factor),
            (None, Ok(_)) => return Err(format!("`{what}` is no factor: it must be above 0")),
            (None, Err(_)) => Fault::Death(what.parse()?),
        };
        Ok(Distortion(rank, fault))
    }
}

/// What all runs of a command have in common.
pub struct Setting {
    pub parameters: Parameters,
    pub machine: Machine,
    /// The cores that ranks share, if they share some.
    pub cores: Option<SharedCores>,
    pub workload: Workload,
}

pub fn read(arguments: &Simulate) -> Result<Setting, Failure> {
    let mut parameters = machine(&arguments.machine)?;
    if let (Some(node), Some(ranks)) = (&arguments.node, arguments.ranks_per_node) {
        let within = machine(node)?;
        let model = within
            .node
            .as_ref()
            .map(|n| n.model)
            .or(within.network)
            .expect("checked: there is one of the two");
        let source = within.node.map_or(within.source, |n| n.source);
        parameters.node = Some(Node { source, model, ranks: Some(ranks), cores: None, switch_ns: None });
    }
    let wrong = |why: String| Failure::Simulate { why };
    let mut machine = Machine::new(&parameters)
        .map_err(|e| wrong(format!("the parameters of {} make no sense: {e}", parameters.name)))?;
    machine.multicast = [
        matches!(arguments.multicast, Multicast::Network | Multicast::All),
        matches!(arguments.multicast, Multicast::Node | Multicast::All),
    ];
    machine.repeats = arguments.multi_send;
    machine.work_per_byte_ps = arguments.work_per_byte * 1e3;
    let leaving = match arguments.leave {
        Leave::Strict => Leaving::Strict,
        Leave::Bypass => Leaving::Bypass { window: arguments.window },
    };
    let mut faults = Vec::new();
    let kinds: [(&[Distortion], fn(&Fault) -> bool, &str); 3] = [
        (&arguments.slow, |f| matches!(f, Fault::Slow(_)), "--slow takes a factor: 3=2.5"),
        (
            &arguments.stall,
            |f| matches!(f, Fault::Stall { .. }),
            "--stall takes a beginning and a length: 3=10us+20ms",
        ),
        (&arguments.dead, |f| matches!(f, Fault::Death(_)), "--dead takes a time: 3=50us"),
    ];
    for (given, fits, meant) in kinds {
        match given.iter().find(|d| !fits(&d.1)) {
            Some(_) => return Err(wrong(meant.into())),
            None => faults.extend(given.iter().map(|d| (d.0, d.1))),
        }
    }
    let noise = noise(&arguments.noise).map_err(wrong)?;
    let Simulate { iterations, compute, skew, seed, .. } = *arguments;
    let cores = shared_cores(arguments, &parameters, &machine).map_err(wrong)?;
    Ok(Setting {
        parameters,
        machine,
        cores,
        workload: Workload { iterations, compute, skew, noise, leaving, faults, seed },
    })
}

/// The cores that ranks are to share, and what handing one over takes.
fn shared_cores(
    arguments: &Simulate,
    parameters: &Parameters,
    machine: &Machine,
) -> Result<Option<SharedCores>, String> {
    let Some(cores) = arguments.cores else { return Ok(None) };
    let node = parameters.node.as_ref();
    let switch = arguments.switch.or_else(|| node.and_then(|n| n.switch_ns).map(VirtualTime::from_ns)).ok_or_else(|| {
        format!(
            "the parameters of {} do not say what handing over a core takes. Give --switch TIME, or a --machine that says it (two-core-vm, or a file \
             of `evenkeel model measure` with more ranks than cores)",
            parameters.name
        )
    })?;
    if switch == VirtualTime::ZERO {
        return Err("handing over a core for nothing (--switch 0) would leave no order of events: give it at least a picosecond".into());
    }
    let look = machine.links[evenkeel_schedule_sim::WITHIN_NODE].cost(1).latency;
    Ok(Some(SharedCores { cores, switch, look, work_per_byte_ps: machine.work_per_byte_ps }))
}

/// A built-in name, parameters themselves, or a file.
fn machine(text: &str) -> Result<Parameters, Failure> {
    if text.contains('=') {
        let failed =
            |why: String| Failure::Machine { given: text.into(), why, known: builtin::names().join(", ") };
        return inline(text).map(|model| Parameters::of_network(text, "command line", model)).map_err(failed);
    }
    crate::commands::model::command::load(text)
}

/// `L=1.5us,o=300ns,g=200ns,G=80ps`; what is left out is 0.
fn inline(text: &str) -> Result<Model, String> {
    let mut model = LogGp::logp(0.0, 0.0, 0.0);
    for part in text.split(',') {
        let (name, value) =
            part.split_once('=').ok_or_else(|| format!("`{part}` is no parameter: it must be NAME=TIME"))?;
        let ns = value.parse::<VirtualTime>()?.ns();
        match name {
            "L" => model.latency_ns = ns,
            "o" => (model.send_overhead_ns, model.receive_overhead_ns) = (ns, ns),
            "os" => model.send_overhead_ns = ns,
            "or" => model.receive_overhead_ns = ns,
            "g" => model.gap_ns = ns,
            "G" => model.gap_per_byte_ns = ns,
            _ => return Err(format!("`{name}` is no parameter: there are L, o, os, or, g and G")),
        }
    }
    Ok(model.into())
}

fn noise(text: &str) -> Result<Noise, String> {
    let pair = |text: &str| -> Result<(VirtualTime, VirtualTime), String> {
        let (length, period) =
            text.split_once('/').ok_or_else(|| format!("`{text}` lacks a period: periodic:LENGTH/PERIOD"))?;
        Ok((length.parse()?, period.parse()?))
    };
    if text == "none" {
        Ok(Noise::None)
    } else if let Some(rest) = text.strip_prefix("periodic:") {
        pair(rest).map(|(length, period)| Noise::Periodic { length, period, aligned: false })
    } else if let Some(rest) = text.strip_prefix("aligned:") {
        pair(rest).map(|(length, period)| Noise::Periodic { length, period, aligned: true })
    } else if Path::new(text).is_file() {
        measured(Path::new(text))
    } else if let Some((length, interval)) = text.split_once('/') {
        let length: Span = length.parse()?;
        let mut interval_span: Span = interval.parse()?;
        if interval_span.distribution == Distribution::Fixed && !interval.contains(':') {
            interval_span.distribution = length.distribution;
        }
        Ok(Noise::Random { length, interval: interval_span })
    } else {
        Err(format!(
            "`{text}` is no noise and no file: it must be none, LENGTH/INTERVAL, periodic:LENGTH/PERIOD, aligned:LENGTH/PERIOD, or a file that `evenkeel noise --trace` has written"
        ))
    }
}

fn measured(file: &Path) -> Result<Noise, String> {
    let failed = |why: String| {
        format!("{} cannot be read: {why}. `evenkeel noise --trace FILE` writes such files", file.display())
    };
    let content = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
    let gaps: evenkeel_noise::GapTrace = serde_json::from_str(&content).map_err(|e| failed(e.to_string()))?;
    if gaps.kind != "gaps" || gaps.schema != 1 {
        return Err(failed(format!("it is a `{}` of layout {}", gaps.kind, gaps.schema)));
    }
    let ns = |ns: u64| VirtualTime::from_ns(ns as f64);
    let trace = |core: &evenkeel_noise::CoreGaps| Trace {
        watched: ns(core.watched_ns),
        detours: core.gaps_ns.iter().map(|[start, length]| (ns(*start), ns(*length))).collect(),
    };
    Ok(Noise::MeasuredParameters(Arc::new(gaps.cores.iter().map(trace).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_or_doubled() {
        assert_eq!("3,16..100".parse(), Ok(RankCounts(vec![3, 16, 32, 64])));
        for wrong in ["", "0", "5..2", "x", "16777217"] {
            assert!(wrong.parse::<RankCounts>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn schedules_have_parameters_by_name() {
        let named: Named = "n-way-dissemination:n=3".parse().unwrap();
        assert_eq!(named.set(|_, _, _| ()).unwrap(), [("n", 3)]);
        assert_eq!(named.to_string(), "n-way-dissemination:n=3");
        assert!(
            "n-way-dissemination:n=x"
                .parse::<Named>()
                .unwrap()
                .set(|_, _, word| word.to_string())
                .is_err_and(|e| e == "x")
        );
        assert!("n-way".parse::<Named>().unwrap_err().contains("there is n-way-dissemination"));
        assert!("dissemination:3".parse::<Named>().is_err());
    }

    #[test]
    fn machines_can_be_written_down() {
        let Model::LogGp(model) = inline("L=1.5us,o=300ns,or=200ns,g=0,G=80ps").unwrap() else {
            panic!("it is LogGP")
        };
        assert_eq!(
            (model.latency_ns, model.send_overhead_ns, model.receive_overhead_ns, model.gap_per_byte_ns),
            (1500.0, 300.0, 200.0, 0.08)
        );
        for wrong in ["L", "L=", "L=3", "q=3us"] {
            assert!(inline(wrong).is_err(), "{wrong}");
        }
        assert!(machine("mozart-infiniband").is_ok());
        assert!(machine("nowhere").is_err_and(|e| e.to_string().contains("clic-fast-ethernet")));
    }

    #[test]
    fn noise_and_faults_are_read() {
        assert_eq!(
            noise("exp:20us/1ms"),
            Ok(Noise::Random { length: "exp:20us".parse().unwrap(), interval: "exp:1ms".parse().unwrap() })
        );
        assert_eq!(
            noise("exp:20us/fixed:1ms"),
            Ok(Noise::Random { length: "exp:20us".parse().unwrap(), interval: "1ms".parse().unwrap() })
        );
        assert_eq!(
            noise("aligned:2us/1ms"),
            Ok(Noise::Periodic {
                length: VirtualTime::from_ns(2e3),
                period: VirtualTime::from_ns(1e6),
                aligned: true
            })
        );
        assert!(noise("aligned:2us").is_err() && noise("loud").is_err());
        assert_eq!("3=2.5".parse(), Ok(Distortion(3, Fault::Slow(2.5))));
        assert_eq!(
            "3=10us+20ms".parse(),
            Ok(Distortion(
                3,
                Fault::Stall { at: VirtualTime::from_ns(1e4), length: VirtualTime::from_ns(2e7) }
            ))
        );
        assert_eq!("3=10us".parse(), Ok(Distortion(3, Fault::Death(VirtualTime::from_ns(1e4)))));
        for wrong in ["3", "x=2", "3=0", "3=-1", "3=1us+"] {
            assert!(wrong.parse::<Distortion>().is_err(), "{wrong}");
        }
    }
}
