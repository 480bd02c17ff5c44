//! Run records from a small seeded simulation, for tests and for looking at summaries and pages.
//!
//! Simulated ranks compute for random times, meet in collectives, and record what the engine would record.

use evenkeel_random::Random;
use evenkeel_record::{
    CommRecord, Histogram, OpRecord, PeerRecord, RankRecord, RunRecord, Timeline, TrafficRecord,
};
use evenkeel_report::{RunFacts, merge};

pub const NAMES: &[&str] = &[
    "one",
    "two",
    "four",
    "sixteen",
    "sixtyfour",
    "wide",
    "even",
    "deferred",
    "scheduled",
    "messages",
    "no_ops",
    "zeros",
    "huge_names",
    "comm_per_rank",
    "host_only",
    "no_ranks",
];

/// The record of that name; `None` if there is none.
pub fn sample(name: &str) -> Option<RunRecord> {
    let simulated = |ranks, rounds, late_rank| Simulation::new(ranks, late_rank).run(rounds);
    Some(match name {
        "one" => simulated(1, 200, None),
        "two" => simulated(2, 500, Some(1)),
        "four" => simulated(4, 2_000, Some(2)),
        "sixteen" => with_host_calls(simulated(16, 1_500, Some(3))),
        "sixtyfour" => simulated(64, 800, Some(40)),
        "wide" => simulated(128, 400, Some(100)),
        "even" => simulated(8, 1_000, None),
        "deferred" => with_deferred_barriers(simulated(2, 500, Some(1))),
        "scheduled" => with_schedules(simulated(2, 500, Some(1))),
        "messages" => with_messages(simulated(4, 300, Some(2))),
        "no_ops" => no_ops(4),
        "zeros" => zeros(3),
        "huge_names" => huge_names(),
        "comm_per_rank" => comm_per_rank(32),
        "host_only" => host_only(),
        "no_ranks" => merge(Vec::new(), facts("./app")),
        _ => return None,
    })
}

/// Barriers of the world use one schedule, those of a second communicator another. Rank 0 has called no
/// barrier on the second communicator.
fn with_schedules(mut run: RunRecord) -> RunRecord {
    for rank in &mut run.ranks {
        let barrier =
            OpRecord { op: "barrier".into(), calls: 7, time_ns: 700, samples: 7, ..Default::default() };
        let mut other = CommRecord {
            id: "2".into(),
            name: "rows".into(),
            members: vec![0, 1],
            segment_bytes: 16_384,
            ..Default::default()
        };
        if rank.rank == 1 {
            other.schedule = "central-counter".into();
            other.ops.push(barrier);
        }
        rank.comms[0].schedule = "n-way-dissemination:n=3".into();
        rank.comms.push(other);
    }
    run
}

fn facts(program: &str) -> RunFacts {
    RunFacts {
        version: "0.1.0".into(),
        program: program.into(),
        mpi: "Open MPI v4.1.4".into(),
        shim: "openmpi4".into(),
        started_unix_ns: 1_790_000_000_000_000_000,
    }
}

fn rank(rank: u32, elapsed_ns: u64) -> RankRecord {
    RankRecord {
        rank,
        host: "nodeA".into(),
        pid: 4_000 + rank,
        elapsed_ns,
        cpu_ns: elapsed_ns / 2,
        cores: vec![rank % 2],
        wait_policy: "auto".into(),
        ..Default::default()
    }
}

const SLICE_NS: u64 = 1_000_000;

struct Simulation {
    random: Random,
    clock: Vec<u64>,
    ranks: Vec<RankRecord>,
    /// A rank that is late in the middle third of the run.
    late_rank: Option<usize>,
}

/// One call on one rank; times in nanoseconds.
struct Call {
    bytes: u64,
    wait: u64,
    cost: u64,
    late: u64,
}

impl Simulation {
    fn new(ranks: u32, late_rank: Option<usize>) -> Self {
        let members: Vec<u32> = (0..ranks).collect();
        let world = CommRecord {
            id: "1".into(),
            name: "MPI_COMM_WORLD".into(),
            members,
            segment_bytes: 8_192 * u64::from(ranks),
            ..Default::default()
        };
        let new = |r| {
            let mut rank = rank(r, 0);
            rank.comms.push(world.clone());
            rank.timeline = Timeline { slice_ns: SLICE_NS, wait_ns: Vec::new() };
            rank
        };
        Simulation {
            random: Random::new(42 + u64::from(ranks)),
            clock: vec![0; ranks as usize],
            ranks: (0..ranks).map(new).collect(),
            late_rank,
        }
    }

