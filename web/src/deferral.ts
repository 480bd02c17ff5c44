// What the program did for which pending barriers had to be completed: bars, most often first.

import { axis, chart, type ChartView } from "./chart.ts";
import type { Digest } from "./data.ts";
import { count } from "./format.ts";
import { mostOften, sayObserver } from "./observers.ts";
import { colour } from "./theme.ts";

const SHOWN = 12;

export function observers(d: Digest): ChartView {
  const shown = mostOften(d.deferral.observers, SHOWN);
  return chart({
    label: () => "Bars: what pending barriers were completed for, and how often",
    height: 28 * shown.length + 64,
    walk: () => ({
      columns: 1,
      rows: shown.length,
      index: (_, row) => row,
      say: (i) => {
        const o = shown[i];
        return o ? sayObserver(o, d.ranks.length) : [];
      },
    }),
    option: (width) => ({
      grid: { left: width < 600 ? 130 : 200, right: 80, top: 6, bottom: 52 },
      xAxis: { ...axis("times, all ranks", 30), type: "value", minInterval: 1, axisLabel: { color: colour("--faint"), formatter: count, hideOverlap: true } },
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
