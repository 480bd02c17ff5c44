// Who comes last, how often, and how long the others are held up by it.

import { axis, chart, everyNth, type ChartView } from "./chart.ts";
import type { Digest } from "./data.ts";
import { ordered, type Order } from "./sorting.ts";
import { count, duration, percent, tick } from "./format.ts";
import { colour } from "./theme.ts";

export function lateness(d: Digest, order: () => Order): ChartView {
  const times = d.ranks.reduce((sum, r) => sum + r.last, 0);
  const say = (i: number): string[] => {
    const r = ordered(d.ranks, order())[i];
    if (!r) return [];
    return [
      `rank ${r.rank} came last ${count(r.last)} times, ${percent(r.last, times)} of all`,
      `held the others up by ${duration(r.late_ns)} in sum`,
      r.last > 0 ? `${duration(r.late_ns / r.last)} each time` : "",
    ].filter((line) => line !== "");
  };
  return chart({
    label: () => "Bars: how often each rank came last, and how long the others were held up by it",
    height: 420,
    walk: () => ({ columns: d.ranks.length, rows: 1, index: (column) => column, say }),
    option: (width) => {
      const ranks = ordered(d.ranks, order());
      const x = (grid: number, name: string) => ({
        ...axis(name, 28),
        type: "category",
        gridIndex: grid,
        data: ranks.map((r) => r.rank),
        axisLabel: { color: colour("--faint"), fontSize: 12, interval: everyNth(ranks.length, width / 34) },
        axisTick: { show: false },
        splitLine: { show: false },
      });
      return {
        grid: [
          { left: 76, right: 16, top: 14, height: 150 },
          { left: 76, right: 16, top: 208, height: 150 },
        ],
        xAxis: [x(0, ""), x(1, "rank")],
        yAxis: [
          { ...axis("times last", 58), type: "value", gridIndex: 0, minInterval: 1, axisLabel: { color: colour("--faint"), formatter: count } },
          { ...axis("others held up, in sum", 58), type: "value", gridIndex: 1, axisLabel: { color: colour("--faint"), formatter: tick } },
        ],
        series: [
          { type: "bar", xAxisIndex: 0, yAxisIndex: 0, data: ranks.map((r) => r.last), color: colour("--blue"), barMaxWidth: 48 },
          { type: "bar", xAxisIndex: 1, yAxisIndex: 1, data: ranks.map((r) => r.late_ns), color: colour("--orange"), barMaxWidth: 48 },
        ],
      };
    },
  });
}
