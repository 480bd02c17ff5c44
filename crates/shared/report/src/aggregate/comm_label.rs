//! What reports call communicators: the name that the program gave, and what they are among all ranks.

use crate::digest::CommDigest;
use std::collections::BTreeMap;

/// How many members are listed one by one.
const LISTED: usize = 8;

/// Gives each communicator a label that no other one has. The world has so many ranks.
pub(super) fn label(comms: &mut [CommDigest], world: usize) {
    for c in comms.iter_mut() {
        c.label = match (c.name.trim(), shape(&c.members, world)) {
            ("" | "MPI_COMM_WORLD" | "MPI_COMM_SELF", shape) => shape,
            (name, shape) => format!("{name}, {shape}"),
        };
    }
    number_equal_labels(comms);
}

/// Programs duplicate communicators, and give all rows of a grid the same name.
fn number_equal_labels(comms: &mut [CommDigest]) {
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    comms.iter().for_each(|c| *times.entry(c.label.clone()).or_default() += 1);
    times.retain(|_, times| *times > 1);
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for c in comms.iter_mut().filter(|c| times.contains_key(&c.label)) {
        let number = seen.entry(c.label.clone()).or_default();
        *number += 1;
        c.label += &format!(" #{number}");
    }
}

/// What members are among the ranks of the world: "world", or as "row of 4 (0,4,8,12)".
fn shape(members: &[u32], world: usize) -> String {
    match (members, step(members)) {
        ([], _) => "no ranks of this run".into(),
        ([rank], _) => format!("rank {rank} alone"),
        ([0, ..], Some(1)) if members.len() == world => "world".into(),
        (_, Some(_)) => format!("row of {} ({})", members.len(), list(members)),
        (_, None) => format!("{} ranks ({})", members.len(), list(members)),
    }
}

/// The distance from each member to the next, if it is always the same and they ascend.
fn step(members: &[u32]) -> Option<u32> {
    let distance = |pair: &[u32]| pair[1].checked_sub(pair[0]).filter(|step| *step > 0);
    let first = members.windows(2).next().and_then(distance)?;
    members.windows(2).all(|pair| distance(pair) == Some(first)).then_some(first)
}

/// Some of the members: the first ones, and the last one.
fn list(members: &[u32]) -> String {
    let text = |ranks: &[u32]| ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match members {
        [first @ .., last] if members.len() > LISTED => format!("{},…,{last}", text(&first[..3])),
        _ => text(members),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(comms: &[(&str, &[u32])]) -> Vec<String> {
        let comm = |&(name, members): &(&str, &[u32])| CommDigest {
            name: name.into(),
            members: members.to_vec(),
            ..Default::default()
        };
        let mut comms: Vec<CommDigest> = comms.iter().map(comm).collect();
        label(&mut comms, 16);
        comms.into_iter().map(|c| c.label).collect()
    }

    #[test]
    fn communicators_are_called_what_they_are() {
        let world: Vec<u32> = (0..16).collect();
        let evens: Vec<u32> = (0..9).map(|i| 2 * i).collect();
        assert_eq!(
            labels(&[
                ("MPI_COMM_WORLD", &world),
                ("", &[0, 4, 8, 12]),
                ("", &[4, 5, 6]),
                ("", &[7, 3]),
                ("", &[1, 2, 4]),
                ("", &evens),
                ("MPI_COMM_SELF", &[5]),
                ("", &[]),
            ]),
            [
                "world",
                "row of 4 (0,4,8,12)",
                "row of 3 (4,5,6)",
                "2 ranks (7,3)",
                "3 ranks (1,2,4)",
                "row of 9 (0,2,4,…,16)",
                "rank 5 alone",
                "no ranks of this run"
            ]
        );
    }

    #[test]
    fn names_that_the_program_gave_come_first() {
        assert_eq!(labels(&[("pressure", &[1, 3])]), ["pressure, row of 2 (1,3)"]);
    }

    #[test]
    fn no_two_communicators_have_the_same_label() {
        let world: Vec<u32> = (0..16).collect();
        let found = labels(&[("MPI_COMM_WORLD", &world), ("", &[1, 2]), ("", &world), ("", &world)]);
        assert_eq!(found, ["world #1", "row of 2 (1,2)", "world #2", "world #3"]);
    }
}
