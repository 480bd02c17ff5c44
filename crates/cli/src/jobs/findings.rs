//! Which ranks hold up which others, in sentences.

use super::inspection::Communicator;
use super::observation::{Observation, RankView, Standing};
use super::rank::{Call, CollectiveWait, Instance, Peer, Tag, has_root};
use super::wait_graph::{self, Need};
use super::waiting::{self, Needs};
use evenkeel_text::units::{duration, rank_ranges};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Ranks wait for ever: this is proved.
    Deadlock,
    /// Ranks wait for those of a deadlock.
    #[serde(rename = "deadlock")]
    BehindDeadlock,
    /// Ranks wait for each other, but something may be under way that frees them.
    Circle,
    /// Ranks have called different collectives.
    DifferentCollectives,
    /// Ranks wait for one whose process has ended.
    Exited,
    /// Ranks wait in a collective that others have not called.
    Missing,
    /// Ranks are in a collective of the MPI library's, others are not.
    NotInCollective,
    /// A rank waits for a message of one that does not wait.
    Message,
    /// Ranks wait, and it is not known for which others.
    Unknown,
}

/// A sentence, and the ranks that it blames or names first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// In order.
    pub ranks: Vec<u32>,
    /// For people.
    pub sentence: String,
}

/// What is found; empty if no rank holds up another one.
pub fn findings(seen: &Observation) -> Vec<Finding> {
    let needs = waiting::needs(seen);
    let stuck = wait_graph::stuck(&needs.proved);
    let mismatches = mismatches(seen);
    let mut found = different_collectives(seen, &mismatches);
    found.extend(deadlocks(seen, &needs, &stuck));
    found.extend(circles(seen, &needs, &stuck));
    found.extend(exited(seen, &needs));
    found.extend(missing(seen, &needs, &stuck));
    found.extend(not_in_collectives(seen, &needs, &mismatches));
    found.extend(messages(seen, &needs));
    found.extend(waits_for_unknown(seen, &needs, &mismatches));
    found
}

/// Whether it is proved that some ranks can never go on, and no rank has died of which the launcher will say
/// so.
pub fn is_deadlocked(seen: &Observation) -> bool {
    let has_died = |view: &RankView| view.standing == Standing::Exited { finished: false };
    !wait_graph::stuck(&waiting::needs(seen).proved).is_empty() && !seen.ranks.iter().any(has_died)
}

// ---- words ----

/// `Rank 3`, `Ranks 0-2, 5`.
fn subject(ranks: &[u32]) -> String {
    format!("{} {}", if ranks.len() == 1 { "Rank" } else { "Ranks" }, rank_ranges(ranks))
}

/// `waits`, `wait`.
fn waits(ranks: &[u32]) -> &'static str {
    if ranks.len() == 1 { "waits" } else { "wait" }
}

fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Where a rank is, as the end of a sentence: `it is …`.
fn whereabouts(view: &RankView) -> String {
    match &view.standing {
        Standing::Exited { finished: true } => "its process has ended after MPI_Finalize".into(),
        Standing::Exited { finished: false } => "its process has exited without MPI_Finalize".into(),
        Standing::Outside => format!("it is outside MPI, {}", view.activity.words()),
        Standing::Waiting(call) => format!("it is in {}", call_words(call)),
        Standing::GoingOn(_) => "it goes on with calls of MPI".into(),
    }
}

/// `MPI_Recv from rank 3, tag 5`.
pub fn call_words(call: &Call) -> String {
    let is_send = matches!(call.name.as_str(), "MPI_Send" | "MPI_Ssend" | "MPI_Rsend");
    let peer = match call.peer {
        Peer::World(rank) if has_root(&call.name) => format!(" with root {rank}"),
        Peer::World(rank) => format!(" {} rank {rank}", if is_send { "to" } else { "from" }),
        Peer::Any => " from any rank".into(),
        _ => String::new(),
    };
    let tag = match call.tag {
        Tag::Number(tag) if !peer.is_empty() => format!(", tag {tag}"),
        _ => String::new(),
    };
    format!("{}{peer}{tag}", call.name)
}

