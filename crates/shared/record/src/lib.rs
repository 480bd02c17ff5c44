//! What evenkeel records about a run: plain data, one [`RankRecord`] per rank, merged into a [`RunRecord`].
//!
//! The engine fills in these types, the report renders them, and the file that `--report run.json` writes is
//! their JSON form. Times are nanoseconds, sizes bytes.
//!
//! May use: serde. Must never: print, do I/O, or compute more than the place of a value in a histogram.

mod collectives;
mod histogram;

pub use collectives::COLLECTIVES;
pub use histogram::Histogram;
use serde::{Deserialize, Serialize};

/// Version of the JSON layout. Readers refuse records with a newer one.
pub const SCHEMA: u32 = 1;

/// The whole run, as `--report run.json` stores it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Layout of the JSON: [`SCHEMA`] when the record was written.
    pub schema: u32,
    /// Version of the evenkeel that wrote the record.
    pub version: String,
    /// Command line of rank 0.
    pub program: String,
    /// Name and version of the host MPI library, e.g. "Open MPI v4.1.4".
    pub mpi: String,
    /// Name of the shim that was loaded, e.g. "openmpi4".
    pub shim: String,
    /// Start of the run (return of MPI_Init on rank 0), nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Time from the return of MPI_Init to the entry of MPI_Finalize: that of the rank with the longest.
    pub elapsed_ns: u64,
    /// One entry per rank of MPI_COMM_WORLD, in rank order.
    pub ranks: Vec<RankRecord>,
}

/// What one rank recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankRecord {
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Name of the machine.
    pub host: String,
    /// Process ID.
    pub pid: u32,
    /// Time from the return of MPI_Init to the entry of MPI_Finalize.
    pub elapsed_ns: u64,
    /// CPU time of the whole process between MPI_Init and MPI_Finalize.
    pub cpu_ns: u64,
    /// The cores that this rank may run on, after placement.
    pub cores: Vec<u32>,
    /// The waiting policy in force: "auto", "spin", "yield", "spin-block" or "block".
    pub wait_policy: String,
    /// One entry per communicator with collective calls, in order of first use.
    pub comms: Vec<CommRecord>,
    /// Waiting time per slice of the run.
    pub timeline: Timeline,
    /// What completed pending barriers, and how often: MPI functions by name, system calls as "write()".
    #[serde(default)]
    pub observers: Vec<(String, u64)>,
    /// Point-to-point messages that this rank sent through evenkeel instead of the MPI library.
    #[serde(default)]
    pub messages: u64,
    /// Of these messages: those that were sent while a barrier was pending.
    #[serde(default)]
    pub messages_ahead: u64,
    /// The bytes of these messages.
    #[serde(default)]
    pub message_bytes: u64,
    /// Of these bytes of large messages: those that this rank copied itself, while it waited.
    #[serde(default)]
    pub message_bytes_copied: u64,
    /// Point-to-point messages that this rank sent through the MPI library. This and the time in calls are
    /// noted only if a report is to be written.
    #[serde(default)]
    pub host_messages: u64,
    /// The bytes of these messages.
    #[serde(default)]
    pub host_message_bytes: u64,
    /// Time inside point-to-point calls, both those that evenkeel carries out and those of the MPI library.
    #[serde(default)]
    pub message_time_ns: u64,
    /// The part of `message_time_ns` that was spent waiting. Where the MPI library carries a message, this
    /// includes its transfer.
    #[serde(default)]
    pub message_wait_ns: u64,
    /// The ranks that this one waited for in point-to-point calls: for each wait the rank whose message or
    /// answer ended it. Waits for ranks that are not known are only in `message_wait_ns`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages_waited_for: Vec<PeerRecord>,
    /// What this rank sent to each other one, through evenkeel and through the MPI library. Ranks that are
    /// not known are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages_sent_to: Vec<TrafficRecord>,
    /// Sentences for the user: what evenkeel could not do on this rank, and why.
    pub notes: Vec<String>,
}

/// What one rank recorded about one communicator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommRecord {
    /// Hexadecimal identifier, the same on all members.
    pub id: String,
    /// What MPI_Comm_get_name returns; may be empty.
    pub name: String,
    /// World ranks of the members, in the communicator's rank order.
    pub members: Vec<u32>,
    /// Shared memory set aside for it by all ranks together; 0 if the MPI library carries out its calls.
    pub segment_bytes: u64,
    /// Why the MPI library carries out its calls; empty if evenkeel does.
    pub host_reason: String,
    /// The schedule that the table named for its blocking barriers; empty for the built-in barrier.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schedule: String,
    /// One entry per operation that was called.
    pub ops: Vec<OpRecord>,
}

/// What one rank recorded about one operation on one communicator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpRecord {
    /// One of [`COLLECTIVES`], or its nonblocking form: "allreduce", "ibcast", "reduce_scatter_block".
    pub op: String,
    /// Calls that evenkeel carried out.
    pub calls: u64,
    /// Calls left to the MPI library (too large, not covered). The fields below do not include them.
    pub host_calls: u64,
    /// Payload that this rank contributed or received, whichever is larger.
    pub bytes: u64,
    /// Time inside the calls. It is `wait_ns` plus a remainder that is sampled and scaled (see `samples`).
    pub time_ns: u64,
    /// The part of `time_ns` that was spent waiting for other ranks. Every wait is measured.
    pub wait_ns: u64,
    /// How often this rank was the last to arrive.
    pub last: u64,
    /// When this rank arrived last: how long the first rank had been waiting, as a sum over the calls
    /// (sampled and scaled).
    pub late_ns: u64,
    /// Number of calls whose duration was measured.
    pub samples: u64,
    /// Barriers that returned before all ranks had entered them.
    #[serde(default)]
    pub deferred: u64,
    /// The most barriers that were pending at one time; of operations to a root, by how many this rank was
    /// ahead of the slowest one beyond the window.
    #[serde(default)]
    pub ahead: u64,
    /// How long this rank worked on where it would have waited in a strict barrier. This is a lower bound:
    /// only overlap that is certain counts.
    #[serde(default)]
    pub overlapped_ns: u64,
    /// The ranks that this one waited for, as ranks of MPI_COMM_WORLD: for each wait the rank that came last
    /// of those that were awaited. Waits of less than about a microsecond are not attributed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited_for: Vec<PeerRecord>,
    /// The part of `waited_for` at the completion of deferred barriers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed_for: Vec<PeerRecord>,
    /// The ranks that came last at deferred barriers, as ranks of MPI_COMM_WORLD: how often, and for how long
    /// a strict barrier would have held the first rank. Each barrier is in the record of one rank only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub came_last: Vec<PeerRecord>,
    /// Distribution of the measured durations.
    pub latency: Histogram,
}

/// What concerns one peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerRecord {
    /// The peer's rank.
    pub rank: u32,
    /// How often.
    pub times: u64,
    /// For how long in sum.
    pub ns: u64,
}

/// Messages to one peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficRecord {
    /// The peer's rank.
    pub rank: u32,
    /// How many.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Waiting time in equal slices of the run, starting at the return of MPI_Init.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Length of a slice. It doubles whenever the run outgrows the 256 slices that are kept.
    pub slice_ns: u64,
    /// Waiting time in each slice.
    pub wait_ns: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_json() {
        let run = RunRecord { schema: SCHEMA, ranks: vec![RankRecord::default()], ..Default::default() };
        let text = serde_json::to_string(&run).unwrap();
        assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), run);
    }
}