    fn run(mut self, rounds: u64) -> RunRecord {
        for round in 0..rounds {
            for (r, clock) in self.clock.iter_mut().enumerate() {
                let noise = self.random.bits() % 20_000;
                // Sometimes a rank loses its core for three milliseconds.
                let stall = if self.random.bits() % 2_000 == 0 { 3_000_000 } else { 0 };
                let slow = self.late_rank == Some(r) && round * 3 / rounds == 1;
                *clock += 50_000 + noise + stall + if slow { 60_000 } else { 0 };
            }
            match round % 10 {
                0 => self.meet("barrier", 0, 900),
                1 | 2 => self.reduce(32, (round / 10) as usize % self.clock.len()),
                3 => self.meet("alltoall", 4_096, 30_000),
                _ => self.meet("allreduce", 8, 1_400),
            }
        }
        let mut ranks = self.ranks;
        for (r, clock) in ranks.iter_mut().zip(&self.clock) {
            r.elapsed_ns = *clock;
            let waited: u64 = r.comms[0].ops.iter().map(|o| o.wait_ns).sum();
            r.cpu_ns = clock - waited / 2;
        }
        merge(ranks, facts("./stencil --grid 4096 --steps 1500"))
    }

    /// A collective in which every rank needs every other rank.
    fn meet(&mut self, op: &str, bytes: u64, cost: u64) {
        let arrivals = self.clock.clone();
        let last = (0..arrivals.len()).max_by_key(|r| arrivals[*r]).unwrap();
        let first = *arrivals.iter().min().unwrap();
        for r in 0..arrivals.len() {
            let wait = arrivals[last] - arrivals[r];
            let late = if r == last { arrivals[last] - first } else { 0 };
            let cost = cost + self.random.bits() % (cost / 2 + 1);
            self.record(r, op, Call { bytes, wait, cost, late });
        }
    }

    /// A reduction in which only the root waits.
    fn reduce(&mut self, bytes: u64, root: usize) {
        let n = self.clock.len();
        let arrivals = self.clock.clone();
        let last = (0..n).max_by_key(|r| arrivals[*r]).unwrap();
        for r in 0..n {
            let wait = if r == root { arrivals[last] - arrivals[r] } else { 0 };
            let late = if r == last && r != root { arrivals[r] - arrivals[root].min(arrivals[r]) } else { 0 };
            let cost = 300 + self.random.bits() % 400;
            self.record(r, "reduce", Call { bytes, wait, cost, late });
        }
    }

    fn record(&mut self, r: usize, op: &str, call: Call) {
        let Call { bytes, wait, cost, late } = call;
        let rank = &mut self.ranks[r];
        let ops = &mut rank.comms[0].ops;
        if !ops.iter().any(|o| o.op == op) {
            ops.push(OpRecord { op: op.into(), ..Default::default() });
        }
        let o = ops.iter_mut().find(|o| o.op == op).unwrap();
        o.calls += 1;
        o.bytes += bytes;
        o.wait_ns += wait;
        o.time_ns += wait + cost;
        o.last += u64::from(late > 0);
        o.late_ns += late;
        o.samples += 1;
        let bucket = Histogram::bucket(wait + cost);
        if o.latency.counts.len() <= bucket {
            o.latency.counts.resize(bucket + 1, 0);
        }
        o.latency.counts[bucket] += 1;
        let slice = (self.clock[r] / SLICE_NS) as usize;
        if rank.timeline.wait_ns.len() <= slice {
            rank.timeline.wait_ns.resize(slice + 1, 0);
        }
        rank.timeline.wait_ns[slice] += wait.min(SLICE_NS);
        self.clock[r] += wait + cost;
    }
}

fn with_host_calls(mut run: RunRecord) -> RunRecord {
    for r in &mut run.ranks {
        r.notes.push("cores are shared: 16 ranks on 2 cores, waiting yields".into());
        r.comms[0].ops.push(OpRecord { op: "alltoallw".into(), host_calls: 3, ..Default::default() });
        r.comms.push(CommRecord {
            id: "7f".into(),
            members: (0..16).collect(),
            host_reason: "its members are on 2 machines".into(),
            ops: vec![OpRecord { op: "bcast".into(), host_calls: 12, ..Default::default() }],
            ..Default::default()
        });
        if r.rank % 5 == 1 {
            r.notes.push("process_vm_readv is refused here: large messages are copied twice".into());
        }
    }
    run
}

/// Barriers that are deferred until the program creates windows.
fn with_deferred_barriers(mut run: RunRecord) -> RunRecord {
    const WHY: &str =
        "it has one-sided windows, through which others change its memory without a call of its own";
    for r in &mut run.ranks {
        let of_rank = u64::from(r.rank);
        for op in r.comms[0].ops.iter_mut().filter(|o| o.op == "barrier") {
            op.deferred = op.calls - 4 - of_rank;
            op.ahead = 2 + of_rank;
            op.overlapped_ns = 371_000 * (1 + of_rank);
        }
        r.observers =
            vec![("a collective".into(), 30), ("MPI_Send".into(), 2 + 5 * of_rank), ("openat()".into(), 1)];
        if r.rank == 0 {
            r.observers.extend([("write()".into(), 3), ("window full".into(), 1)]);
        }
        r.notes.push(format!("barriers of this program are strict, for a time: {WHY}"));
    }
    run
}