fn on_communicator(call: &Call) -> String {
    let words = call.communicator.as_ref().map(Communicator::words);
    words.map_or(String::new(), |words| format!(" on {words}"))
}

fn since(calls: &[&CollectiveWait]) -> String {
    let longest = calls.iter().map(|call| call.seconds).fold(0.0, f64::max);
    duration((longest * 1e9) as u64)
}

fn ranks_of(seen: &Observation, places: &[usize]) -> Vec<u32> {
    places.iter().map(|place| seen.ranks[*place].rank).collect()
}

fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

// ---- deadlocks ----

/// The sets of ranks that wait for each other for ever, and who waits for them.
fn deadlocks(seen: &Observation, needs: &Needs, stuck: &[usize]) -> Vec<Finding> {
    let mut found = Vec::new();
    let circles = wait_graph::circles(&needs.proved, stuck);
    for circle in &circles {
        let ranks = ranks_of(seen, circle);
        let sentence = format!("{}: deadlock.", wait_for_each_other(seen, needs, circle));
        found.push(Finding { kind: FindingKind::Deadlock, ranks, sentence });
    }
    let behind: Vec<usize> =
        stuck.iter().filter(|rank| !circles.iter().any(|circle| circle.contains(rank))).copied().collect();
    let is_behind_a_circle = |place: &usize| {
        wait_graph::needed(&needs.proved[*place]).iter().all(|needed| needs.proved[*needed] != Need::Gone)
    };
    let behind: Vec<u32> = ranks_of(seen, &behind.into_iter().filter(is_behind_a_circle).collect::<Vec<_>>());
    if !circles.is_empty() && !behind.is_empty() {
        let them = if matches!(circles.as_slice(), [circle] if circle.len() == 1) { "it" } else { "them" };
        let sentence = format!("{} {} for {them} and cannot go on either.", subject(&behind), waits(&behind));
        found.push(Finding { kind: FindingKind::BehindDeadlock, ranks: behind, sentence });
    }
    found
}

/// `Ranks 0 and 1 wait for each other in MPI_Recv`, without a full stop.
fn wait_for_each_other(seen: &Observation, needs: &Needs, circle: &[usize]) -> String {
    /// A circle of more ranks is not told rank by rank.
    const SHOWN: usize = 6;
    let ranks = ranks_of(seen, circle);
    let mut names: Vec<&str> =
        circle.iter().filter_map(|place| Some(seen.ranks[*place].waits_in()?.name.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    let names: Vec<String> = names.into_iter().map(str::to_string).collect();
    let subject = if ranks.len() <= SHOWN {
        format!("Ranks {}", list(&ranks.iter().map(u32::to_string).collect::<Vec<_>>()))
    } else {
        subject(&ranks)
    };
    if let [one] = ranks.as_slice() {
        return format!("Rank {one} waits for itself in {}", list(&names));
    }
    let mut sentence = format!("{subject} wait for each other in {}", list(&names));
    if (3..=SHOWN).contains(&ranks.len()) || names.len() > 1 && ranks.len() <= SHOWN {
        let one = |place: &usize| {
            let needed = ranks_of(seen, wait_graph::needed(&needs.told[*place]));
            let call = seen.ranks[*place].waits_in().map_or(String::new(), call_words);
            format!("{} in {call} for {}", seen.ranks[*place].rank, rank_ranges(&needed))
        };
        sentence += &format!(" ({})", circle.iter().map(one).collect::<Vec<_>>().join("; "));
    }
    sentence
}

/// Ranks that wait for each other as far as their calls tell, where that is not proved to be for ever.
fn circles(seen: &Observation, needs: &Needs, stuck: &[usize]) -> Vec<Finding> {
    let open: Vec<usize> = (0..seen.ranks.len()).filter(|place| !stuck.contains(place)).collect();
    let circles = wait_graph::circles(&needs.told, &open);
    let all_wait_for_all =
        |circle: &Vec<usize>| circle.iter().all(|place| matches!(needs.told[*place], Need::All(_)));
    let one = |circle: Vec<usize>| {
        let reason = needs.doubt.map_or("a send may end before its message is received", |it| it.reason());
        let sentence = format!(
            "{}. That this is a deadlock is not proved: {reason}.",
            wait_for_each_other(seen, needs, &circle)
        );
        Finding { kind: FindingKind::Circle, ranks: ranks_of(seen, &circle), sentence }
    };
    circles.into_iter().filter(all_wait_for_all).map(one).collect()
}

// ---- collectives ----

/// Places of the ranks in a collective, by what tells it apart.
type Groups<'a, K> = BTreeMap<K, Vec<(usize, &'a Call)>>;

fn groups<'a, K: Ord>(seen: &'a Observation, key: impl Fn(&'a Call) -> Option<K>) -> Groups<'a, K> {
    let mut groups: Groups<'a, K> = BTreeMap::new();
    for (place, view) in seen.ranks.iter().enumerate() {
        let Some(call) = view.waits_in() else { continue };
        if let Some(key) = key(call) {
            groups.entry(key).or_default().push((place, call));
        }
    }
    groups
}

/// Tells the collectives of a job apart, by what carries them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Collective {
    /// evenkeel.
    Own(Instance),
    /// The MPI library: the communicator, and the number of the call.
    OfHost(u64, u64),
}

fn collective(call: &Call) -> Option<Collective> {
    let own = call.collective.as_ref().map(|wait| Collective::Own(wait.instance));
    own.or(call.host_collective.map(|it| Collective::OfHost(it.of, it.called)))
}

/// A number, and the ranks that wait in the collective of a communicator with this number, by their places.
type Mismatch<'a> = (u64, Vec<(usize, &'a Call)>);

