//! The digest of a run: what a reader of a report wants to know, as plain values with a JSON form.
//!
//! The summary and the page both show a [`Digest`] and nothing else. [`crate::digest()`] makes it.

use serde::Serialize;

/// Everything that the summary and the page show. Vectors over ranks are in the order of [`Digest::ranks`].
///
/// Times are nanoseconds, sizes bytes. Unless a field says otherwise, numbers are sums over all ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Digest {
    /// Version of the evenkeel that wrote the record.
    pub version: String,
    /// Command line of rank 0.
    pub program: String,
    /// Name and version of the MPI library.
    pub mpi: String,
    /// Name of the shim that was loaded.
    pub shim: String,
    /// Start of the run, since the Unix epoch.
    pub started_unix_ns: u64,
    /// Run time of the rank with the longest.
    pub elapsed_ns: u64,
    /// Sum of the ranks' run times. Shares of waiting are relative to it.
    pub rank_time_ns: u64,
    /// Time spent waiting for other ranks.
    pub wait_ns: u64,
    /// Calls that evenkeel carried out.
    pub calls: u64,
    /// Calls left to the MPI library.
    pub host_calls: u64,
    /// Instances of operations: one call by every member of a communicator makes one instance.
    pub instances: u64,
    /// One entry per rank.
    pub ranks: Vec<RankDigest>,
    /// Index into `ranks`: the rank that delayed the others most; `None` if none is known to have.
    pub latest: Option<usize>,
    /// One entry per communicator.
    pub comms: Vec<CommDigest>,
    /// Communicators that are not in `comms`; see [`Digest::shortened`].
    pub comms_left_out: u64,
    /// One entry per operation, summed over communicators, the one with the most waiting first.
    pub ops: Vec<OpDigest>,
    /// One entry per operation and communicator, in the same order.
    pub comm_ops: Vec<OpDigest>,
    /// Waiting over the course of the run.
    pub timeline: TimelineDigest,
    /// Deferred barriers.
    pub deferral: DeferralDigest,
    /// Point-to-point messages.
    pub messages: MessagesDigest,
    /// Sentences for the user.
    pub notes: Vec<Note>,
    /// Shared memory set aside for all communicators.
    pub segment_bytes: u64,
    /// The most shared memory that one communicator took per member.
    pub segment_bytes_per_member: u64,
}

/// One rank over all communicators and operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankDigest {
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Name of the machine.
    pub host: String,
    /// Process ID.
    pub pid: u32,
    /// The cores that the rank may run on.
    pub cores: Vec<u32>,
    /// The waiting policy in force.
    pub wait_policy: String,
    /// Run time.
    pub elapsed_ns: u64,
    /// Processor time.
    pub cpu_ns: u64,
    /// Calls that evenkeel carried out.
    pub calls: u64,
    /// Time inside these calls, and in point-to-point calls.
    pub time_ns: u64,
    /// The part of `time_ns` that was spent waiting for other ranks.
    pub wait_ns: u64,
    /// Point-to-point messages that it sent.
    pub messages: u64,
    /// Their bytes.
    pub message_bytes: u64,
    /// The part of `time_ns` that was spent in point-to-point calls.
    pub message_time_ns: u64,
    /// How often the rank arrived last.
    pub last: u64,
    /// How long others had waited when it arrived last, as a sum over the calls.
    pub late_ns: u64,
}

/// One communicator over all members and operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CommDigest {
    /// Hexadecimal identifier.
    pub id: String,
    /// What MPI_Comm_get_name returns; may be empty.
    pub name: String,
    /// What reports call it, as in "world" and "pressure, row of 4 (0,4,8,12)". No two have the same label.
    pub label: String,
    /// Ranks of the members in MPI_COMM_WORLD.
    pub members: Vec<u32>,
    /// Shared memory set aside for it.
    pub segment_bytes: u64,
    /// Why the MPI library carries out its calls; empty if evenkeel does.
    pub host_reason: String,
    /// The schedule that the table named for blocking barriers; empty for the built-in barrier.
    pub schedule: String,
    /// Calls that evenkeel carried out.
    pub calls: u64,
    /// Calls left to the MPI library.
    pub host_calls: u64,
    /// Time that its members spent waiting for each other.
    pub wait_ns: u64,
    /// Sum of the members' run times.
    pub rank_time_ns: u64,
}

