// A chart in the page. It follows the width of the page and the colour scheme, and arrow keys read out its values.

import * as echarts from "echarts/core";
import { BarChart, CustomChart, HeatmapChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";
import type { EChartsCoreOption } from "echarts/core";
import { h } from "./dom.ts";
import { niceStep } from "./slices.ts";
import { colour, onChange } from "./theme.ts";

echarts.use([
  BarChart, CustomChart, HeatmapChart, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapComponent,
  CanvasRenderer,
]);

/** The data points of a chart, as `columns` × `rows`. Arrow keys move among them. */
export interface Points {
  columns: number;
  rows: number;
  /** Index of the point in the first series; -1 where there is none. */
  index: (column: number, row: number) => number;
  /** What a tooltip and a screen reader say about the point: the first line is the heading. */
  describe: (index: number) => string[];
}

export interface ChartView {
  element: HTMLElement;
  /** Draws the chart again, with data that may have changed. */
  draw: () => void;
}

export interface ChartSpec {
  /** What the chart shows, for screen readers. */
  label: () => string;
  height: number;
  /** The chart for a width in pixels. */
  option: (width: number) => EChartsCoreOption;
  points: () => Points;
}

export function chart(spec: ChartSpec): ChartView {
  const canvas = h("div", { class: "canvas", style: `height:${spec.height}px` });
  const spoken = h("div", { class: "spoken", "aria-live": "polite" });
  const element = h("div", { class: "chart", tabindex: 0, role: "group", onkeydown: ((e: KeyboardEvent) => key(e)) as EventListener }, canvas, spoken);
  let view: echarts.ECharts | null = null;
  let at: { column: number; row: number } | null = null;

  function draw(): void {
    element.setAttribute("aria-label", `${spec.label()}. Arrow keys read out single values.`);
    // echarts needs an element that has a size.
    if (!canvas.isConnected) return;
    view ??= echarts.init(canvas, null, { renderer: "canvas" });
    at = null;
    view.setOption(withCommonOptions(spec, canvas.clientWidth), { notMerge: true });
  }

  function key(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
    };
    if (event.key === "Escape") {
      view?.dispatchAction({ type: "hideTip" });
      at = null;
      return;
    }
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    const points = spec.points();
    if (points.columns === 0 || points.rows === 0 || (points.rows === 1 && step[1] !== 0)) return;
    event.preventDefault();
    const clamp = (n: number, size: number) => Math.min(Math.max(n, 0), size - 1);
    at = at
      ? { column: clamp(at.column + step[0], points.columns), row: clamp(at.row + step[1], points.rows) }
      : { column: 0, row: 0 };
    const dataIndex = points.index(at.column, at.row);
    if (dataIndex < 0) {
      spoken.textContent = "nothing recorded here";
      view?.dispatchAction({ type: "hideTip" });
      return;
    }
    spoken.textContent = points.describe(dataIndex).join(", ");
    view?.dispatchAction({ type: "downplay", seriesIndex: 0 });
    view?.dispatchAction({ type: "highlight", seriesIndex: 0, dataIndex });
    view?.dispatchAction({ type: "showTip", seriesIndex: 0, dataIndex });
  }

  element.addEventListener("blur", () => {
    view?.dispatchAction({ type: "hideTip" });
    view?.dispatchAction({ type: "downplay", seriesIndex: 0 });
    at = null;
  });
  new ResizeObserver(() => {
    if (!view || view.getWidth() === canvas.clientWidth) return;
    view.resize();
    draw();
  }).observe(canvas);
  onChange(draw);
  return { element, draw };
}

/** The chart's own option, and what all charts have in common. */
function withCommonOptions(spec: ChartSpec, width: number): EChartsCoreOption {
  const points = spec.points();
  return {
    animation: false,
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: colour("--ink") },
    tooltip: {
      confine: true,
      backgroundColor: colour("--card"),
      borderColor: colour("--line"),
      textStyle: { color: colour("--ink"), fontSize: 13 },
      // This is an element, not a string, because names from the record must not become markup.
      formatter: (p: { dataIndex: number }) => tip(points.describe(p.dataIndex)),
    },
    ...spec.option(width),
  };
}

function tip(lines: string[]): HTMLElement {
  return h("div", {}, ...lines.map((line, i) => h("div", {}, i === 0 ? h("b", {}, line) : line)));
}

/** Which categories of an axis get a label: every nth, so that at most `most` have one. */
export function everyNth(categories: number, most: number): (index: number) => boolean {
  const step = Math.max(1, niceStep(categories, most));
  return (index) => index % step === 0;
}

/** The common look of an axis. `gap` is the distance of its title in pixels. */
export function axis(name: string, gap: number) {
  return {
    name,
    nameLocation: "middle" as const,
    nameGap: gap,
    nameTextStyle: { color: colour("--faint"), fontSize: 12 },
    axisLabel: { color: colour("--faint"), fontSize: 12, hideOverlap: true },
    axisLine: { show: true, lineStyle: { color: colour("--line") } },
    axisTick: { lineStyle: { color: colour("--line") } },
    splitLine: { lineStyle: { color: colour("--grid") } },
    minorSplitLine: { show: false },
  };
}