/// Ranks that wait in a collective of a communicator, each in the one with the same number, but not all in
/// the same function.
fn mismatches(seen: &Observation) -> Vec<Mismatch<'_>> {
    let by_ordinal = groups(seen, |call| match (&call.collective, call.host_collective) {
        (Some(wait), _) => Some((Some(wait.instance.host), wait.instance.block, wait.ordinal?)),
        (None, host) => host.map(|it| (None, it.of, it.called)),
    });
    let differ =
        |(_, members): &(_, Vec<(usize, &Call)>)| members.iter().any(|it| it.1.name != members[0].1.name);
    by_ordinal.into_iter().map(|((.., number), members)| (number, members)).filter(differ).collect()
}

/// Ranks whose so-and-so-manieth collective of a communicator is another one than that of the others.
fn different_collectives(seen: &Observation, mismatches: &[Mismatch]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, members) in mismatches {
        let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (place, call) in members {
            by_name.entry(&call.name).or_default().push(seen.ranks[*place].rank);
        }
        let mut by_name: Vec<(&str, Vec<u32>)> = by_name.into_iter().collect();
        by_name.sort_by_key(|(_, ranks)| ranks.len());
        let communicator = on_communicator(members[0].1).replacen(" on ", " of ", 1);
        let [(name, ranks), others @ ..] = by_name.as_slice() else { continue };
        let others = others.iter().map(|(name, ranks)| format!("{} {name}", rank_words(ranks)));
        let sentence = format!(
            "{} called {name} as {} {} collective{communicator}{}, {}.",
            subject(ranks),
            if ranks.len() == 1 { "its" } else { "their" },
            ordinal(*number),
            if members[0].1.collective.is_some() { "" } else { " that the MPI library carries out" },
            list(&others.collect::<Vec<_>>())
        );
        found.push(Finding { kind: FindingKind::DifferentCollectives, ranks: ranks.clone(), sentence });
    }
    found
}

