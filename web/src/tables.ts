// The page's tables: operations, communicators, messages, ranks.

import { commLabel, type Comm, type Digest, type Op, type Pair, type Rank } from "./data.ts";
import { h } from "./dom.ts";
import { bytes, count, duration, percent, ranges } from "./format.ts";
import { sortableTable, type Column, type SortableTable } from "./sortable.ts";

const time = (ns: number | null) => (ns === null ? "-" : duration(ns));
/** A dash for zero, because a table full of "0 ns" hides the numbers that matter. */
const orDash = (n: number, text: (n: number) => string) => (n === 0 ? "-" : text(n));

export function opsTable(d: Digest, onChoose: (op: Op) => void): SortableTable<Op> {
  const per = (o: Op, n: number) => n / Math.max(1, o.callers);
  const deferred: Column<Op> = {
    head: "deferred",
    about: "calls per rank that returned before all ranks had entered the barrier",
    key: (o) => per(o, o.deferred),
    text: (o) => orDash(per(o, o.deferred), count),
    numeric: true,
  };
  const columns: Column<Op>[] = [
    {
      head: "operation",
      key: (o) => o.op,
      text: (o) =>
        o.latency.length === 0 ? o.op : h("button", { type: "button", class: "link", title: "show the durations of its calls", onclick: () => onChoose(o) }, o.op),
    },
    { head: "ranks", about: "ranks that called it", key: (o) => o.callers, text: (o) => count(o.callers), numeric: true },
    { head: "calls per rank", key: (o) => per(o, o.calls), text: (o) => orDash(per(o, o.calls), count), numeric: true },
    ...(d.deferral.deferred > 0 ? [deferred] : []),
    { head: "bytes per rank", key: (o) => per(o, o.bytes), text: (o) => orDash(per(o, o.bytes), bytes), numeric: true },
    { head: "mean", about: "mean time in the call", key: (o) => o.mean_ns, text: (o) => time(o.mean_ns), numeric: true },
    { head: "median", about: "half of the calls take longer", key: (o) => o.median_ns, text: (o) => time(o.median_ns), numeric: true },
    { head: "p99", about: "one call in a hundred takes longer", key: (o) => o.p99_ns, text: (o) => time(o.p99_ns), numeric: true },
    { head: "time", about: "time in the calls, sum of all ranks", key: (o) => o.time_ns, text: (o) => orDash(o.time_ns, duration), numeric: true },
    { head: "waiting", about: "time spent waiting, sum of all ranks", key: (o) => o.wait_ns, text: (o) => orDash(o.wait_ns, duration), numeric: true },
    { head: "share of run", about: "waiting as a share of all ranks' run time", key: (o) => o.wait_ns, text: (o) => percent(o.wait_ns, d.rank_time_ns), numeric: true },
    {
      head: "usually last",
      about: "the rank that arrived last most often, and its share of the calls; varies: no rank stands out",
      key: (o) => (o.last_most ? o.last_most.times / o.last : null),
      text: (o) => (o.last_most ? `rank ${o.last_most.rank} (${percent(o.last_most.times, o.last)})` : o.last > 0 ? "varies" : "-"),
      numeric: true,
    },
    { head: "left to the MPI library", about: "calls of all ranks that evenkeel left to the MPI library", key: (o) => o.host_calls, text: (o) => orDash(o.host_calls, count), numeric: true },
  ];
  return sortableTable("Operations", columns);
}

/** The table has a column of schedules only if the barriers of one of the communicators had one. */
export function commsTable(comms: Comm[]): SortableTable<Comm> {
  const columns: Column<Comm>[] = [
    { head: "communicator", key: (c) => c.label, text: commLabel },
    { head: "members", about: "ranks in MPI_COMM_WORLD", key: (c) => c.members.length, text: (c) => ranges(c.members) },
    { head: "calls", about: "calls of all ranks that evenkeel carried out", key: (c) => c.calls, text: (c) => orDash(c.calls, count), numeric: true },
    { head: "waiting", about: "sum of all ranks", key: (c) => c.wait_ns, text: (c) => orDash(c.wait_ns, duration), numeric: true },
    { head: "share of run", about: "waiting as a share of its members' run time", key: (c) => c.wait_ns / Math.max(1, c.rank_time_ns), text: (c) => percent(c.wait_ns, c.rank_time_ns), numeric: true },
    { head: "shared memory", key: (c) => c.segment_bytes, text: (c) => orDash(c.segment_bytes, bytes), numeric: true },
    { head: "per member", key: (c) => c.segment_bytes / Math.max(1, c.members.length), text: (c) => orDash(c.segment_bytes / Math.max(1, c.members.length), bytes), numeric: true },
    { head: "left to the MPI library", about: "calls of all ranks that evenkeel left to the MPI library", key: (c) => c.host_calls, text: (c) => orDash(c.host_calls, count), numeric: true },
    { head: "reason", key: (c) => c.host_reason || null, text: (c) => c.host_reason },
  ];
  if (comms.some((c) => c.schedule)) {
    columns.push({ head: "barrier schedule", about: "the schedule that the table named for blocking barriers", key: (c) => c.schedule || null, text: (c) => c.schedule || "-" });
  }
  return sortableTable("Communicators", columns);
}

