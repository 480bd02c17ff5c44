//! Hosts on which evenkeel starts processes itself: who goes where, and how the nodes are reached.

use crate::errors::LaunchError;
use crate::output::outcome::Outcome;
use evenkeel_node::{HostJob, NodeSettings, Place, RemoteShell};
use std::ffi::OsString;

/// How many nodes one node starts at most, if the user does not say.
pub const DEFAULT_FANOUT: usize = 16;
/// How long the start of one node may take, milliseconds.
const START_MS: u64 = 60_000;
/// The largest number behind a host's name.
const MOST_PER_HOST: u32 = 65_536;
/// The largest number of processes on all hosts. Ranks are counted in 32 bits.
const MOST_PROCESSES: u32 = 1 << 20;

/// A host that the user names, and how many processes it takes, if that is said.
type NamedHost = (String, Option<u32>);

/// The hosts of a list such as `a:4,b:4` or `a,b`.
fn named(list: &str) -> Result<Vec<NamedHost>, LaunchError> {
    let mut found: Vec<NamedHost> = Vec::new();
    for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        // An address of IPv6 has more than one colon.
        let (host, slots) = match text.split_once(':') {
            Some((host, slots)) if !slots.contains(':') => (host, Some(slots)),
            _ => (text, None),
        };
        let slots = match slots.map(str::parse::<u32>) {
            None => None,
            Some(Ok(slots)) if (1..=MOST_PER_HOST).contains(&slots) => Some(slots),
            Some(_) => {
                return Err(LaunchError::HostSlots { given: text.to_string(), most: MOST_PER_HOST });
            }
        };
        if host.starts_with('+') {
            return Err(LaunchError::RelativeHost { given: text.to_string() });
        }
        // A name that begins so would be an option of the remote shell.
        if host.is_empty() || host.starts_with('-') || host.contains(char::is_whitespace) {
            return Err(LaunchError::NoHost { given: text.to_string() });
        }
        if found.iter().any(|(known, _)| known == host) {
            return Err(LaunchError::HostTwice { host: host.to_string() });
        }
        found.push((host.to_string(), slots));
    }
    if found.is_empty() { Err(LaunchError::NoHost { given: list.to_string() }) } else { Ok(found) }
}

/// `per_host` processes on each host; a number behind a host's name counts instead.
pub fn places_of_commands(list: &str, per_host: u32) -> Result<Vec<Place>, LaunchError> {
    let named = named(list)?;
    placed(named.into_iter().map(|(host, slots)| (host, slots.unwrap_or(per_host))).collect())
}

/// `ranks` in blocks: as many on each host as it has slots, or as evenly as possible. Hosts that get none are
/// left out.
pub fn places_of_ranks(list: &str, ranks: u32) -> Result<Vec<Place>, LaunchError> {
    let named = named(list)?;
    let count = named.len() as u32;
    let has_slots = named.iter().any(|(_, slots)| slots.is_some());
    let share = |number: u32| ranks / count + u32::from(number < ranks % count);
    let mut left = ranks;
    let mut counts = Vec::new();
    for (number, (host, slots)) in (0..).zip(named) {
        let wanted = if has_slots { slots.unwrap_or(1) } else { share(number) };
        let here = wanted.min(left);
        left -= here;
        counts.push((host, here));
    }
    if left > 0 {
        return Err(LaunchError::TooFewSlots { ranks, slots: ranks - left });
    }
    counts.retain(|(_, here)| *here > 0);
    placed(counts)
}

fn placed(counts: Vec<(String, u32)>) -> Result<Vec<Place>, LaunchError> {
    let total: u64 = counts.iter().map(|(_, ranks)| u64::from(*ranks)).sum();
    if total > u64::from(MOST_PROCESSES) {
        return Err(LaunchError::TooManyProcesses { total, most: MOST_PROCESSES });
    }
    let mut first_rank = 0;
    let place = |(number, (host, ranks))| {
        let place = Place { host, number, ranks, first_rank };
        first_rank += ranks;
        place
    };
    Ok((0..).zip(counts).map(place).collect())
}

