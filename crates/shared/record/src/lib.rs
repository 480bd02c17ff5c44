//! What a run writes down about itself: plain data, one [`RankRecord`] per rank, merged into a [`RunRecord`].
//!
//! The engine fills these types in, the report renders them, and `run.json` is their JSON. This crate
//! may use nothing but serde; it must never compute, print or do I/O. Times are nanoseconds, sizes bytes.

use serde::{Deserialize, Serialize};

/// Version of the JSON layout; a reader refuses what is newer.
pub const SCHEMA: u32 = 1;

/// The whole run, as `--report run.json` stores it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub schema: u32,
    /// Version of evenkeel that wrote it.
    pub version: String,
    /// Command line of rank 0.
    pub program: String,
    /// Name and version of the host MPI library, e.g. "Open MPI v4.1.4".
    pub mpi: String,
    /// Name of the shim that served it, e.g. "openmpi4".
    pub shim: String,
    /// Start of the run (return of MPI_Init on rank 0), nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// From the return of MPI_Init to the entry of MPI_Finalize, the longest of all ranks.
    pub elapsed_ns: u64,
    /// One entry per rank of MPI_COMM_WORLD, in rank order.
    pub ranks: Vec<RankRecord>,
}

/// What one rank saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankRecord {
    pub rank: u32,
    pub host: String,
    pub pid: u32,
    pub elapsed_ns: u64,
    /// CPU time of the whole process between MPI_Init and MPI_Finalize.
    pub cpu_ns: u64,
    /// The cores this rank may run on, after placement.
    pub cores: Vec<u32>,
    /// The waiting policy in force: "auto", "spin", "yield" or "block".
    pub wait_policy: String,
    /// One per communicator that made collective calls, in order of first use.
    pub comms: Vec<CommRecord>,
    /// Time spent waiting, per slice of the run.
    pub timeline: Timeline,
    /// What completed deferred barriers, and how often: MPI functions by name, system calls as "write()".
    #[serde(default)]
    pub observers: Vec<(String, u64)>,
    /// Point-to-point messages that this rank has sent by evenkeel, and how many of them went ahead of a
    /// pending barrier.
    #[serde(default)]
    pub messages: u64,
    #[serde(default)]
    pub messages_ahead: u64,
    /// Sentences the user should see: what evenkeel could not do here, and why.
    pub notes: Vec<String>,
}

/// One communicator as one rank saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommRecord {
    /// The same on all members; hexadecimal.
    pub id: String,
    /// MPI_Comm_get_name, or "".
    pub name: String,
    /// World ranks of the members, in the communicator's rank order.
    pub members: Vec<u32>,
    /// Shared memory set aside for it (all ranks together); 0 if the host library serves it.
    pub segment_bytes: u64,
    /// Why the host library serves it, or "" if evenkeel does.
    pub host_reason: String,
    /// The schedule that its blocking barriers were run by; "": the built-in way.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schedule: String,
    pub ops: Vec<OpRecord>,
}

/// One operation on one communicator as one rank saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpRecord {
    /// Lower-case MPI name without prefix: "allreduce", "ibcast", "reduce_scatter_block".
    pub op: String,
    /// Calls that evenkeel carried out.
    pub calls: u64,
    /// Calls left to the host library (too large, not covered); not included in what follows.
    pub host_calls: u64,
    /// Payload bytes this rank handed in or took out, whichever is larger.
    pub bytes: u64,
    /// Time inside the calls: `wait_ns`, and the rest sampled and scaled (see `samples`).
    pub time_ns: u64,
    /// Part of it spent waiting for other ranks. Every wait is measured, none sampled.
    pub wait_ns: u64,
    /// Time that a library without bypass would have held ranks, and evenkeel did not (sampled and scaled).
    /// Worked out by the root, for all ranks together, from their arrivals: for reduce and gather a rank
    /// would have been held until the latest arrival below it in a binomial tree. Only sums over ranks mean
    /// something.
    pub saved_ns: u64,
    /// How often this rank was the last to arrive.
    pub last: u64,
    /// By how much, in sum, the first to arrive had been waiting when this rank came last (sampled and
    /// scaled).
    pub late_ns: u64,
    /// Number of calls whose duration was measured.
    pub samples: u64,
    /// Barriers that returned before they were complete.
    #[serde(default)]
    pub deferred: u64,
    /// How many of them were pending at most.
    #[serde(default)]
    pub ahead: u64,
    /// How long this rank went on with its work where it would have waited in a barrier: what is known for
    /// sure, a lower bound.
    #[serde(default)]
    pub overlapped_ns: u64,
    /// Distribution of the measured durations.
    pub latency: Histogram,
}

