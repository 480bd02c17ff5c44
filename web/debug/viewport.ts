// Which interval of time is shown. Plain functions.

export interface Interval {
  from: number;
  to: number;
}

/** Less than this is not worth looking at, ns. */
const SHORTEST = 50;

/** The interval, moved and cut so that it lies in the run. */
export function within(interval: Interval, length: number): Interval {
  const whole = Math.max(length, SHORTEST);
  const size = Math.min(Math.max(interval.to - interval.from, SHORTEST), whole);
  const from = Math.min(Math.max(interval.from, 0), whole - size);
  return { from: Math.round(from), to: Math.round(from + size) };
}

/** Zooms by a factor (below 1: closer) around a moment, which stays where it is. */
export function zoomed(interval: Interval, factor: number, around: number, length: number): Interval {
  const from = around - (around - interval.from) * factor;
  return within({ from, to: from + (interval.to - interval.from) * factor }, length);
}

/** Moved by a share of what is shown. */
export function panned(interval: Interval, share: number, length: number): Interval {
  const by = (interval.to - interval.from) * share;
  return within({ from: interval.from + by, to: interval.to + by }, length);
}

/** Wide enough to show what lies between two moments, with room beside it. */
export function around(begin: number, end: number, length: number): Interval {
  const room = Math.max((end - begin) * 0.6, SHORTEST);
  return within({ from: begin - room, to: end + room }, length);
}

/** The interval, moved as little as needed to show a moment. */
export function revealing(interval: Interval, at: number, length: number): Interval {
  const size = interval.to - interval.from;
  if (at >= interval.from + size * 0.02 && at <= interval.to - size * 0.02) return interval;
  return within({ from: at - size / 2, to: at + size / 2 }, length);
}

/** Round moments for an axis: at most `most` of them. */
export function ticks(interval: Interval, most: number): number[] {
  const size = interval.to - interval.from;
  const rough = Math.max(size / Math.max(most, 1), 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const found: number[] = [];
  for (let at = Math.ceil(interval.from / step) * step; at <= interval.to; at += step) found.push(Math.round(at));
  return found;
}

/** A moment, written as exactly as the distance of the ticks needs. */
export function moment(ns: number, step: number): string {
  const [unit, size] = step >= 1e9 ? ["s", 1e9] : step >= 1e6 ? ["ms", 1e6] : step >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const digits = Math.max(0, Math.min(3, Math.ceil(-Math.log10(step / Number(size)) - 1e-9)));
  return `${(ns / Number(size)).toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, (_, __, at: number, text: string) => (text.indexOf(".") >= 0 && at > text.indexOf(".") ? "" : ","))} ${unit}`;
}
