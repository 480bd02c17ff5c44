// The bar chart of late ranks: how often each arrived last, and how long others waited for it.

import { axis, chart, everyNth, type ChartView } from "./chart.ts";
import type { Digest } from "./data.ts";
import { ordered, type Order } from "./sorting.ts";
import { count, duration, percent, plural, tick } from "./format.ts";
import { colour } from "./theme.ts";

/** Room for the longest labels of either axis, so that the bars of both charts stand below each other. */
const LEFT = 88;

export function lateness(d: Digest, order: () => Order): ChartView {
  const calls = d.ranks.reduce((sum, r) => sum + r.last, 0);
  const describe = (i: number): string[] => {
    const r = ordered(d.ranks, order())[i];
    if (!r) return [];
    return [
      `rank ${r.rank} arrived last in ${plural(r.last, "call", "calls")} (${percent(r.last, calls)})`,
      `waiting caused: ${duration(r.late_ns)} in total`,
      r.last > 0 ? `${duration(r.late_ns / r.last)} per call` : "",
    ].filter((line) => line !== "");
  };
  return chart({
    label: () => "Bar chart: how often each rank arrived last, and how long others waited for it",
    height: 404,
    points: () => ({ columns: d.ranks.length, rows: 1, index: (column) => column, describe }),
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
          { left: LEFT, right: 16, top: 14, height: 150 },
          { left: LEFT, right: 16, top: 208, height: 150 },
        ],
        xAxis: [x(0, ""), x(1, "rank")],
        yAxis: [
          { ...axis("calls arrived last", 58), type: "value", gridIndex: 0, minInterval: 1, axisLabel: { color: colour("--faint"), formatter: count } },
          { ...axis("waiting caused, total", 58), type: "value", gridIndex: 1, axisLabel: { color: colour("--faint"), formatter: tick } },
        ],
        series: [
          { type: "bar", xAxisIndex: 0, yAxisIndex: 0, data: ranks.map((r) => r.last), color: colour("--blue"), barMaxWidth: 48 },
          { type: "bar", xAxisIndex: 1, yAxisIndex: 1, data: ranks.map((r) => r.late_ns), color: colour("--orange"), barMaxWidth: 48 },
        ],
      };
    },
  });
}
