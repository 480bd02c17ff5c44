// The histogram of the durations of calls, over a logarithmic time axis.

import { axis, chart, type ChartView } from "./chart.ts";
import { bars, decades } from "./buckets.ts";
import type { Op } from "./data.ts";
import { count, duration, percent, tick } from "./format.ts";
import { colour } from "./theme.ts";

interface RenderApi {
  value: (dimension: number) => number;
  coord: (point: [number, number]) => [number, number];
  style: () => object;
}

export function latency(op: () => Op | undefined, logCounts: () => boolean): ChartView {
  const shown = () => bars(op()?.latency ?? []);
  return chart({
    label: () => `Histogram: duration of a call of ${op()?.op ?? "no operation"}`,
    height: 360,
    points: () => {
      const data = shown();
      return {
        columns: data.length,
        rows: 1,
        index: (column) => column,
        describe: (i) => {
          const bar = data[i];
          if (!bar) return [];
          return [
            `${duration(bar.from_ns)} to ${duration(bar.to_ns)}`,
            `${count(bar.calls)} calls, ${percent(bar.share, 1)}`,
            `${percent(bar.up_to, 1)} take no longer`,
          ];
        },
      };
    },
    option: () => {
      const data = shown();
      const log = logCounts();
      // On a logarithmic axis bars begin at half a call, so that the bar of one call has a height.
      const floor = log ? 0.5 : 0;
      const [from, to] = decades(data);
      const quantiles: [string, number | null | undefined][] = [["median", op()?.median_ns], ["p99", op()?.p99_ns]];
      return {
        grid: { left: 76, right: 90, top: 34, bottom: 52 },
        xAxis: {
          ...axis("time in the call", 30),
          type: "log",
          min: from,
          max: to,
          axisLabel: { color: colour("--faint"), fontSize: 12, formatter: tick },
        },
        yAxis: {
          ...axis("calls of all ranks", 58),
          type: log ? "log" : "value",
          ...(log ? { min: floor } : {}),
          axisLabel: { color: colour("--faint"), formatter: (v: number) => (v < 1 && v > 0 ? "" : count(v)) },
        },
        series: [
          {
            type: "custom",
            encode: { x: [0, 1], y: 2 },
            data: data.map((b) => [b.from_ns, b.to_ns, Math.max(b.calls, floor)]),
            color: colour("--blue"),
            renderItem: (_: unknown, api: RenderApi) => {
              const [left, top] = api.coord([api.value(0), api.value(2)]);
              const [right, bottom] = api.coord([api.value(1), floor]);
              return {
                type: "rect",
                shape: { x: left + 0.5, y: top, width: Math.max(1, right - left - 1), height: bottom - top },
                style: { fill: colour("--blue") },
                emphasis: { style: { fill: colour("--orange") } },
              };
            },
            markLine: {
              symbol: "none",
              silent: true,
              lineStyle: { color: colour("--ink"), type: "dashed" },
              label: { color: colour("--ink"), fontSize: 12, position: "end", formatter: (p: { name: string; value: number }) => `${p.name} ${duration(p.value)}` },
              data: quantiles.filter(([, ns]) => ns != null).map(([name, ns]) => ({
                // Labels on different sides, because the two lines may be close together.
                name, xAxis: ns, label: { align: name === "median" ? "right" : "left" },
              })),
            },
          },
        ],
      };
    },
  });
}
