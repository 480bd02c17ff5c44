//! Members of a communicator make the same collectives in the same order, with arguments that fit.

use super::message::signature;
use crate::arguments::{Field, FunctionLayout, Words};
use crate::finding::{Finding, Rule, Severity};
use crate::history::{Collective, Data};
use crate::run::Run;
use crate::signature::Comparison;
use evenkeel_trace::checks::file;
use evenkeel_trace::checks::format::IN_PLACE;

const ORDER: &str = "MPI 5.0, 6.14 Correctness";
const BLOCKING: &str = "MPI 5.0, 6.12 Nonblocking Collective Operations";
const ARGUMENTS: &str = "MPI 5.0, 6.1 Introduction and Overview";
const DATA: &str = "MPI 5.0, 6.1 Introduction and Overview (type signatures)";
const OPERATORS: &str = "MPI 5.0, 6.9 Global Reduction Operations";

/// A member's call of one collective.
struct Member<'a> {
    rank: u32,
    /// Its place in the communicator.
    position: usize,
    collective: &'a Collective,
    base: &'a str,
    words: Words<'a>,
}

impl Member<'_> {
    fn get(&self, field: Field) -> Option<i64> {
        self.words.get(field)
    }

    fn is_in_place(&self, field: Field) -> bool {
        self.get(field) == Some(IN_PLACE)
    }
}

/// Looks at the collectives of all communicators.
pub fn check(run: &Run, findings: &mut Vec<Finding>) {
    if !run.is_ordered {
        return;
    }
    let layouts: Vec<Vec<FunctionLayout>> =
        run.files.iter().map(|file| file.functions.iter().map(FunctionLayout::new).collect()).collect();
    for number in 0..run.communicators.count() as u32 {
        let members = run.communicators.members(number);
        let first = &run.ranks[members[0].0 as usize].comms[members[0].1 as usize].comm;
        // All of them must be known: those of other worlds are not.
        if members.len() < 2 || !first.remote.is_empty() || first.members.len() != members.len() {
            continue;
        }
        check_communicator(run, &layouts, members, findings);
    }
}

fn check_communicator(
    run: &Run,
    layouts: &[Vec<FunctionLayout>],
    members: &[(u32, u32)],
    findings: &mut Vec<Finding>,
) {
    let group = &run.ranks[members[0].0 as usize].comms[members[0].1 as usize].comm.members;
    let position = |rank: u32| group.iter().position(|&of| of == rank as i32);
    let mut lists: Vec<_> = members
        .iter()
        .map(|&(rank, comm)| {
            let all = run.ranks[rank as usize].collectives.iter();
            (rank, position(rank).unwrap_or(0), all.filter(move |one| one.comm == comm))
        })
        .collect();
    loop {
        let mut calls = Vec::with_capacity(lists.len());
        for (rank, position, list) in &mut lists {
            let Some(collective) = list.next() else { continue };
            let history = &run.ranks[*rank as usize];
            let function = history.calls[collective.call as usize].function as usize;
            let layout = &layouts[*rank as usize][function];
            let (first, count) = collective.words;
            let words = run.files[*rank as usize].words(file::Words { first, count });
            calls.push(Member {
                rank: *rank,
                position: *position,
                collective,
                base: &layout.base,
                words: Words::new(&layout.arguments, words),
            });
        }
        if calls.len() < 2 {
            return;
        }
        // After calls that differ, those that follow say nothing.
        if let Some(finding) = compare_kinds(run, &calls) {
            findings.push(finding);
            return;
        }
        let is_whole = calls.len() == lists.len();
        if let Some(finding) = compare_arguments(run, &calls, is_whole) {
            findings.push(finding);
        }
    }
}

/// The place of the member that differs, and of one that most others are like.
fn odd<'a, T: PartialEq>(
    calls: &'a [Member<'a>],
    key: impl Fn(&Member) -> T,
) -> Option<(&'a Member<'a>, &'a Member<'a>)> {
    let count = |of: &T| calls.iter().filter(|call| key(call) == *of).count();
    let first = key(&calls[0]);
    let other = calls.iter().find(|call| key(call) != first)?;
    // The fewer ones differ; of two alike the later one.
    let is_first_odd = count(&first) < count(&key(other));
    Some(if is_first_odd { (&calls[0], other) } else { (other, &calls[0]) })
}

fn report(
    run: &Run,
    (odd, usual): (&Member, &Member),
    clause: &'static str,
    sentence: String,
) -> Option<Finding> {
    let places = [odd, usual].map(|member| run.place(member.rank, member.collective.call)).to_vec();
    let severity = Severity::Error;
    Some(Finding { rule: Rule::Collective, severity, places, sentence, clause, more: 0 })
}