/// Settings from options that have been checked.
pub fn settings(
    shell: RemoteShell,
    fanout: usize,
    patience_ms: &str,
    network: &str,
    ports: &str,
) -> NodeSettings {
    let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
    let port = |text: &str| text.trim().parse().unwrap_or(0);
    NodeSettings {
        shell,
        fanout,
        // Of a shorter time a busy machine would take a tenth for a sign of death.
        patience_ms: patience_ms.parse().unwrap_or(2000).max(100),
        network: network.to_string(),
        ports: (port(first), port(last)),
        start_time_ms: START_MS,
    }
}

/// Runs a job on these hosts. Returns its exit code; if a person has ended it by a signal, this process ends
/// by the same one, so that shells see why.
pub fn run(places: &[Place], job: HostJob, settings: NodeSettings) -> Result<Outcome, LaunchError> {
    let ended = evenkeel_node::run(places, job, settings)?;
    if let Some(sentence) = ended.sentence {
        eprintln!("evenkeel: {sentence}");
    }
    if let Some(number) = ended.signal {
        evenkeel_launch::die_of(number);
    }
    Ok(Outcome::of_program(ended.code))
}

/// This process's environment with further variables.
pub fn environment(more: Vec<(String, String)>) -> Vec<(OsString, OsString)> {
    let more: Vec<(OsString, OsString)> =
        more.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    let is_new = |name: &OsString| more.iter().all(|(other, _)| other != name);
    let own: Vec<_> = std::env::vars_os().filter(|(name, _)| is_new(name)).collect();
    own.into_iter().chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(list: &str, ranks: u32) -> Vec<(String, u32, u32)> {
        let places = places_of_ranks(list, ranks).unwrap();
        places.into_iter().map(|place| (place.host, place.first_rank, place.ranks)).collect()
    }

    #[test]
    fn ranks_are_placed_in_blocks() {
        let of = |host: &str, first, count| (host.to_string(), first, count);
        assert_eq!(ranks("a,b,c", 8), [of("a", 0, 3), of("b", 3, 3), of("c", 6, 2)]);
        assert_eq!(ranks("a:4,b:4", 6), [of("a", 0, 4), of("b", 4, 2)]);
        assert_eq!(ranks("a:4,b", 5), [of("a", 0, 4), of("b", 4, 1)]);
        assert_eq!(ranks("a,b,c", 2), [of("a", 0, 1), of("b", 1, 1)]);
        assert_eq!(ranks("fe80::1,b:1", 2).len(), 2);
        let places = places_of_commands("a,b:3", 2).unwrap();
        assert_eq!(places.iter().map(|place| place.ranks).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn lists_that_are_none_are_refused_by_a_sentence() {
        let said = |list: &str| places_of_ranks(list, 4).unwrap_err().to_string();
        assert!(said("a,b,a").contains("host a is named twice"));
        assert!(said("a:0").contains("a:0") && said("a:x").contains("a:x"));
        assert!(said("a:65537").contains("a number of processes, from 1 to 65536"));
        assert!(said("a:99999999999").contains("from 1 to 65536"));
        assert!(said("").contains("--hosts") && said("-oProxyCommand=x").contains("-oProxyCommand"));
        assert!(said("a:1,b:2").contains("3"));
        for given in ["+n0", "+e", "+e:2"] {
            let said = said(&format!("a,{given}"));
            assert!(said.contains(&format!("`{given}`")) && said.contains("--launcher-args"), "{said}");
        }
    }

    #[test]
    fn a_job_of_more_processes_than_are_counted_is_refused_by_a_sentence() {
        let list = |hosts: u32| (0..hosts).map(|n| format!("h{n}:65536")).collect::<Vec<_>>().join(",");
        assert_eq!(places_of_commands(&list(16), 1).unwrap().len(), 16);
        let said = places_of_commands(&list(17), 1).unwrap_err().to_string();
        assert!(said.contains("1114112 processes") && said.contains("1048576 at most"), "{said}");
        assert!(places_of_ranks("a,b", u32::MAX).is_err());
    }

    #[test]
    fn settings_are_read_from_options() {
        let shell = RemoteShell::parse("ssh").unwrap();
        assert_eq!(settings(shell.clone(), 4, "2000", "auto", "").ports, (0, 0));
        assert_eq!(settings(shell.clone(), 4, "2000", "auto", "7000").ports, (7000, 7000));
        let found = settings(shell, 4, "1", "auto", "10-20");
        assert_eq!((found.ports, found.patience_ms), ((10, 20), 100));
    }
}
