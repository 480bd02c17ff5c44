//! A run boiled down to what a reader wants to know. Plain values, JSON for the page.

use crate::deferral::{DeferralDigest, deferral};
use crate::histogram::Weights;
use evenkeel_record::{CommRecord, OpRecord, RankRecord, RunRecord};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything both renderings show. All vectors over ranks are in the order of [`Digest::ranks`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Digest {
    pub version: String,
    pub program: String,
    pub mpi: String,
    pub shim: String,
    pub started_unix_ns: u64,
    pub elapsed_ns: u64,
    /// Sum of the ranks' run times: what shares of waiting are taken of.
    pub rank_time_ns: u64,
    pub wait_ns: u64,
    pub saved_ns: u64,
    pub calls: u64,
    pub host_calls: u64,
    /// All members of a communicator calling an operation once make one instance of it.
    pub instances: u64,
    pub ranks: Vec<RankDigest>,
    pub comms: Vec<CommDigest>,
    /// How many more communicators there were; see [`Digest::with_most_comms`].
    pub comms_left_out: u64,
    /// Per operation, summed over communicators; the one that was waited in longest comes first.
    pub ops: Vec<OpDigest>,
    /// Per operation and communicator, in the same order.
    pub comm_ops: Vec<OpDigest>,
    pub timeline: TimelineDigest,
    pub deferral: DeferralDigest,
    pub notes: Vec<Note>,
    /// Shared memory set aside for all communicators.
    pub segment_bytes: u64,
    /// The most that one communicator took per member.
    pub segment_bytes_per_member: u64,
}

/// One rank over all communicators and operations. What was saved is no part of it: the root of an operation
/// works that out for all ranks, so that only sums over ranks mean anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankDigest {
    pub rank: u32,
    pub host: String,
    pub pid: u32,
    pub cores: Vec<u32>,
    pub wait_policy: String,
    pub elapsed_ns: u64,
    pub cpu_ns: u64,
    pub calls: u64,
    pub time_ns: u64,
    pub wait_ns: u64,
    pub last: u64,
    pub late_ns: u64,
}

/// One communicator over all members and operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CommDigest {
    pub id: String,
    pub name: String,
    /// World ranks.
    pub members: Vec<u32>,
    pub segment_bytes: u64,
    pub host_reason: String,
    /// The schedule that blocking barriers were run by; "": the built-in way.
    pub schedule: String,
    pub calls: u64,
    pub host_calls: u64,
    pub wait_ns: u64,
    pub saved_ns: u64,
    /// Sum of the members' run times.
    pub rank_time_ns: u64,
}

/// One operation, on one communicator or on all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OpDigest {
    pub op: String,
    /// Index into [`Digest::comms`]; `None` for the sum over all.
    pub comm: Option<usize>,
    /// How many ranks called it.
    pub callers: u64,
    pub calls: u64,
    pub host_calls: u64,
    pub instances: u64,
    /// Of the calls: barriers that returned before they were complete.
    pub deferred: u64,
    pub bytes: u64,
    pub time_ns: u64,
    pub wait_ns: u64,
    pub saved_ns: u64,
    /// How often some rank was seen to come last.
    pub last: u64,
    /// The rank that came last most often, and how often; `None` if nobody stands out.
    pub last_most: Option<TimesLast>,
    /// Sum over the instances of the longest wait that the last to come caused.
    pub late_ns: u64,
    pub mean_ns: Option<u64>,
    pub median_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    /// Calls per bucket of [`evenkeel_record::Histogram`].
    pub latency: Vec<u64>,
}

/// A rank and how often it came last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TimesLast {
    pub rank: u32,
    pub times: u64,
}

/// Waiting per rank and slice of the run, all ranks on the same slices.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimelineDigest {
    pub slice_ns: u64,
    /// Per rank and slice the share of the slice spent waiting, in units of 0.01%.
    pub share: Vec<Vec<u32>>,
}

/// A sentence of the record and the ranks that have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Note {
    pub ranks: Vec<u32>,
    pub text: String,
}