fn compare_kinds(run: &Run, calls: &[Member]) -> Option<Finding> {
    if calls.iter().all(|call| call.base == calls[0].base) {
        return None;
    }
    let pair = odd(calls, |call| call.base.to_string())?;
    let nth = pair.0.collective.nth + 1;
    let plain = |member: &Member| {
        let name = member.base.strip_suffix("_init").unwrap_or(member.base).to_lowercase();
        name.strip_prefix('i').filter(|_| member.base.starts_with('I')).unwrap_or(&name).to_string()
    };
    if plain(pair.0) == plain(pair.1) {
        let sentence = format!(
            "Collective {nth} of the communicator is {{0}}, and elsewhere {{1}}. A nonblocking or persistent \
             collective does not match a blocking one."
        );
        return report(run, pair, BLOCKING, sentence);
    }
    let sentence = format!(
        "Collective {nth} of the communicator is {{0}}, and elsewhere {{1}}. All members must call the same \
         ones in the same order."
    );
    report(run, pair, ORDER, sentence)
}

fn compare_arguments(run: &Run, calls: &[Member], is_whole: bool) -> Option<Finding> {
    if calls.iter().all(|call| call.get(Field::Root).is_some()) {
        if let Some(pair) = odd(calls, |call| call.get(Field::Root)) {
            let root = |member: &Member| member.get(Field::Root).unwrap_or(-1);
            let sentence = format!(
                "{{0}} names rank {} as the root, and {{1}} names rank {}. All must name the same.",
                root(pair.0),
                root(pair.1)
            );
            return report(run, pair, ARGUMENTS, sentence);
        }
    }
    compare_operators(run, calls).or_else(|| compare_data(run, calls, is_whole))
}

/// Operators of the program's have other handles on each rank, and are not compared with each other.
fn compare_operators(run: &Run, calls: &[Member]) -> Option<Finding> {
    let name = |member: &Member| {
        let handle = member.get(Field::Op)?;
        let known = run.ranks[member.rank as usize].constants.get(&handle);
        Some(known.cloned().unwrap_or_else(|| "an operator of the program".into()))
    };
    let pair = odd(calls, name)?;
    let of = |member: &Member| name(member).unwrap_or_default();
    let sentence =
        format!("{{0}} combines by {}, and {{1}} by {}. All must name the same.", of(pair.0), of(pair.1));
    report(run, pair, OPERATORS, sentence)
}

fn data(run: &Run, member: &Member, count: Option<i64>, datatype: Option<i64>) -> Option<Data> {
    let datatype = datatype?;
    let own = member.collective.types.iter().find(|(handle, ..)| *handle == datatype);
    let (size, elements) = match own {
        Some(&(_, size, elements)) => (size, elements),
        None => *run.ranks[member.rank as usize].types.get(&datatype)?,
    };
    Some(Data { count: count?, elements, size })
}

/// What one member passes, and what another one expects of it.
fn compare_pair(
    run: &Run,
    (one, mine): (&Member, Option<Data>),
    (other, theirs): (&Member, Option<Data>),
) -> Option<Finding> {
    let (mine, theirs) = (mine?, theirs?);
    let mine = signature(run, one.rank, &mine)?;
    let theirs = signature(run, other.rank, &theirs)?;
    if mine.compare(&theirs, false) != Comparison::Different {
        return None;
    }
    let sentence = format!(
        "{{0}} passes {}, where {{1}} wants {}. What is sent and what is received must be the same number of \
         elements of the same types.",
        mine.describe(),
        theirs.describe()
    );
    report(run, (one, other), DATA, sentence)
}

