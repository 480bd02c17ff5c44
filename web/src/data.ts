// What the page is given: the digest that the report crate makes of a run (crates/shared/report/src/digest.rs).
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
  saved_ns: number;
  calls: number;
  host_calls: number;
  instances: number;
  ranks: Rank[];
  comms: Comm[];
  /** How many more communicators there were than the page shows. */
  comms_left_out: number;
  ops: Op[];
  comm_ops: Op[];
  timeline: Timeline;
  deferral: Deferral;
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
  last: number;
  late_ns: number;
}

export interface Comm {
  id: string;
  name: string;
  members: number[];
  segment_bytes: number;
  host_reason: string;
  /** The schedule that blocking barriers were run by; "" for the built-in way. */
  schedule: string;
  calls: number;
  host_calls: number;
  wait_ns: number;
  saved_ns: number;
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
  /** Of the calls: barriers that returned before they were complete. */
  deferred: number;
  bytes: number;
  time_ns: number;
  wait_ns: number;
  saved_ns: number;
  last: number;
  /** The rank that came last most often, and how often. */
  last_most: { rank: number; times: number } | null;
  late_ns: number;
  mean_ns: number | null;
  median_ns: number | null;
  p99_ns: number | null;
  latency: number[];
}

export interface Timeline {
  slice_ns: number;
  /** Per rank and slice the share of the slice spent waiting, in units of 0.01%. */
  share: number[][];
}

/** Barriers that returned before all ranks had entered them; sums over all ranks. */
export interface Deferral {
  barriers: number;
  deferred: number;
  /** By how many barriers a rank was ahead at most. */
  ahead: number;
  /** How long ranks went on with their work where they would have waited; a lower bound. */
  overlapped_ns: number;
  /** What completed pending barriers, most often first. */
  observers: Observer[];
  /** Why barriers were strict; these are among the notes of the digest too. */
  strict: Note[];
}

export interface Observer {
  /** An MPI function, a system call as "write()", or a cause in words. */
  name: string;
  times: number;
  /** On how many ranks. */
  ranks: number;
}

export interface Note {
  ranks: number[];
  text: string;
}

/** A communicator's name for lists: its own, or its id, with its size. */
export function commLabel(comm: Comm): string {
  const name = comm.name || `communicator ${comm.id}`;
  const short = name.length > 60 ? `${name.slice(0, 40)}…${name.slice(-19)}` : name;
  return `${short}, ${comm.members.length} ${comm.members.length === 1 ? "rank" : "ranks"}`;
}