impl Digest {
    /// Keeps the `most` communicators that were waited in longest: a program that makes and frees them in
    /// a loop has more than a page can show. Sums over all of them stay what they are.
    pub fn with_most_comms(mut self, most: usize) -> Self {
        if self.comms.len() <= most {
            return self;
        }
        let mut order: Vec<usize> = (0..self.comms.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse((self.comms[*i].wait_ns, self.comms[*i].calls)));
        order.truncate(most);
        order.sort();
        self.comms_left_out += (self.comms.len() - most) as u64;
        self.comm_ops.retain_mut(|o| {
            o.comm = o.comm.and_then(|c| order.binary_search(&c).ok());
            o.comm.is_some()
        });
        self.comms = order.iter().map(|i| std::mem::take(&mut self.comms[*i])).collect();
        self
    }
}

/// Boils a run down.
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
    let mut comm_index = BTreeMap::new();
    let mut comm_ops: BTreeMap<(String, usize), Sum> = BTreeMap::new();
    for r in &run.ranks {
        let mut rank = rank_head(r);
        add(&mut d.rank_time_ns, r.elapsed_ns);
        for c in &r.comms {
            let at = *comm_index.entry((&c.id, &c.members)).or_insert_with(|| {
                d.comms.push(comm_head(c));
                d.comms.len() - 1
            });
            let comm = &mut d.comms[at];
            comm.segment_bytes = comm.segment_bytes.max(c.segment_bytes);
            if comm.schedule.is_empty() {
                // A rank that has held no barrier yet names none.
                comm.schedule.clone_from(&c.schedule);
            }
            add(&mut comm.rank_time_ns, r.elapsed_ns);
            for op in &c.ops {
                add(&mut comm.calls, op.calls);
                add(&mut comm.host_calls, op.host_calls);
                add(&mut comm.wait_ns, op.wait_ns);
                add(&mut comm.saved_ns, op.saved_ns);
                add(&mut rank.calls, op.calls);
                add(&mut rank.time_ns, op.time_ns);
                add(&mut rank.wait_ns, op.wait_ns);
                add(&mut rank.last, op.last);
                add(&mut rank.late_ns, op.late_ns);
                add(&mut d.host_calls, op.host_calls);
                comm_ops.entry((op.op.clone(), at)).or_default().add_rank(r.rank, op);
            }
        }
        d.ranks.push(rank);
    }
    let mut ops: BTreeMap<String, Sum> = BTreeMap::new();
    for ((op, comm), sum) in comm_ops {
        add(&mut d.instances, sum.instances);
        ops.entry(op.clone()).or_default().add_comm(&sum);
        d.comm_ops.push(sum.finish(op, Some(comm)));
    }
    d.ops = ops.into_iter().map(|(op, sum)| sum.finish(op, None)).collect();
    for list in [&mut d.ops, &mut d.comm_ops] {
        list.sort_by_key(|o| (std::cmp::Reverse((o.wait_ns, o.time_ns, o.calls)), o.comm));
    }
    d.wait_ns = total(d.ranks.iter().map(|r| r.wait_ns));
    d.saved_ns = total(d.comms.iter().map(|c| c.saved_ns));
    d.calls = total(d.ranks.iter().map(|r| r.calls));
    d.segment_bytes = total(d.comms.iter().map(|c| c.segment_bytes));
    d.segment_bytes_per_member =
        d.comms.iter().map(|c| c.segment_bytes.div_ceil(c.members.len().max(1) as u64)).max().unwrap_or(0);
    d.timeline = timeline(&run.ranks);
    d.notes = notes(&run.ranks);
    d.deferral = deferral(&run.ranks, &d.notes);
    d
}