/// Halo exchanges in a ring, and sums along the columns of a grid. Rank 2 is late.
fn with_messages(mut run: RunRecord) -> RunRecord {
    let ranks = run.ranks.len() as u32;
    for r in &mut run.ranks {
        let (left, right) = ((r.rank + ranks - 1) % ranks, (r.rank + 1) % ranks);
        let peers = [left, right];
        let wait = |rank| PeerRecord { rank, times: 300, ns: if rank == 2 { 9_000_000 } else { 400_000 } };
        r.messages = 200;
        (r.message_bytes, r.host_messages, r.host_message_bytes) = (200 * 4_096, 400, 400 * 4_096);
        r.messages_waited_for = peers.map(wait).to_vec();
        r.messages_sent_to =
            peers.map(|rank| TrafficRecord { rank, messages: 300, bytes: 300 * 4_096 }).to_vec();
        r.message_wait_ns = r.messages_waited_for.iter().map(|peer| peer.ns).sum::<u64>() + 5_000;
        r.message_time_ns = r.message_wait_ns + 800_000;
        let sum = OpRecord {
            op: "allreduce".into(),
            calls: 30,
            bytes: 240,
            time_ns: 700_000,
            wait_ns: 600_000,
            samples: 30,
            ..Default::default()
        };
        r.comms.push(CommRecord {
            id: format!("{}", 8 + r.rank % 2),
            name: if r.rank % 2 == 0 { "pressure".into() } else { String::new() },
            members: (r.rank % 2..ranks).step_by(2).collect(),
            segment_bytes: 16_384,
            ops: vec![sum],
            ..Default::default()
        });
    }
    run
}

fn no_ops(ranks: u32) -> RunRecord {
    merge((0..ranks).map(|r| rank(r, 1_234_567_890)).collect(), facts("./hello"))
}

/// Calls whose measured numbers are all zero.
fn zeros(ranks: u32) -> RunRecord {
    let op = OpRecord { op: "barrier".into(), calls: 1, ..Default::default() };
    let comm =
        CommRecord { id: "1".into(), members: (0..ranks).collect(), ops: vec![op], ..Default::default() };
    let record = |r| RankRecord { rank: r, comms: vec![comm.clone()], ..Default::default() };
    merge((0..ranks).map(record).collect(), RunFacts::default())
}

fn huge_names() -> RunRecord {
    let mut run = Simulation::new(4, Some(1)).run(300);
    run.program = format!(
        "/a/{}/solver </script><script>alert(1)</script> \u{1b}[31m {}",
        "deep/".repeat(60),
        "-x ".repeat(40)
    );
    run.mpi = format!("MPICH {}", "with a very long version text ".repeat(10));
    for r in &mut run.ranks {
        r.host = format!("{}.cluster.example.org", "node-with-a-long-name-".repeat(4)) + &r.rank.to_string();
        r.comms[0].name = format!("<b>communicator</b> & {}", "grid_x_y_z_".repeat(20));
        r.comms[0].ops[0].op = "ineighbor_reduce_scatter_block_init".into();
        r.comms[0].ops.push(OpRecord {
            op: "barrier".into(),
            calls: 9,
            deferred: 9,
            ahead: 1,
            ..Default::default()
        });
        r.observers = vec![(format!("</script>\u{1b}[31m{}()", "a_long_name_".repeat(20)), 7)];
        r.notes.push(format!("{} is not what evenkeel expects <!-- here", "something ".repeat(30)));
    }
    run
}

/// Every rank has a communicator of its own besides the world.
fn comm_per_rank(ranks: u32) -> RunRecord {
    let mut run = Simulation::new(ranks, None).run(100);
    for r in &mut run.ranks {
        let op = OpRecord {
            op: "allreduce".into(),
            calls: 10,
            bytes: 80,
            time_ns: 900,
            samples: 10,
            ..Default::default()
        };
        r.comms.push(CommRecord {
            id: format!("{:x}", 100 + r.rank),
            name: "MPI_COMM_SELF".into(),
            members: vec![r.rank],
            segment_bytes: 4_096,
            ops: vec![op],
            ..Default::default()
        });
    }
    run
}

fn host_only() -> RunRecord {
    let op = OpRecord { op: "allgatherv".into(), host_calls: 7, ..Default::default() };
    let comm = CommRecord {
        id: "1".into(),
        members: vec![0, 1],
        host_reason: "EVENKEEL_OFF is set".into(),
        ops: vec![op],
        ..Default::default()
    };
    let record = |r| RankRecord { comms: vec![comm.clone()], ..rank(r, 5_000_000) };
    merge((0..2).map(record).collect(), facts("python3 -m mpi4py job.py"))
}