/// `rank 3`, `ranks 0-2`.
fn rank_words(ranks: &[u32]) -> String {
    format!("{} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, rank_ranges(ranks))
}

/// Ranks that have not called a collective in which others wait for them.
fn missing(seen: &Observation, needs: &Needs, stuck: &[usize]) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((name, _), members) in groups(seen, |call| Some((call.name.as_str(), collective(call)?))) {
        let late = |(place, _): &(usize, &Call)| wait_graph::needed(&needs.told[*place]);
        let mut places: Vec<usize> = members.iter().flat_map(late).copied().collect();
        places.sort_unstable();
        places.dedup();
        // What holds these up is told already, by the deadlock or by the process that has ended.
        places.retain(|place| !stuck.contains(place) && needs.told[*place] != Need::Gone);
        if places.is_empty() {
            continue;
        }
        let waits: Vec<&CollectiveWait> =
            members.iter().filter_map(|(_, call)| call.collective.as_ref()).collect();
        let since = if waits.is_empty() { String::new() } else { format!(" (since {})", since(&waits)) };
        let others = match members.len() {
            1 => format!("rank {} waits", seen.ranks[members[0].0].rank),
            count => format!("{count} others wait"),
        };
        let ranks = ranks_of(seen, &places);
        let sentence = format!(
            "{} {} not called {name}{}, in which {others}{since}: {}.",
            subject(&ranks),
            if ranks.len() == 1 { "has" } else { "have" },
            on_communicator(members[0].1),
            whereabouts_of_all(seen, &places)
        );
        let do_all_wait = places.iter().all(|place| needs.told[*place] != Need::Nothing);
        let has_waiting = places.iter().any(|place| needs.told[*place] != Need::Nothing);
        found.push(((do_all_wait, has_waiting), Finding { kind: FindingKind::Missing, ranks, sentence }));
    }
    // A rank that waits for others is not at fault: first come waits for ranks that do not wait.
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().map(|(_, finding)| finding).collect()
}

/// Where these are; each by itself if they are few.
fn whereabouts_of_all(seen: &Observation, places: &[usize]) -> String {
    const SHOWN: usize = 4;
    match places {
        [one] => whereabouts(&seen.ranks[*one]),
        some => {
            let one = |place: &usize| {
                let view = &seen.ranks[*place];
                format!("rank {}: {}", view.rank, whereabouts(view))
            };
            let more = some.len().saturating_sub(SHOWN);
            let text = some.iter().take(SHOWN).map(one).collect::<Vec<_>>().join("; ");
            if more > 0 { format!("{text}; and {more} more") } else { text }
        }
    }
}

/// A collective, by what is known of it where it cannot be told which ranks are waited for: its name, whether
/// evenkeel carries it out, and the members of its communicator.
type Gathering<'a> = (&'a str, bool, &'a [u32]);

/// The ranks in collectives that the MPI library carries out, or evenkeel between nodes.
fn gatherings(seen: &Observation) -> Groups<'_, Gathering<'_>> {
    groups(seen, |call| {
        let is_own = call.collective.as_ref().map(|wait| wait.spans_nodes);
        let members = &call.communicator.as_ref()?.members;
        let is_meant = is_own.unwrap_or_else(|| is_collective(call));
        is_meant.then_some((call.name.as_str(), is_own.is_some(), members.as_slice()))
    })
}

/// Whether it is told already which ranks one waits for, or what it has called in place of others.
fn is_told(place: usize, needs: &Needs, mismatches: &[Mismatch]) -> bool {
    needs.told[place] != Need::Nothing
        || mismatches.iter().any(|(_, members)| members.iter().any(|(other, _)| *other == place))
}

/// Collectives of which it is not always known which ranks are waited for, only which are not there.
fn not_in_collectives(seen: &Observation, needs: &Needs, mismatches: &[Mismatch]) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((name, is_own, members), calls) in gatherings(seen) {
        let places: Vec<usize> = calls.into_iter().map(|(place, _)| place).collect();
        if places.iter().any(|place| is_told(*place, needs, mismatches)) {
            continue;
        }
        let there = ranks_of(seen, &places);
        let absent: Vec<usize> = members
            .iter()
            .filter(|rank| !there.contains(rank))
            .filter_map(|rank| seen.place_of(*rank))
            .collect();
        if absent.is_empty() {
            continue;
        }
        let ranks = ranks_of(seen, &absent);
        let call = seen.ranks[places[0]].waits_in().map_or(String::new(), on_communicator);
        let sentence = format!(
            "{} {} in {name}{call}, which {} carries out; {} not: {}.",
            subject(&there),
            if there.len() == 1 { "is" } else { "are" },
            if is_own { "evenkeel" } else { "the MPI library" },
            format_args!("{} {}", rank_words(&ranks), if ranks.len() == 1 { "is" } else { "are" }),
            whereabouts_of_all(seen, &absent)
        );
        found.push(Finding { kind: FindingKind::NotInCollective, ranks, sentence });
    }
    found
}

