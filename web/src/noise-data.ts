// The data of the page of `evenkeel noise` (crates/collectives/noise/src/record.rs), and what needs no browser to compute.
// Times are nanoseconds.

import type { Cell } from "./slices.ts";
import { tick } from "./format.ts";

export interface Noise {
  kind: "noise";
  version: string;
  kernel: string;
  started_unix_ns: number;
  elapsed_ns: number;
  quantum_ns: number;
  least_gap_ns: number;
  window_ns: number;
  cores: CoreNoise[];
  classes: LengthClass[];
  between_100_and_1000_us: Correlation;
  throttling: { times: number; ns: number } | null;
}

export interface CoreNoise {
  core: number;
  unpinned: string | null;
  quanta: number;
  fastest_ns: number;
  median_ns: number;
  p99_ns: number;
  slowest_ns: number;
  slow: number;
  delay_ns: number;
  quanta_ns: number;
  gaps: number;
  longest_gap_ns: number;
  gap_ns: number;
  watched_ns: number;
  voluntary: number;
  involuntary: number;
  steal_ns: number | null;
  /** The share of each window that was lost, in units of 0.01%. */
  lost: number[];
}

export interface Correlation {
  delays: number | null;
  gaps: number | null;
}

export interface LengthClass {
  from_ns: number;
  to_ns: number | null;
  delays: number;
  gaps: number;
  correlation: Correlation;
}

/** Whether the data in the page is a measurement of noise, not the digest of a run. */
export function isNoise(data: unknown): data is Noise {
  return typeof data === "object" && data !== null && "kind" in data && data.kind === "noise";
}

/** A sum over all cores. */
export function sum(n: Noise, of: (core: CoreNoise) => number): number {
  return n.cores.reduce((all, core) => all + of(core), 0);
}

/** The name of a class, as in the terminal: `<1 µs`, `100-300 µs`, `300 µs-1 ms`, `>100 ms`. */
export function classLabel(c: LengthClass): string {
  if (c.to_ns === null) return `>${tick(c.from_ns)}`;
  if (c.from_ns === 0) return `<${tick(c.to_ns)}`;
  const [from, to] = [tick(c.from_ns), tick(c.to_ns)];
  const [number, unit] = from.split(" ");
  return to.endsWith(` ${unit}`) ? `${number}-${to}` : `${from}-${to}`;
}

/** The cells of the heat map. */
export function lostCells(n: Noise): Cell[] {
  return n.cores.flatMap((core, row) => core.lost.map((share, slice) => ({ row, slice, percent: share / 100 })));
}