/// One operation, on one communicator or on all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OpDigest {
    /// MPI name in lower case without its prefix.
    pub op: String,
    /// Index into [`Digest::comms`]; `None` for the sum over all.
    pub comm: Option<usize>,
    /// How many ranks called it.
    pub callers: u64,
    /// Calls that evenkeel carried out.
    pub calls: u64,
    /// Calls left to the MPI library.
    pub host_calls: u64,
    /// One call by every member of a communicator makes one instance.
    pub instances: u64,
    /// Of the calls: barriers that returned before all ranks had entered them.
    pub deferred: u64,
    /// Payload contributed or received, whichever is larger on a rank.
    pub bytes: u64,
    /// Time inside the calls.
    pub time_ns: u64,
    /// The part of `time_ns` that was spent waiting for other ranks.
    pub wait_ns: u64,
    /// In how many instances the last rank to arrive was recorded.
    pub last: u64,
    /// The rank that arrived last most often; `None` if chance alone explains the counts.
    pub last_most: Option<TimesLast>,
    /// The longest wait that the last rank to arrive caused, as a sum over the instances.
    pub late_ns: u64,
    /// Mean duration of a call; `None` without calls.
    pub mean_ns: Option<u64>,
    /// Median duration of a call; `None` if none was measured.
    pub median_ns: Option<u64>,
    /// 99th percentile of the durations; `None` if none was measured.
    pub p99_ns: Option<u64>,
    /// Calls per bucket of [`evenkeel_record::Histogram`].
    pub latency: Vec<u64>,
}

/// A rank and how often it arrived last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TimesLast {
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// In how many instances it arrived last.
    pub times: u64,
}

/// Waiting per rank and slice of the run. All ranks have the same slices.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimelineDigest {
    /// Length of a slice.
    pub slice_ns: u64,
    /// The share of the slice spent waiting, per rank and slice, in units of 0.01%.
    pub share: Vec<Vec<u32>>,
}

/// Barriers that returned before all ranks had entered them, over all ranks and communicators.
///
/// If no barrier was deferred, only `barriers` and `strict` have values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeferralDigest {
    /// Blocking barriers that evenkeel carried out: calls of all ranks.
    pub barriers: u64,
    /// How many of them were deferred.
    pub deferred: u64,
    /// The most barriers of one communicator by which a rank was ahead of the others.
    pub ahead: u64,
    /// How long ranks worked on where they would have waited in a strict barrier; a lower bound.
    pub overlapped_ns: u64,
    /// What completed pending barriers, the most frequent first.
    pub observers: Vec<Observer>,
    /// Why barriers were strict, for a time or to the end. These are among [`Digest::notes`] too.
    pub strict: Vec<Note>,
}

/// Point-to-point messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MessagesDigest {
    /// Messages that were sent.
    pub sent: u64,
    /// How many of them the MPI library carried.
    pub host_sent: u64,
    /// The bytes of all of them.
    pub bytes: u64,
    /// Time inside point-to-point calls.
    pub time_ns: u64,
    /// The part of `time_ns` that was spent waiting.
    pub wait_ns: u64,
    /// Pairs of ranks, the one with the most waiting first.
    pub pairs: Vec<PairDigest>,
    /// Pairs that are not in `pairs`; see [`Digest::shortened`].
    pub pairs_left_out: u64,
}

/// Messages from one rank to another, and how long the other waited.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PairDigest {
    /// The rank that receives, or waits until its own message is received.
    pub rank: u32,
    /// The rank that it waits for.
    pub peer: u32,
    /// How often it waited for the peer.
    pub waits: u64,
    /// How long it waited for the peer.
    pub wait_ns: u64,
    /// Messages that the peer sent to it.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// An action of the program that could observe whether a barrier is complete, and so completed it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Observer {
    /// An MPI function, a system call as "write()", or a cause in words.
    pub name: String,
    /// How often it completed barriers, on all ranks together.
    pub times: u64,
    /// On how many ranks it did.
    pub ranks: u64,
}

/// A sentence for the user, and the ranks that recorded it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Note {
    /// Ranks in MPI_COMM_WORLD, ascending.
    pub ranks: Vec<u32>,
    /// The sentence.
    pub text: String,
}

impl Digest {
    /// Keeps the `most` communicators and the `most` pairs of ranks with the longest waiting. A program that
    /// makes and frees communicators in a loop has more of them than a page can show. Sums still include all.
    pub fn shortened(mut self, most: usize) -> Self {
        self.messages.pairs_left_out += self.messages.pairs.len().saturating_sub(most) as u64;
        self.messages.pairs.truncate(most);
        if self.comms.len() > most {
            self.keep_comms(most);
        }
        self
    }

    fn keep_comms(&mut self, most: usize) {
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
    }
}