/// Whether all members of a communicator make this call together, and it may wait. What has a tag is a
/// message, or concerns some members only.
fn is_collective(call: &Call) -> bool {
    let is_nonblocking = call.name.starts_with("MPI_I") && !call.name.starts_with("MPI_Intercomm");
    call.tag == Tag::None && !is_nonblocking
}

/// Ranks that wait, as for requests, where it is not known for which others; and those that do not wait.
fn waits_for_unknown(seen: &Observation, needs: &Needs, mismatches: &[Mismatch]) -> Vec<Finding> {
    let gatherings = gatherings(seen);
    let is_gathered = |place: usize| gatherings.values().flatten().any(|(other, _)| *other == place);
    let mut by_call: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, view) in seen.ranks.iter().enumerate() {
        let Some(call) = view.waits_in() else { continue };
        if call.collective.is_none() && !is_gathered(place) && !is_told(place, needs, mismatches) {
            by_call.entry(&call.name).or_default().push(place);
        }
    }
    if by_call.is_empty() {
        return Vec::new();
    }
    let is_outside = |place: &usize| {
        matches!(seen.ranks[*place].standing, Standing::Outside | Standing::Exited { finished: false })
    };
    let outside: Vec<usize> = (0..seen.ranks.len()).filter(is_outside).collect();
    let waiting = by_call.iter().map(|(name, places)| {
        let ranks = ranks_of(seen, places);
        format!("{} {} in {name}", rank_words(&ranks), waits(&ranks))
    });
    let sentence = capitalized(&list(&waiting.collect::<Vec<_>>())) + ", for which other ranks is not known";
    let ranks = ranks_of(seen, &outside);
    let sentence = if outside.is_empty() {
        format!("{sentence}.")
    } else {
        let (whose, do_not) = (rank_words(&ranks), if ranks.len() == 1 { "does not" } else { "do not" });
        format!("{sentence}; {whose} {do_not}: {}.", whereabouts_of_all(seen, &outside))
    };
    vec![Finding { kind: FindingKind::Unknown, ranks, sentence }]
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

// ---- messages, and ends of processes ----

/// Ranks that wait for one whose process has ended, or is in MPI_Finalize.
fn exited(seen: &Observation, needs: &Needs) -> Vec<Finding> {
    let mut found = Vec::new();
    for (gone, view) in seen.ranks.iter().enumerate() {
        if needs.told[gone] != Need::Gone {
            continue;
        }
        let waiting = |place: &usize| match &needs.told[*place] {
            Need::All(needed) => needed.contains(&gone),
            _ => false,
        };
        let waiting: Vec<usize> = (0..seen.ranks.len()).filter(waiting).collect();
        let Some(call) = waiting.first().and_then(|place| seen.ranks[*place].waits_in()) else { continue };
        let ranks = ranks_of(seen, &waiting);
        let state = whereabouts(view);
        let sentence = format!(
            "{} {} in {} for rank {}, but {state}.",
            subject(&ranks),
            waits(&ranks),
            call.name,
            view.rank
        );
        found.push(Finding { kind: FindingKind::Exited, ranks: vec![view.rank], sentence });
    }
    found
}