fn compare_data(run: &Run, calls: &[Member], is_whole: bool) -> Option<Finding> {
    let lower = calls[0].base.strip_suffix("_init").unwrap_or(calls[0].base).to_lowercase();
    let name = lower.strip_prefix('i').filter(|_| calls[0].base.starts_with('I')).unwrap_or(&lower);
    let list = |call: &Member, field, place: usize| call.words.list(field).get(place).copied();
    let root = calls[0].get(Field::Root).and_then(|root| usize::try_from(root).ok());
    let root = root.and_then(|root| calls.iter().find(|call| call.position == root));
    let with = |of: &dyn Fn(&Member) -> Option<Data>| {
        let all: Vec<_> = calls.iter().map(|call| (call, of(call))).collect();
        let usual = usual_of(run, &all);
        let (usual, expected) = &all[usual];
        all.iter().find_map(|(call, data)| compare_pair(run, (call, *data), (usual, *expected)))
    };
    let alike = |call: &Member| data(run, call, call.get(Field::Count), call.get(Field::Datatype));
    let sent = |call: &Member| {
        if call.is_in_place(Field::SendBuf) {
            return None;
        }
        data(run, call, call.get(Field::SendCount), call.get(Field::SendType))
    };
    let received = |call: &Member| {
        if call.is_in_place(Field::RecvBuf) {
            return None;
        }
        data(run, call, call.get(Field::RecvCount), call.get(Field::RecvType))
    };
    let each = |from: &dyn Fn(&Member) -> Option<Data>, wanted: &dyn Fn(&Member, &Member) -> Option<Data>| {
        let root = root?;
        calls.iter().find_map(|call| compare_pair(run, (call, from(call)), (root, wanted(root, call))))
    };
    match name {
        "bcast" | "reduce" | "allreduce" | "scan" | "exscan" => with(&alike),
        "reduce_scatter_block" => {
            with(&|call| data(run, call, call.get(Field::RecvCount), call.get(Field::Datatype)))
        }
        "reduce_scatter" if is_whole => (0..calls.len()).find_map(|place| {
            with(&|call| data(run, call, list(call, Field::RecvCounts, place), call.get(Field::Datatype)))
        }),
        "allgather" => with(&received).or_else(|| {
            let usual = calls.first()?;
            calls.iter().find_map(|call| compare_pair(run, (call, sent(call)), (usual, received(usual))))
        }),
        "gather" => each(&sent, &|root, _| received(root)),
        "scatter" => each(&received, &|root, _| sent(root)),
        "gatherv" => each(&sent, &|root, call| {
            data(run, root, list(root, Field::RecvCounts, call.position), root.get(Field::RecvType))
        }),
        "scatterv" => each(&received, &|root, call| {
            data(run, root, list(root, Field::SendCounts, call.position), root.get(Field::SendType))
        }),
        "allgatherv" => calls.iter().find_map(|call| {
            calls.iter().find_map(|other| {
                let count = list(other, Field::RecvCounts, call.position);
                let wanted = data(run, other, count, other.get(Field::RecvType));
                compare_pair(run, (call, sent(call)), (other, wanted))
            })
        }),
        "alltoall" => {
            let usual = calls.first()?;
            let back = || {
                calls.iter().find_map(|call| compare_pair(run, (usual, sent(usual)), (call, received(call))))
            };
            calls
                .iter()
                .find_map(|call| compare_pair(run, (call, sent(call)), (usual, received(usual))))
                .or_else(back)
        }
        "alltoallv" | "alltoallw" => all_to_all(run, calls, name == "alltoallw"),
        _ => None,
    }
}

/// Each pair has its own count, and perhaps its own types.
fn all_to_all(run: &Run, calls: &[Member], has_types: bool) -> Option<Finding> {
    let list = |call: &Member, field, place: usize| call.words.list(field).get(place).copied();
    calls.iter().find_map(|call| {
        calls.iter().find_map(|other| {
            if call.is_in_place(Field::SendBuf) || other.is_in_place(Field::SendBuf) {
                return None;
            }
            let (to, from) = (other.position, call.position);
            let types = if has_types {
                (list(call, Field::SendTypes, to), list(other, Field::RecvTypes, from))
            } else {
                (call.get(Field::SendType), other.get(Field::RecvType))
            };
            let sent = data(run, call, list(call, Field::SendCounts, to), types.0);
            let wanted = data(run, other, list(other, Field::RecvCounts, from), types.1);
            compare_pair(run, (call, sent), (other, wanted))
        })
    })
}

/// Which member most others are like.
fn usual_of(run: &Run, all: &[(&Member, Option<Data>)]) -> usize {
    let same = |one: usize, other: usize| {
        let pair = (all[one].1, all[other].1);
        let (Some(mine), Some(theirs)) = pair else { return true };
        let mine = signature(run, all[one].0.rank, &mine);
        let theirs = signature(run, all[other].0.rank, &theirs);
        let comparison = mine.zip(theirs).map(|(mine, theirs)| mine.compare(&theirs, false));
        comparison != Some(Comparison::Different)
    };
    // All are compared with the first; if that is the odd one, the second is not.
    let like_first = (0..all.len()).filter(|&one| same(0, one)).count();
    if 2 * like_first >= all.len() { 0 } else { (1..all.len()).find(|&one| !same(0, one)).unwrap_or(0) }
}
