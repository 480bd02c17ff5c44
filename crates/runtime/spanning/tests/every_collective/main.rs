//! Every collective, carried out by the table over plain byte vectors, gives what MPI defines.
//!
//! [`program`] is a call of all ranks and what MPI says that becomes of it; [`carrying`] carries it out as
//! the table says, and checks that the lengths on both sides of every step agree. The twin breaks each entry
//! of each row of the table, one at a time: that must be found.

mod carrying;
mod elements;
mod program;

use carrying::carry_out;
use elements::{ELEMENT, Wrong, equal};
use evenkeel_spanning::cut::is_carried;
use evenkeel_spanning::stages::{NodeInput, stages};
use evenkeel_spanning::{CollectiveKind, LocalCollective, LocalMember, NodeMap, PieceDescription, Stages};
use program::{Case, Lengths, Program};

/// The node of each rank: equal and unequal numbers of ranks, in order and dealt out.
const NODES: [&[u32]; 7] = [
    &[0, 1],
    &[0, 0, 1, 1],
    &[0, 0, 0, 1],
    &[0, 1, 1, 1, 2, 2],
    &[0, 1, 0, 1],
    &[2, 0, 1, 0, 2, 0, 2],
    &[0, 1, 2, 3, 3],
];

fn carried() -> impl Iterator<Item = CollectiveKind> {
    CollectiveKind::ALL.into_iter().filter(|kind| is_carried(*kind) || *kind == CollectiveKind::ReduceScatter)
}

fn has_root(kind: CollectiveKind) -> bool {
    use CollectiveKind::*;
    matches!(kind, Bcast | Reduce | Gather | Scatter)
}

/// All cases of one collective.
fn cases(kind: CollectiveKind) -> Vec<Case> {
    use CollectiveKind::*;
    let elements: &[usize] = match kind {
        ReduceScatter | Allgatherv => &[0],
        ReduceScatterBlock => &[1, 400],
        _ => &[1, 5, 12],
    };
    let lengths: &[Lengths] = match kind {
        ReduceScatter | Allgatherv => &[Lengths::Short, Lengths::Long, Lengths::Unequal],
        _ => &[Lengths::Short],
    };
    let mut cases = Vec::new();
    for node_of in NODES {
        if matches!(kind, Scan | Exscan) && !NodeMap::new(node_of).is_in_order() {
            continue;
        }
        for root in 0..if has_root(kind) { node_of.len() } else { 1 } {
            for &elements in elements {
                cases.extend(lengths.iter().map(|&lengths| Case { kind, node_of, root, elements, lengths }));
            }
        }
    }
    cases
}

fn check(case: Case, breakage: Breakage) -> Result<(), Wrong> {
    let mut program = Program::new(case);
    let expected = program.expected();
    carry_out(&mut program, breakage)?;
    equal(program.recv == expected, true, "whether the result is what MPI defines")
}

#[test]
fn every_collective_gives_what_mpi_defines() {
    let mut checked = 0;
    for case in carried().flat_map(cases) {
        assert_eq!(check(case, |_| ()), Ok(()), "{case:?}");
        checked += 1;
    }
    assert!(checked > 400, "only {checked} cases");
}

/// What the twin does to a row of the table.
type Breakage = fn(&mut Stages);

/// Ways to be wrong, one or two for each entry of a row.
const BREAKAGES: [(&str, Breakage); 17] = [
    ("no up", |row| row.up = None),
    ("no down", |row| row.down = None),
    ("up is another", |row| change(&mut row.up, |up| up.kind = CollectiveKind::Allreduce)),
    ("down is another", |row| change(&mut row.down, |down| down.kind = CollectiveKind::Allreduce)),
    ("up has another root", |row| change(&mut row.up, |up| up.root = other(up.root))),
    ("down has another root", |row| change(&mut row.down, |down| down.root = other(down.root))),
    ("up is longer", |row| change(&mut row.up, |up| up.bytes += ELEMENT)),
    ("down is longer", |row| change(&mut row.down, |down| down.bytes += ELEMENT)),
    ("the agent contributes up", |row| change(&mut row.up, |up| up.from_agent += 1)),
    ("the agent contributes more", |row| change(&mut row.down, |down| down.from_agent += 1)),
    ("the agent gets less", |row| change(&mut row.up, |up| up.to_agent = up.to_agent.wrapping_sub(1))),
    ("the exchange is another", |row| row.exchange.kind = CollectiveKind::Alltoallw),
    ("the exchange is longer", |row| row.exchange.bytes += ELEMENT),
    ("the exchange has another root", |row| {
        let scheduled_from_root = row.exchange.kind == CollectiveKind::Reduce;
        row.exchange.root += usize::from(has_root(row.exchange.kind) && !scheduled_from_root);
    }),
    ("the schedule begins elsewhere", |row| {
        row.exchange.first_node += usize::from(row.exchange.kind == CollectiveKind::Reduce);
    }),
    ("the input is longer", |row| row.exchange.input_bytes += ELEMENT),
    ("nothing is brought in", |row| row.exchange.input = NodeInput::Nothing),
];

fn change(local: &mut Option<LocalCollective>, how: impl Fn(&mut LocalCollective)) {
    if let Some(local) = local {
        how(local);
    }
}

fn other(member: LocalMember) -> LocalMember {
    match member {
        LocalMember::Agent => LocalMember::Rank(0),
        LocalMember::Rank(_) => LocalMember::Agent,
    }
}

/// Whether a breakage changes any node's row for a case.
fn changes_a_row(case: Case, breakage: Breakage) -> bool {
    use CollectiveKind::*;
    let map = NodeMap::new(case.node_of);
    let kind = if case.kind == ReduceScatter { ReduceScatterBlock } else { case.kind };
    let piece = PieceDescription { kind, root: map.locations[case.root], bytes: ELEMENT, operator: 0 };
    (0..map.counts.nodes()).any(|node| {
        let row = stages(&piece, map.position(node));
        let mut broken = row;
        breakage(&mut broken);
        broken != row
    })
}

/// The twin: one wrong entry in a row gives a wrong result, or lengths that do not agree.
#[test]
fn a_broken_row_is_found() {
    for kind in carried() {
        for (what, breakage) in BREAKAGES {
            // Ranks contribute blocks of their own length to this one.
            if kind == CollectiveKind::Allgatherv && what == "up is longer" {
                continue;
            }
            let is_found = |case: &Case| {
                let outcome = std::panic::catch_unwind(|| check(*case, breakage));
                !matches!(outcome, Ok(Ok(())))
            };
            let changed: Vec<Case> =
                cases(kind).into_iter().filter(|case| changes_a_row(*case, breakage)).collect();
            assert!(changed.is_empty() || changed.iter().any(is_found), "{kind:?}: {what} is not found");
        }
    }
}
