// The data of the page of a run: the digest that the report crate makes (crates/shared/report/src/digest.rs).
// Times are nanoseconds, sizes bytes; lists over ranks are in the order of `ranks`.

export interface Digest {
  version: string;
  program: string;
  mpi: string;
  shim: string;
  started_unix_ns: number;
  elapsed_ns: number;
  rank_time_ns: number;
  wait_ns: number;
  calls: number;
  host_calls: number;
  instances: number;
  ranks: Rank[];
  /** Index into `ranks`: the rank that delayed the others most; null if none is known to have. */
  latest: number | null;
  comms: Comm[];
  /** Communicators of the run that are not in `comms`. */
  comms_left_out: number;
  ops: Op[];
  comm_ops: Op[];
  timeline: Timeline;
  deferral: Deferral;
  messages: Messages;
  notes: Note[];
  segment_bytes: number;
  segment_bytes_per_member: number;
}

export interface Rank {
  rank: number;
  host: string;
  pid: number;
  cores: number[];
  wait_policy: string;
  elapsed_ns: number;
  cpu_ns: number;
  calls: number;
  time_ns: number;
  wait_ns: number;
  messages: number;
  message_bytes: number;
  /** The part of `time_ns` in point-to-point calls. */
  message_time_ns: number;
  last: number;
  late_ns: number;
}

export interface Comm {
  id: string;
  name: string;
  /** What it is called, as in "world" and "pressure, row of 4 (0,4,8,12)". */
  label: string;
  members: number[];
  segment_bytes: number;
  host_reason: string;
  /** The schedule that the table named for blocking barriers; "" for the built-in barrier. */
  schedule: string;
  calls: number;
  host_calls: number;
  wait_ns: number;
  rank_time_ns: number;
}

export interface Op {
  op: string;
  /** Index into `comms`, null for the sum over all. */
  comm: number | null;
  callers: number;
  calls: number;
  host_calls: number;
  instances: number;
  /** Of the calls: barriers that returned before all ranks had entered them. */
  deferred: number;
  bytes: number;
  time_ns: number;
  wait_ns: number;
  last: number;
  /** The rank that arrived last most often, and how often; null if chance alone explains the counts. */
  last_most: { rank: number; times: number } | null;
  late_ns: number;
  mean_ns: number | null;
  median_ns: number | null;
  p99_ns: number | null;
  latency: number[];
}

export interface Timeline {
  slice_ns: number;
  /** The share of the slice spent waiting, per rank and slice, in units of 0.01%. */
  share: number[][];
}

/** Point-to-point messages. */
export interface Messages {
  sent: number;
  /** How many of them the MPI library carried. */
  host_sent: number;
  bytes: number;
  time_ns: number;
  wait_ns: number;
  /** The pair with the most waiting first. */
  pairs: Pair[];
  /** Pairs of the run that are not in `pairs`. */
  pairs_left_out: number;
}

/** Messages from `peer` to `rank`, and how long `rank` waited for `peer`. */
export interface Pair {
  rank: number;
  peer: number;
  waits: number;
  wait_ns: number;
  messages: number;
  bytes: number;
}

/** Barriers that returned before all ranks had entered them. Numbers are sums over all ranks. */
export interface Deferral {
  barriers: number;
  deferred: number;
  /** The most barriers by which a rank was ahead. */
  ahead: number;
  /** How long ranks worked on where they would have waited in a strict barrier; a lower bound. */
  overlapped_ns: number;
  /** What completed pending barriers, the most frequent first. */
  observers: Observer[];
  /** Why barriers were strict. These are among the notes of the digest too. */
  strict: Note[];
}

export interface Observer {
  /** An MPI function, a system call as "write()", or a cause in words. */
  name: string;
  times: number;
  /** On how many ranks it did. */
  ranks: number;
}

export interface Note {
  ranks: number[];
  text: string;
}

/** The name of a communicator in lists. */
export function commLabel({ label }: Comm): string {
  return label.length > 80 ? `${label.slice(0, 40)}…${label.slice(-39)}` : label;
}
