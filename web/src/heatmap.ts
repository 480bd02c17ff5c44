// A heat map of shares: one row per rank or core, one column per slice of time.

import { axis, chart, everyNth, type ChartView } from "./chart.ts";
import { timeLabels, type Cell } from "./slices.ts";
import { colour, ramp } from "./theme.ts";

export interface HeatmapSpec {
  /** What the chart shows, for screen readers. */
  label: string;
  /** What a row is: "rank" or "core". */
  rowName: string;
  /** The number of each row. */
  rows: readonly number[];
  rowHeight: number;
  /** Title of the time axis. */
  timeTitle: string;
  /** Number of slices, and their length. */
  slices: number;
  slice_ns: number;
  cells: readonly Cell[];
  /** Title of the colour scale. */
  scaleTitle: string;
  /** What a tooltip and a screen reader say about a cell: the first line is the heading. */
  describe: (cell: Cell) => string[];
}

export function heatmap(spec: HeatmapSpec): ChartView {
  const { rows, slices, cells } = spec;
  const index = new Map(cells.map((c, i) => [c.row * slices + c.slice, i]));
  return chart({
    label: () => spec.label,
    height: Math.round(122 + spec.rowHeight * rows.length),
    points: () => ({
      columns: slices,
      rows: rows.length,
      index: (column, row) => index.get(row * slices + column) ?? -1,
      describe: (i) => {
        const cell = cells[i];
        return cell ? spec.describe(cell) : [];
      },
    }),
    option: (width) => ({
      grid: { left: 62, right: 16, top: 56, bottom: 52 },
      xAxis: timeAxis(spec, width),
      yAxis: rowAxis(spec),
      visualMap: colourScale(spec, width),
      series: [
        {
          type: "heatmap",
          data: cells.map((c) => [c.slice, c.row, c.percent]),
          emphasis: { itemStyle: { borderColor: colour("--ink"), borderWidth: 2 } },
          progressive: 0,
        },
      ],
    }),
  });
}

function timeAxis(spec: HeatmapSpec, width: number) {
  const labels = timeLabels(spec.slice_ns, spec.slices, Math.max(2, Math.floor(width / 90)));
  return {
    ...axis(spec.timeTitle, 30),
    type: "category",
    data: Array.from({ length: spec.slices }, (_, i) => i),
    axisLabel: {
      color: colour("--faint"),
      fontSize: 12,
      interval: (i: number) => labels.has(i),
      formatter: (_: string, i: number) => labels.get(i) ?? "",
    },
    axisTick: { interval: (i: number) => labels.has(i), lineStyle: { color: colour("--line") } },
    splitLine: { show: false },
  };
}

function rowAxis({ rowName, rows, rowHeight }: HeatmapSpec) {
  return {
    ...axis(rowName, 40),
    type: "category",
    inverse: true,
    data: [...rows],
    axisLabel: { color: colour("--faint"), fontSize: 12, interval: everyNth(rows.length, (rowHeight * rows.length) / 15) },
    axisTick: { show: false },
    splitLine: { show: false },
  };
}

function colourScale(spec: HeatmapSpec, width: number) {
  const most = Math.max(1, ...spec.cells.map((c) => c.percent));
  return {
    min: 0,
    max: most,
    calculable: most > 1,
    orient: "horizontal",
    right: 16,
    top: 0,
    itemWidth: 14,
    itemHeight: Math.min(160, width / 3),
    precision: 0,
    text: [spec.scaleTitle, ""],
    formatter: (v: number) => `${Math.round(v)}%`,
    textStyle: { color: colour("--faint") },
    inRange: { color: ramp() },
    outOfRange: { color: colour("--card") },
  };
}
