// The heat map of waiting per rank over the course of the run.

import type { ChartView } from "./chart.ts";
import type { Digest } from "./data.ts";
import { heatmap } from "./heatmap.ts";
import { cells, sliceCount, sliceSpan } from "./slices.ts";

export function waiting(d: Digest): ChartView {
  const slices = sliceCount(d.timeline);
  return heatmap({
    label: `Heat map: share of time spent waiting, ${d.ranks.length} ranks over ${slices} slices of the run`,
    rowName: "rank",
    rows: d.ranks.map((r) => r.rank),
    rowHeight: Math.min(22, Math.max(5, 560 / Math.max(1, d.ranks.length))),
    timeTitle: "time since MPI_Init",
    slices,
    slice_ns: d.timeline.slice_ns,
    cells: cells(d.timeline),
    scaleTitle: "waiting, share of the slice",
    describe: (cell) => [
      `rank ${d.ranks[cell.row]?.rank}: ${cell.percent.toFixed(1)}% waiting`,
      sliceSpan(d.timeline.slice_ns, cell.slice),
    ],
  });
}
