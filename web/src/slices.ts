// Slices of time in a heat map: the cells, and the labels of the time axis.

import { duration, tick } from "./format.ts";
import type { Timeline } from "./data.ts";

export interface Cell {
  row: number;
  slice: number;
  /** Percent of the slice that was spent waiting or was lost. */
  percent: number;
}

/** One cell per rank and slice. A rank that ended early has no cells after its end. */
export function cells(timeline: Timeline): Cell[] {
  return timeline.share.flatMap((shares, row) => shares.map((share, slice) => ({ row, slice, percent: share / 100 })));
}

/** Slices of the rank that has the most. */
export function sliceCount(timeline: Timeline): number {
  return timeline.share.reduce((most, row) => Math.max(most, row.length), 0);
}

/** A step that divides `span` into at most `most` parts: 1, 2 or 5 times a power of ten. */
export function niceStep(span: number, most: number): number {
  const least = span / most;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/** Labels of slices: round times if there are many slices, the beginning of every slice if there are few. */
export function timeLabels(slice_ns: number, slices: number, most = 10): Map<number, string> {
  const labels = new Map<number, string>();
  if (slices === 0 || slice_ns === 0) return labels;
  if (slices <= most) {
    for (let i = 0; i < slices; i += 1) labels.set(i, tick(i * slice_ns));
    return labels;
  }
  const step = niceStep(slice_ns * slices, most);
  for (let time = 0; time < slice_ns * slices; time += step) {
    const at = Math.floor(time / slice_ns + 1e-9);
    if (!labels.has(at)) labels.set(at, tick(time));
  }
  return labels;
}

/** The time of a slice: `1.50 ms to 2.00 ms`. */
export function sliceSpan(slice_ns: number, slice: number): string {
  return `${duration(slice * slice_ns)} to ${duration((slice + 1) * slice_ns)}`;
}