export function pairsTable(): SortableTable<Pair> {
  const columns: Column<Pair>[] = [
    { head: "rank", key: (p) => p.rank, text: (p) => `rank ${p.rank}` },
    { head: "waits for", about: "the rank whose message or answer ended the wait", key: (p) => p.peer, text: (p) => `rank ${p.peer}` },
    { head: "waiting", key: (p) => p.wait_ns, text: (p) => orDash(p.wait_ns, duration), numeric: true },
    { head: "waits", key: (p) => p.waits, text: (p) => orDash(p.waits, count), numeric: true },
    { head: "per wait", key: (p) => p.wait_ns / Math.max(1, p.waits), text: (p) => orDash(p.wait_ns / Math.max(1, p.waits), duration), numeric: true },
    { head: "messages from it", about: "messages that the other rank sent to this one", key: (p) => p.messages, text: (p) => orDash(p.messages, count), numeric: true },
    { head: "bytes from it", key: (p) => p.bytes, text: (p) => orDash(p.bytes, bytes), numeric: true },
  ];
  return sortableTable("Messages", columns);
}

/** The table has columns of messages only if there were any. */
export function ranksTable(d: Digest): SortableTable<Rank> {
  const messages: Column<Rank>[] = [
    { head: "messages", about: "point-to-point messages that it sent", key: (r) => r.messages, text: (r) => orDash(r.messages, count), numeric: true },
    { head: "message bytes", key: (r) => r.message_bytes, text: (r) => orDash(r.message_bytes, bytes), numeric: true },
  ];
  const columns: Column<Rank>[] = [
    { head: "rank", key: (r) => r.rank, text: (r) => String(r.rank), numeric: true },
    { head: "host", key: (r) => r.host, text: (r) => r.host },
    { head: "process ID", key: (r) => r.pid, text: (r) => String(r.pid), numeric: true },
    { head: "cores", about: "cores it may run on", key: (r) => r.cores.length, text: (r) => ranges(r.cores) || "-" },
    { head: "wait policy", about: "how it waits for other ranks", key: (r) => r.wait_policy, text: (r) => r.wait_policy },
    { head: "run time", key: (r) => r.elapsed_ns, text: (r) => duration(r.elapsed_ns), numeric: true },
    { head: "CPU", about: "CPU time of the process as a share of its run time", key: (r) => r.cpu_ns / Math.max(1, r.elapsed_ns), text: (r) => percent(r.cpu_ns, r.elapsed_ns), numeric: true },
    { head: "calls", key: (r) => r.calls, text: (r) => orDash(r.calls, count), numeric: true },
    { head: "in calls", about: "time in collective and point-to-point calls as a share of its run time", key: (r) => r.time_ns / Math.max(1, r.elapsed_ns), text: (r) => percent(r.time_ns, r.elapsed_ns), numeric: true },
    ...(d.messages.sent > 0 ? messages : []),
    { head: "waiting", key: (r) => r.wait_ns, text: (r) => orDash(r.wait_ns, duration), numeric: true },
    { head: "share of run", key: (r) => r.wait_ns / Math.max(1, r.elapsed_ns), text: (r) => percent(r.wait_ns, r.elapsed_ns), numeric: true },
    { head: "arrived last", about: "collective calls in which it was the last rank to arrive, and waits for its messages", key: (r) => r.last, text: (r) => orDash(r.last, count), numeric: true },
    { head: "waiting caused", about: "how long the rank that waited longest for this one had waited when it arrived last, as a sum over the calls", key: (r) => r.late_ns, text: (r) => orDash(r.late_ns, duration), numeric: true },
  ];
  return sortableTable("Ranks", columns);
}
