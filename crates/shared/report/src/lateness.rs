//! Who came last, and how late, from what all ranks recorded about each other.
//!
//! A rank records which ranks it waited for, and so does not know how late it came itself. Here each rank
//! gets the longest of what the others have waited for it: that is how long the first rank had waited. To
//! this comes what strict barriers would have added where barriers were deferred.
//!
//! May use: the types of the record. It must accept any numbers.

use crate::aggregate::saturating::{add, total};
use evenkeel_record::{OpRecord, PeerRecord, RankRecord};
use std::collections::BTreeMap;

/// Operations, and their nonblocking forms, in which ranks need not wait for one that comes late. Times of
/// arrival, which are sampled, then say more than waits.
const ROOTED: [&str; 3] = ["reduce", "gather", "gatherv"];

/// Whether times of arrival say nothing about waits: a rank goes on after it has started a nonblocking
/// collective, however late the others start it.
fn held_up_only_by_waits(op: &str) -> bool {
    op.strip_prefix('i').is_some_and(|blocking_form| !ROOTED.contains(&blocking_form))
}

/// An operation on a communicator.
type Key = (String, Vec<u32>, String);

/// What the members recorded about one rank in one operation on one communicator.
#[derive(Default)]
struct Late {
    /// The longest of what they waited for it.
    waited_ns: u64,
    /// How often the one waited for it that did so most often.
    times: u64,
    /// How often and how late it came at deferred barriers.
    deferred: u64,
    deferred_ns: u64,
}

/// Sets how often and how late each rank came last.
pub(crate) fn settle(ranks: &mut [RankRecord]) {
    let mut late: BTreeMap<Key, BTreeMap<u32, Late>> = BTreeMap::new();
    for (key, op) in ranks.iter().flat_map(ops) {
        if !op.waited_for.is_empty() || !op.came_last.is_empty() {
            let by_rank = late.entry(key).or_default();
            count_waits(by_rank, op);
            count_deferred(by_rank, op);
        }
    }
    let counted: BTreeMap<Key, u64> =
        ranks.iter().flat_map(ops).fold(BTreeMap::new(), |mut sums, (key, op)| {
            add(sums.entry(key).or_default(), op.last);
            sums
        });
    for r in ranks {
        let rank = r.rank;
        for c in &mut r.comms {
            for op in &mut c.ops {
                let key = (c.id.clone(), c.members.clone(), op.op.clone());
                let by_rank = late.get(&key);
                if by_rank.is_some() || held_up_only_by_waits(&op.op) {
                    let late = by_rank.and_then(|by_rank| by_rank.get(&rank));
                    set(op, late.unwrap_or(&Late::default()), counted[&key] > 0);
                }
            }
        }
    }
}

fn ops(r: &RankRecord) -> impl Iterator<Item = (Key, &OpRecord)> {
    let key = |id: &String, members: &Vec<u32>, op: &OpRecord| (id.clone(), members.clone(), op.op.clone());
    r.comms.iter().flat_map(move |c| c.ops.iter().map(move |op| (key(&c.id, &c.members, op), op)))
}

/// The waits that a strict operation caused. What ranks waited to complete deferred barriers says how far
/// they had run ahead.
fn count_waits(by_rank: &mut BTreeMap<u32, Late>, op: &OpRecord) {
    for peer in &op.waited_for {
        let completed = op.completed_for.iter().find(|other| other.rank == peer.rank);
        let PeerRecord { times, ns, .. } = completed.copied().unwrap_or_default();
        let late = by_rank.entry(peer.rank).or_default();
        late.waited_ns = late.waited_ns.max(peer.ns.saturating_sub(ns));
        late.times = late.times.max(peer.times.saturating_sub(times));
    }
}

fn count_deferred(by_rank: &mut BTreeMap<u32, Late>, op: &OpRecord) {
    for peer in &op.came_last {
        let late = by_rank.entry(peer.rank).or_default();
        add(&mut late.deferred, peer.times);
        add(&mut late.deferred_ns, peer.ns);
    }
}

