// The buckets of the latency histogram (crates/shared/record/src/histogram.rs), and the bars that are drawn of them.

export const BUCKETS = 120;

/** Lower edge of a bucket in nanoseconds. Its upper edge is the lower edge of the next one. */
export function edge(bucket: number): number {
  return 16 * 2 ** Math.floor(bucket / 4) * (1 + (bucket % 4) / 4);
}

export interface Bar {
  from_ns: number;
  to_ns: number;
  calls: number;
  /** Share of all calls, 0 to 1. */
  share: number;
  /** Share of all calls that took at most `to_ns`, 0 to 1. */
  up_to: number;
}

/** The buckets from the first to the last with calls, including empty ones between them. */
export function bars(counts: readonly number[]): Bar[] {
  const total = counts.reduce((a, b) => a + b, 0);
  const first = counts.findIndex((n) => n > 0);
  if (first < 0) return [];
  let last = counts.length - 1;
  while (counts[last] === 0) last -= 1;
  const result: Bar[] = [];
  let seen = 0;
  for (let bucket = first; bucket <= last; bucket += 1) {
    const calls = counts[bucket] ?? 0;
    seen += calls;
    result.push({
      from_ns: edge(bucket),
      to_ns: edge(bucket + 1),
      calls,
      share: calls / total,
      up_to: seen / total,
    });
  }
  return result;
}

/** The range of an axis: powers of ten around all bars, at least two decades so that it has enough labels. */
export function decades(data: readonly Bar[]): [from_ns: number, to_ns: number] {
  const first = data[0];
  const last = data[data.length - 1];
  if (!first || !last) return [10, 1000];
  const from = Math.floor(Math.log10(first.from_ns));
  const to = Math.ceil(Math.log10(last.to_ns));
  if (to - from >= 2) return [10 ** from, 10 ** to];
  const middle = Math.log10(first.from_ns * last.to_ns) / 2;
  return middle - from > 0.5 ? [10 ** from, 10 ** (from + 2)] : [10 ** (from - 1), 10 ** (from + 1)];
}