/// Ranks that wait for a message of a rank that does not wait itself.
fn messages(seen: &Observation, needs: &Needs) -> Vec<Finding> {
    let mut found = Vec::new();
    for (place, view) in seen.ranks.iter().enumerate() {
        let Some(call) = view.waits_in().filter(|call| collective(call).is_none()) else { continue };
        let Need::All(needed) = &needs.told[place] else { continue };
        let [other] = needed.as_slice() else { continue };
        if needs.told[*other] != Need::Nothing {
            continue;
        }
        let sentence = format!(
            "Rank {} waits in {}; rank {}: {}.",
            view.rank,
            call_words(call),
            seen.ranks[*other].rank,
            whereabouts(&seen.ranks[*other])
        );
        found.push(Finding { kind: FindingKind::Message, ranks: vec![seen.ranks[*other].rank], sentence });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::rank::Call;

    fn seen(standings: Vec<Standing>) -> Observation {
        let ranks: Vec<RankView> =
            (0..).zip(standings).map(|(rank, standing)| RankView::example(rank, standing)).collect();
        Observation { hosts: vec!["here".into()], ranks_in_all: ranks.len(), ranks }
    }

    fn waits_in(name: &str, peer: Peer, communicator: Option<Communicator>) -> Standing {
        let (collective, host_collective) = (None, None);
        Standing::Waiting(Call {
            name: name.into(),
            communicator,
            peer,
            tag: if peer == Peer::None { Tag::None } else { Tag::Any },
            collective,
            host_collective,
        })
    }

    fn sentences(standings: Vec<Standing>) -> Vec<String> {
        findings(&seen(standings)).into_iter().map(|finding| finding.sentence).collect()
    }

    #[test]
    fn a_rank_that_waits_is_always_told() {
        let requests = || waits_in("MPI_Wait", Peer::None, None);
        let fence = waits_in("MPI_Win_fence", Peer::None, None);
        assert_eq!(
            sentences(vec![requests(), fence, Standing::Outside, requests()]),
            ["Ranks 0, 3 wait in MPI_Wait and rank 1 waits in MPI_Win_fence, for which other ranks is not \
                 known; rank 2 does not: it is outside MPI, running."]
        );
        assert_eq!(
            sentences(vec![requests(), requests()]),
            ["Ranks 0-1 wait in MPI_Wait, for which other ranks is not known."]
        );
        assert!(sentences(vec![Standing::Outside, Standing::GoingOn(None)]).is_empty());
    }

    #[test]
    fn who_waits_for_a_known_rank_or_in_a_collective_is_told_once() {
        let world = || Some(Communicator { name: "world".into(), members: vec![0, 1, 2] });
        let receive = waits_in("MPI_Recv", Peer::World(1), world());
        assert_eq!(
            sentences(vec![receive, Standing::Outside, Standing::Outside]),
            ["Rank 0 waits in MPI_Recv from rank 1; rank 1: it is outside MPI, running."]
        );
        let split = || waits_in("MPI_Comm_split", Peer::None, world());
        assert_eq!(
            sentences(vec![split(), split(), Standing::Outside]),
            ["Ranks 0-1 are in MPI_Comm_split on world (3 ranks), which the MPI library carries out; rank \
                 2 is not: it is outside MPI, running."]
        );
        assert!(sentences(vec![split(), split(), split()]).is_empty(), "all members are there");
        let starts = waits_in("MPI_Iallreduce", Peer::None, world());
        assert_eq!(
            sentences(vec![starts, Standing::Outside, Standing::Outside])[0].split(';').next(),
            Some("Rank 0 waits in MPI_Iallreduce, for which other ranks is not known"),
            "a rank that has lost its core in a call that does not wait"
        );
    }

    #[test]
    fn an_exchange_waits_for_its_source_and_a_rank_may_wait_for_itself() {
        let world = || Some(Communicator { name: "world".into(), members: vec![0, 1] });
        let exchange = |peer| waits_in("MPI_Sendrecv", Peer::World(peer), world());
        let told = sentences(vec![exchange(1), exchange(0)]);
        assert!(told[0].starts_with("Ranks 0 and 1 wait for each other in MPI_Sendrecv. "), "{told:?}");
        let itself = sentences(vec![waits_in("MPI_Send", Peer::World(0), world()), Standing::Outside]);
        assert!(itself[0].starts_with("Rank 0 waits for itself in MPI_Send. "), "{itself:?}");
    }
}