/// A histogram with four buckets per doubling, from 16 ns to 17 s.
///
/// Bucket `4*k + j` (k = 0..29, j = 0..3) counts durations in `[16·2^k·(1 + j/4), 16·2^k·(1 +
/// (j+1)/4))` ns; shorter ones fall into the first, longer ones into the last. Trailing empty buckets
/// are left out of `counts`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    pub counts: Vec<u64>,
}

impl Histogram {
    pub const BUCKETS: usize = 120;

    /// Bucket of a duration in nanoseconds.
    ///
    /// ```
    /// use evenkeel_record::Histogram;
    /// assert_eq!(Histogram::bucket(3), 0);
    /// assert_eq!(Histogram::bucket(16), 0);
    /// assert_eq!(Histogram::bucket(20), 1);
    /// assert_eq!(Histogram::bucket(32), 4);
    /// assert_eq!(Histogram::bucket(u64::MAX), Histogram::BUCKETS - 1);
    /// ```
    pub fn bucket(ns: u64) -> usize {
        if ns < 16 {
            return 0;
        }
        let octave = 63 - ns.leading_zeros() as usize; // 16 = 2^4
        let quarter = (ns >> (octave - 2)) as usize & 3;
        ((octave - 4) * 4 + quarter).min(Self::BUCKETS - 1)
    }

    /// Lower edge of a bucket in nanoseconds.
    pub fn lower_edge_ns(bucket: usize) -> u64 {
        let base = 16u64 << (bucket / 4);
        base + base / 4 * (bucket % 4) as u64
    }

    /// The duration below which the share `q` (0..=1) of the counted durations lies; 0 if there are none.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        let total: u64 = self.counts.iter().sum();
        if total == 0 {
            return 0;
        }
        let wanted = (q * total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, n) in self.counts.iter().enumerate() {
            seen += n;
            if seen >= wanted {
                return Self::lower_edge_ns(bucket);
            }
        }
        Self::lower_edge_ns(self.counts.len())
    }
}

/// Waiting time in equal slices of the run, starting at the return of MPI_Init.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Length of a slice; doubles when the run outgrows the 256 slices kept.
    pub slice_ns: u64,
    pub wait_ns: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_and_buckets_agree() {
        for bucket in 0..Histogram::BUCKETS {
            assert_eq!(Histogram::bucket(Histogram::lower_edge_ns(bucket)), bucket);
            if bucket > 0 {
                assert_eq!(Histogram::bucket(Histogram::lower_edge_ns(bucket) - 1), bucket - 1);
            }
        }
    }

    #[test]
    fn quantiles_walk_the_buckets() {
        let mut h = Histogram { counts: vec![0; 10] };
        h.counts[2] = 9;
        h.counts[8] = 1;
        assert_eq!(h.quantile_ns(0.5), Histogram::lower_edge_ns(2));
        assert_eq!(h.quantile_ns(0.99), Histogram::lower_edge_ns(8));
        assert_eq!(Histogram::default().quantile_ns(0.5), 0);
    }

    #[test]
    fn survives_json() {
        let run = RunRecord { schema: SCHEMA, ranks: vec![RankRecord::default()], ..Default::default() };
        let text = serde_json::to_string(&run).unwrap();
        assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), run);
    }
}