fn rank_head(r: &RankRecord) -> RankDigest {
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

fn comm_head(c: &CommRecord) -> CommDigest {
    CommDigest {
        id: c.id.clone(),
        name: c.name.clone(),
        members: c.members.clone(),
        host_reason: c.host_reason.clone(),
        ..Default::default()
    }
}

/// A record from a file may hold any numbers; sums of absurd ones stop at the largest.
pub(crate) fn add(sum: &mut u64, n: u64) {
    *sum = sum.saturating_add(n);
}

pub(crate) fn total(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// An operation while its ranks, then its communicators, are being added up.
#[derive(Default)]
struct Sum {
    calls: u64,
    host_calls: u64,
    instances: u64,
    deferred: u64,
    bytes: u64,
    time_ns: u64,
    wait_ns: u64,
    saved_ns: u64,
    late_ns: u64,
    /// Times last, per rank that called.
    last: BTreeMap<u32, u64>,
    latency: Weights,
}

impl Sum {
    fn add_rank(&mut self, rank: u32, op: &OpRecord) {
        add(&mut self.calls, op.calls);
        add(&mut self.host_calls, op.host_calls);
        self.instances = self.instances.max(op.calls);
        add(&mut self.deferred, op.deferred);
        add(&mut self.bytes, op.bytes);
        add(&mut self.time_ns, op.time_ns);
        add(&mut self.wait_ns, op.wait_ns);
        add(&mut self.saved_ns, op.saved_ns);
        add(&mut self.late_ns, op.late_ns);
        add(self.last.entry(rank).or_default(), op.last);
        self.latency.add(op);
    }

    fn add_comm(&mut self, other: &Sum) {
        add(&mut self.calls, other.calls);
        add(&mut self.host_calls, other.host_calls);
        add(&mut self.instances, other.instances);
        add(&mut self.deferred, other.deferred);
        add(&mut self.bytes, other.bytes);
        add(&mut self.time_ns, other.time_ns);
        add(&mut self.wait_ns, other.wait_ns);
        add(&mut self.saved_ns, other.saved_ns);
        add(&mut self.late_ns, other.late_ns);
        for (rank, n) in &other.last {
            add(self.last.entry(*rank).or_default(), *n);
        }
        self.latency.merge(&other.latency);
    }

    fn finish(self, op: String, comm: Option<usize>) -> OpDigest {
        let counts: Vec<(u32, u64)> = self.last.iter().map(|(r, n)| (*r, *n)).collect();
        OpDigest {
            op,
            comm,
            callers: self.last.len() as u64,
            calls: self.calls,
            host_calls: self.host_calls,
            instances: self.instances,
            deferred: self.deferred,
            bytes: self.bytes,
            time_ns: self.time_ns,
            wait_ns: self.wait_ns,
            saved_ns: self.saved_ns,
            last: total(counts.iter().map(|c| c.1)),
            last_most: stands_out(&counts),
            late_ns: self.late_ns,
            mean_ns: self.time_ns.checked_div(self.calls),
            median_ns: self.latency.quantile_ns(0.5),
            p99_ns: self.latency.quantile_ns(0.99),
            latency: self.latency.rounded(),
        }
    }
}

/// Who came last so often that chance does not explain it: a fifth more often than an equal share, and five
/// standard deviations above it (of the binomial count that coming last by chance makes).
pub(crate) fn stands_out(times_last: &[(u32, u64)]) -> Option<TimesLast> {
    let all = total(times_last.iter().map(|t| t.1)) as f64;
    let chance = 1.0 / times_last.len().max(1) as f64;
    let equal = all * chance;
    let deviation = (all * chance * (1.0 - chance)).sqrt();
    let (rank, most) = times_last.iter().copied().max_by_key(|(rank, n)| (*n, std::cmp::Reverse(*rank)))?;
    (times_last.len() > 1 && most as f64 > 1.2 * equal && most as f64 > equal + 5.0 * deviation)
        .then_some(TimesLast { rank, times: most })
}

/// Ranks double their slices at different times; the longest serves for all.
fn timeline(ranks: &[RankRecord]) -> TimelineDigest {
    let slice_ns = ranks.iter().map(|r| r.timeline.slice_ns).max().unwrap_or(0);
    if slice_ns == 0 {
        return TimelineDigest { slice_ns: 0, share: vec![Vec::new(); ranks.len()] };
    }
    let share = |r: &RankRecord| {
        let mut wait: Vec<u64> = Vec::new();
        for (i, ns) in r.timeline.wait_ns.iter().enumerate() {
            let at = (i as u128 * u128::from(r.timeline.slice_ns) / u128::from(slice_ns)) as usize;
            if wait.len() <= at {
                wait.resize(at + 1, 0);
            }
            add(&mut wait[at], *ns);
        }
        // The slice in which the run ended is shorter.
        let length =
            |i: usize| slice_ns.min(r.elapsed_ns.saturating_sub((i as u64).saturating_mul(slice_ns))).max(1);
        wait.iter()
            .enumerate()
            .map(|(i, ns)| (*ns as f64 / length(i) as f64 * 10_000.0).round().min(10_000.0) as u32)
            .collect()
    };
    TimelineDigest { slice_ns, share: ranks.iter().map(share).collect() }
}

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
