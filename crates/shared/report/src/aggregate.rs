//! Makes the [`Digest`] of a run: adds up what the ranks recorded, by communicator and by operation.
//!
//! May use the record and digest types. It must accept any numbers, because a record may come from a file.

mod comm_label;
mod deferral;
mod histogram;
mod messages;
mod operation;
pub(crate) mod saturating;
mod timeline;

use crate::digest::{CommDigest, Digest, Note, OpDigest, RankDigest};
use evenkeel_record::{CommRecord, OpRecord, RankRecord, RunRecord};
use operation::OperationSum;
pub(crate) use operation::arrives_last_most;
use saturating::{add, total};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The share of the latest rank's lateness from which on another rank is nearly as late.
const NEARLY: f64 = 0.8;

/// Sums by operation and index of the communicator.
type SumsByComm = BTreeMap<(String, usize), OperationSum>;

/// The digest of a run.
pub fn digest(run: &RunRecord) -> Digest {
    let mut d = Digest {
        version: run.version.clone(),
        program: run.program.clone(),
        mpi: run.mpi.clone(),
        shim: run.shim.clone(),
        started_unix_ns: run.started_unix_ns,
        elapsed_ns: run.elapsed_ns,
        ..Default::default()
    };
    let sums = add_up_ranks(&run.ranks, &mut d);
    d.messages = messages::messages(&run.ranks, &mut d.ranks);
    add_up_operations(sums, &mut d);
    comm_label::label(&mut d.comms, run.ranks.len());
    d.wait_ns = total(d.ranks.iter().map(|r| r.wait_ns));
    d.calls = total(d.ranks.iter().map(|r| r.calls));
    d.segment_bytes = total(d.comms.iter().map(|c| c.segment_bytes));
    d.segment_bytes_per_member =
        d.comms.iter().map(|c| c.segment_bytes.div_ceil(c.members.len().max(1) as u64)).max().unwrap_or(0);
    d.latest = latest(&d.ranks);
    d.timeline = timeline::timeline(&run.ranks);
    d.notes = notes(&run.ranks);
    d.deferral = deferral::deferral(&run.ranks, &d.notes);
    d
}

/// Fills in ranks and communicators. Returns the sums of the operations.
fn add_up_ranks(ranks: &[RankRecord], d: &mut Digest) -> SumsByComm {
    let mut comm_index = BTreeMap::new();
    let mut sums = SumsByComm::new();
    for r in ranks {
        let mut rank = facts_of_rank(r);
        add(&mut d.rank_time_ns, r.elapsed_ns);
        for c in &r.comms {
            let index = *comm_index.entry((&c.id, &c.members)).or_insert_with(|| {
                d.comms.push(facts_of_comm(c));
                d.comms.len() - 1
            });
            let comm = &mut d.comms[index];
            comm.segment_bytes = comm.segment_bytes.max(c.segment_bytes);
            if comm.schedule.is_empty() {
                // A rank that has not called a barrier on the communicator names no schedule.
                comm.schedule.clone_from(&c.schedule);
            }
            add(&mut comm.rank_time_ns, r.elapsed_ns);
            for op in &c.ops {
                add(&mut d.host_calls, op.host_calls);
                add_to_comm(comm, op);
                add_to_rank(&mut rank, op);
                sums.entry((op.op.clone(), index)).or_default().add_rank(r.rank, op);
            }
        }
        d.ranks.push(rank);
    }
    sums
}

fn add_to_comm(comm: &mut CommDigest, op: &OpRecord) {
    add(&mut comm.calls, op.calls);
    add(&mut comm.host_calls, op.host_calls);
    add(&mut comm.wait_ns, op.wait_ns);
}

fn add_to_rank(rank: &mut RankDigest, op: &OpRecord) {
    add(&mut rank.calls, op.calls);
    add(&mut rank.time_ns, op.time_ns);
    add(&mut rank.wait_ns, op.wait_ns);
    add(&mut rank.last, op.last);
    add(&mut rank.late_ns, op.late_ns);
}

/// Fills in the operations, by communicator and over all communicators.
fn add_up_operations(sums: SumsByComm, d: &mut Digest) {
    let mut ops: BTreeMap<String, OperationSum> = BTreeMap::new();
    for ((op, comm), sum) in sums {
        add(&mut d.instances, sum.instances);
        ops.entry(op.clone()).or_default().add_comm(&sum);
        d.comm_ops.push(sum.finish(op, Some(comm)));
    }
    d.ops = ops.into_iter().map(|(op, sum)| sum.finish(op, None)).collect();
    let most_waiting_first = |o: &OpDigest| (Reverse((o.wait_ns, o.time_ns, o.calls)), o.comm);
    d.ops.sort_by_key(most_waiting_first);
    d.comm_ops.sort_by_key(most_waiting_first);
}

fn facts_of_rank(r: &RankRecord) -> RankDigest {
    RankDigest {
        rank: r.rank,
        host: r.host.clone(),
        pid: r.pid,
        cores: r.cores.clone(),
        wait_policy: r.wait_policy.clone(),
        elapsed_ns: r.elapsed_ns,
        cpu_ns: r.cpu_ns,
        ..Default::default()
    }
}

fn facts_of_comm(c: &CommRecord) -> CommDigest {
    CommDigest {
        id: c.id.clone(),
        name: c.name.clone(),
        members: c.members.clone(),
        host_reason: c.host_reason.clone(),
        ..Default::default()
    }
}

/// The rank that delayed the others most. One that itself waits passes on how late others are, nearly in
/// full: of those that are nearly as late as the latest, it is the one that waited least.
fn latest(ranks: &[RankDigest]) -> Option<usize> {
    let most = ranks.iter().map(|r| r.late_ns).max().filter(|ns| *ns > 0)?;
    let is_nearly_latest = |r: &RankDigest| r.late_ns as f64 >= NEARLY * most as f64;
    let nearly_latest = ranks.iter().enumerate().filter(|(_, r)| is_nearly_latest(r));
    nearly_latest.min_by_key(|(_, r)| (r.wait_ns, Reverse(r.late_ns))).map(|(i, _)| i)
}

/// Every sentence of the ranks once, with the ranks that recorded it.
fn notes(ranks: &[RankRecord]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for r in ranks {
        for text in &r.notes {
            match notes.iter_mut().find(|n| n.text == *text) {
                Some(n) if n.ranks.last() == Some(&r.rank) => {}
                Some(n) => n.ranks.push(r.rank),
                None => notes.push(Note { ranks: vec![r.rank], text: text.clone() }),
            }
        }
    }
    notes
}
