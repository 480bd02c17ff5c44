// The bar chart of what completed pending barriers, the most frequent first.

import { axis, chart, type ChartView } from "./chart.ts";
import type { Digest } from "./data.ts";
import { count } from "./format.ts";
import { describeObserver, mostFrequent } from "./observers.ts";
import { colour } from "./theme.ts";

const SHOWN = 12;

export function observers(d: Digest): ChartView {
  const shown = mostFrequent(d.deferral.observers, SHOWN);
  return chart({
    label: () => "Bar chart: what completed pending barriers, and how often",
    height: 28 * shown.length + 64,
    points: () => ({
      columns: 1,
      rows: shown.length,
      index: (_, row) => row,
      describe: (i) => {
        const o = shown[i];
        return o ? describeObserver(o, d.ranks.length) : [];
      },
    }),
    option: (width) => ({
      grid: { left: width < 600 ? 130 : 200, right: 80, top: 6, bottom: 52 },
      xAxis: { ...axis("times, all ranks together", 30), type: "value", minInterval: 1, axisLabel: { color: colour("--faint"), formatter: count, hideOverlap: true } },
      yAxis: {
        ...axis("", 0),
        type: "category",
        inverse: true,
        data: shown.map((o) => o.name),
        axisLabel: { color: colour("--ink"), fontSize: 13, interval: 0, width: width < 600 ? 116 : 186, overflow: "truncate" },
        axisTick: { show: false },
        splitLine: { show: false },
      },
      series: [
        {
          type: "bar",
          data: shown.map((o) => o.times),
          color: colour("--blue"),
          barMaxWidth: 18,
          barMinHeight: 2,
          label: { show: true, position: "right", color: colour("--ink"), formatter: (p: { value: number }) => count(p.value) },
        },
      ],
    }),
  });
}
