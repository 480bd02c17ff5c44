// Waiting per rank over time.

import { axis, chart, everyNth, type ChartView } from "./chart.ts";
import type { Digest } from "./data.ts";
import { cells, sliceCount, sliceSpan, timeLabels } from "./slices.ts";
import { colour, ramp } from "./theme.ts";

export function heatmap(d: Digest): ChartView {
  const slices = sliceCount(d.timeline);
  const all = cells(d.timeline);
  const index = new Map(all.map((c, i) => [c.row * slices + c.slice, i]));
  const worst = Math.max(1, ...all.map((c) => c.percent));
  const rowHeight = Math.min(22, Math.max(5, 560 / Math.max(1, d.ranks.length)));
  return chart({
    label: () => `Heat map: share of time spent waiting, ${d.ranks.length} ranks over ${slices} slices of the run`,
    height: Math.round(122 + rowHeight * d.ranks.length),
    walk: () => ({
      columns: slices,
      rows: d.ranks.length,
      index: (column, row) => index.get(row * slices + column) ?? -1,
      say: (i) => {
        const cell = all[i];
        if (!cell) return [];
        return [
          `rank ${d.ranks[cell.row]?.rank}: ${cell.percent.toFixed(1)}% waiting`,
          sliceSpan(d.timeline.slice_ns, cell.slice),
        ];
      },
    }),
    option: (width) => {
      const labels = timeLabels(d.timeline.slice_ns, slices, Math.max(2, Math.floor(width / 90)));
      return {
        grid: { left: 62, right: 16, top: 56, bottom: 52 },
        xAxis: {
          ...axis("time since MPI_Init", 30),
          type: "category",
          data: Array.from({ length: slices }, (_, i) => i),
          axisLabel: {
            color: colour("--faint"),
            fontSize: 12,
            interval: (i: number) => labels.has(i),
            formatter: (_: string, i: number) => labels.get(i) ?? "",
          },
          axisTick: { interval: (i: number) => labels.has(i), lineStyle: { color: colour("--line") } },
          splitLine: { show: false },
        },
        yAxis: {
          ...axis("rank", 40),
          type: "category",
          inverse: true,
          data: d.ranks.map((r) => r.rank),
          axisLabel: { color: colour("--faint"), fontSize: 12, interval: everyNth(d.ranks.length, rowHeight * d.ranks.length / 15) },
          axisTick: { show: false },
          splitLine: { show: false },
        },
        visualMap: {
          min: 0,
          max: worst,
          calculable: worst > 1,
          orient: "horizontal",
          right: 16,
          top: 0,
          itemWidth: 14,
          itemHeight: Math.min(160, width / 3),
          precision: 0,
          text: ["waiting, share of the slice", ""],
          formatter: (v: number) => `${Math.round(v)}%`,
          textStyle: { color: colour("--faint") },
          inRange: { color: ramp() },
          outOfRange: { color: colour("--card") },
        },
        series: [
          {
            type: "heatmap",
            data: all.map((c) => [c.slice, c.row, c.percent]),
            emphasis: { itemStyle: { borderColor: colour("--ink"), borderWidth: 2 } },
            progressive: 0,
          },
        ],
      };
    },
  });
}