fn set(op: &mut OpRecord, late: &Late, is_counted: bool) {
    let blocking_form = op.op.strip_prefix('i').unwrap_or(&op.op);
    let is_rooted = ROOTED.contains(&blocking_form);
    let waited_ns = if is_rooted { late.waited_ns.max(op.late_ns) } else { late.waited_ns };
    op.late_ns = waited_ns.saturating_add(late.deferred_ns);
    op.last = total([if is_counted { op.last } else { late.times }, late.deferred].into_iter());
    (op.came_last, op.completed_for) = (Vec::new(), Vec::new());
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_record::CommRecord;

    fn peer(rank: u32, times: u64, ns: u64) -> PeerRecord {
        PeerRecord { rank, times, ns }
    }

    fn ranks(ops: Vec<OpRecord>) -> Vec<RankRecord> {
        let members: Vec<u32> = (0..ops.len() as u32).collect();
        let comm = |op| CommRecord { members: members.clone(), ops: vec![op], ..Default::default() };
        let record = |(rank, op)| RankRecord { rank, comms: vec![comm(op)], ..Default::default() };
        (0..).zip(ops).map(record).collect()
    }

    fn settled(ops: Vec<OpRecord>) -> Vec<(u64, u64)> {
        let mut ranks = ranks(ops);
        settle(&mut ranks);
        ranks.iter().map(|r| (r.comms[0].ops[0].last, r.comms[0].ops[0].late_ns)).collect()
    }

    #[test]
    fn nobody_is_late_where_nobody_waited_for_a_nonblocking_collective() {
        let late = |op: &str| OpRecord { op: op.into(), last: 5, late_ns: 70, ..Default::default() };
        let other = |op: &str| OpRecord { last: 1, ..late(op) };
        assert_eq!(settled(vec![late("iallreduce"), other("iallreduce")]), [(5, 0), (1, 0)]);
        assert_eq!(settled(vec![late("allreduce"), other("allreduce")]), [(5, 70), (1, 70)]);
        assert_eq!(settled(vec![late("ireduce"), other("ireduce")]), [(5, 70), (1, 70)]);
    }

    #[test]
    fn a_rank_is_as_late_as_the_first_rank_waited_for_it() {
        let op =
            |last, waited_for| OpRecord { op: "allreduce".into(), last, waited_for, ..Default::default() };
        let found = settled(vec![
            op(0, vec![peer(2, 10, 900)]),
            op(1, vec![peer(0, 1, 5), peer(2, 10, 700)]),
            op(10, vec![]),
        ]);
        assert_eq!(found, [(0, 5), (1, 0), (10, 900)]);
    }

    #[test]
    fn where_arrivals_are_not_counted_waits_are() {
        let op = |waited_for| OpRecord { op: "bcast".into(), waited_for, ..Default::default() };
        assert_eq!(settled(vec![op(vec![]), op(vec![peer(0, 4, 90)])]), [(4, 90), (0, 0)]);
    }

    #[test]
    fn waits_at_the_completion_of_deferred_barriers_are_not_lateness() {
        let barrier = OpRecord { op: "barrier".into(), ..Default::default() };
        let waiter = OpRecord {
            waited_for: vec![peer(1, 3, 5_000)],
            completed_for: vec![peer(1, 2, 4_900)],
            came_last: vec![peer(1, 50, 4_000)],
            ..barrier.clone()
        };
        assert_eq!(settled(vec![waiter, barrier]), [(0, 0), (51, 4_100)]);
    }

    #[test]
    fn a_root_that_no_rank_waits_for_is_late_all_the_same() {
        let root = OpRecord { op: "reduce".into(), last: 5, late_ns: 70, ..Default::default() };
        let other = OpRecord { waited_for: vec![peer(0, 1, 3)], last: 0, late_ns: 0, ..root.clone() };
        assert_eq!(settled(vec![root, other]), [(5, 70), (0, 0)]);
    }

    #[test]
    fn records_without_peers_stay_as_they_are() {
        let op = OpRecord { op: "barrier".into(), last: 5, late_ns: 70, ..Default::default() };
        assert_eq!(settled(vec![op]), [(5, 70)]);
    }
}
