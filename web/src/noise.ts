// The page of `evenkeel noise`: lengths of delays and gaps, how they go together with context switches, and when they were.
// The data is crates/collectives/noise/src/record.rs. Times are nanoseconds.

import { axis, chart, everyNth, type ChartView } from "./chart.ts";
import { h, section } from "./dom.ts";
import { count, duration, percent, plural } from "./format.ts";
import { classLabel, lostCells, sum, type CoreNoise, type Noise } from "./noise-data.ts";
import { sliceSpan, timeLabels } from "./slices.ts";
import { sortableTable } from "./sortable.ts";
import { colour, ramp, scheme, toggle } from "./theme.ts";

const r = (value: number | null): string => (value === null ? "-" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`);

function header(n: Noise): HTMLElement {
  const flip = h("button", { type: "button", class: "theme", onclick: () => (toggle(), name()) });
  const name = () => (flip.textContent = scheme() === "dark" ? "Light" : "Dark");
  name();
  const started = n.started_unix_ns > 0 ? new Date(n.started_unix_ns / 1e6).toLocaleString() : "";
  const facts = [started, n.kernel, n.version && `evenkeel ${n.version}`].filter((f) => f);
  return h(
    "header",
    {},
    h("div", { class: "title" }, h("h1", {}, "How this machine disturbs a program"), flip),
    h("p", { class: "about" }, facts.join(" · ")),
  );
}

function tiles(n: Noise): HTMLElement {
  const tile = (name: string, value: string, about: string) =>
    h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), h("dd", { class: "about" }, about));
  const lost = sum(n, (c) => c.delay_ns + c.gap_ns);
  const longest = n.cores.reduce<CoreNoise | null>((a, c) => (c.longest_gap_ns > (a?.longest_gap_ns ?? 0) ? c : a), null);
  const t = n.throttling;
  return h(
    "dl",
    { class: "tiles" },
    tile("Cores", count(n.cores.length), `${duration(n.elapsed_ns)}, quanta of ${duration(n.quantum_ns)}`),
    tile("Lost", percent(lost, sum(n, (c) => c.quanta_ns + c.watched_ns)), "share of the time that went to others"),
    tile("Slow quanta", percent(sum(n, (c) => c.slow), sum(n, (c) => c.quanta)), "more than 5% longer than the fastest"),
    tile("Longest gap", longest ? duration(longest.longest_gap_ns) : "none", longest ? `on core ${longest.core}` : ""),
    tile("r at 100 µs to 1 ms", r(n.between_100_and_1000_us.delays), "delays with context switches"),
    tile("CPU quota", t === null ? "not counted" : t.times === 0 ? "kept" : `${plural(t.times, "time", "times")} over`, t && t.times > 0 ? `${duration(t.ns)} in sum` : ""),
  );
}

function histogram(n: Noise): ChartView {
  const used = n.classes.filter((c) => c.delays + c.gaps > 0);
  const say = (i: number): string[] => {
    const c = used[i % Math.max(1, used.length)];
    return c ? [classLabel(c), `${plural(c.delays, "delay", "delays")} of quanta, r ${r(c.correlation.delays)}`, `${plural(c.gaps, "gap", "gaps")}, r ${r(c.correlation.gaps)}`] : [];
  };
  return chart({
    label: () => "Bars: how many delays and gaps of each length, and their correlation with context switches",
    height: 480,
    walk: () => ({ columns: used.length, rows: 1, index: (column) => column, say }),
    option: () => {
      const x = (grid: number, name: string) => ({
        ...axis(name, 30),
        type: "category",
        gridIndex: grid,
        data: used.map(classLabel),
        axisTick: { show: false },
        splitLine: { show: false },
        // The zero line of the correlation runs through the middle; the lengths stand between the two.
        axisLine: { onZero: grid === 1, lineStyle: { color: colour("--line") } },
        axisLabel: { color: colour("--faint"), fontSize: 12, show: grid === 0 },
      });
      const series = (name: string, grid: number, values: (number | null)[], paint: string) => ({
        type: "bar", name, xAxisIndex: grid, yAxisIndex: grid, data: values, color: colour(paint), barMaxWidth: 34,
      });
      // On a logarithmic axis a bar stands on half a count, so that a single one has a height.
      const counted = (v: number) => (v === 0 ? null : v);
      return {
        legend: { top: 0, right: 16, textStyle: { color: colour("--ink") }, data: ["delays of quanta", "gaps"] },
        grid: [
          { left: 76, right: 16, top: 40, height: 210 },
          { left: 76, right: 16, top: 322, height: 140 },
        ],
        xAxis: [x(0, "length"), x(1, "")],
        yAxis: [
          { ...axis("how many", 58), type: "log", min: 0.5, startValue: 0.5, gridIndex: 0, axisLabel: { color: colour("--faint"), formatter: (v: number) => (v < 1 ? "" : count(v)) } },
          { ...axis("r with switches", 58), type: "value", min: -1, max: 1, interval: 0.5, gridIndex: 1 },
        ],
        series: [
          series("delays of quanta", 0, used.map((c) => counted(c.delays)), "--blue"),
          series("gaps", 0, used.map((c) => counted(c.gaps)), "--orange"),
          series("delays of quanta", 1, used.map((c) => c.correlation.delays), "--blue"),
          series("gaps", 1, used.map((c) => c.correlation.gaps), "--orange"),
        ],
      };
    },
  });
}

function overTime(n: Noise): ChartView {
  const cells = lostCells(n);
  const windows = n.cores.reduce((most, c) => Math.max(most, c.lost.length), 0);
  const index = new Map(cells.map((c, i) => [c.row * windows + c.slice, i]));
  const worst = Math.max(1, ...cells.map((c) => c.percent));
  const rowHeight = Math.min(40, Math.max(6, 480 / Math.max(1, n.cores.length)));
  return chart({
    label: () => `Heat map: share of each window lost, ${plural(n.cores.length, "core", "cores")} over ${windows} windows`,
    height: Math.round(122 + rowHeight * n.cores.length),
    walk: () => ({
      columns: windows,
      rows: n.cores.length,
      index: (column, row) => index.get(row * windows + column) ?? -1,
      say: (i) => {
        const cell = cells[i];
        const kind = cell && cell.slice < windows / 2 ? "delays of quanta" : "gaps";
        return cell ? [`core ${n.cores[cell.row]?.core}: ${cell.percent.toFixed(2)}% lost to ${kind}`, sliceSpan(n.window_ns, cell.slice)] : [];
      },
    }),
    option: (width) => {
      const labels = timeLabels(n.window_ns, windows, Math.max(2, Math.floor(width / 90)));
      return {
        grid: { left: 62, right: 16, top: 56, bottom: 52 },
        xAxis: {
          ...axis("first half: quanta; second half: gaps", 30),
          type: "category",
          data: Array.from({ length: windows }, (_, i) => i),
          axisLabel: { color: colour("--faint"), fontSize: 12, interval: (i: number) => labels.has(i), formatter: (_: string, i: number) => labels.get(i) ?? "" },
          axisTick: { interval: (i: number) => labels.has(i), lineStyle: { color: colour("--line") } },
          splitLine: { show: false },
        },
        yAxis: {
          ...axis("core", 40),
          type: "category",
          inverse: true,
          data: n.cores.map((c) => c.core),
          axisLabel: { color: colour("--faint"), fontSize: 12, interval: everyNth(n.cores.length, (rowHeight * n.cores.length) / 15) },
          axisTick: { show: false },
          splitLine: { show: false },
        },
        visualMap: {
          min: 0, max: worst, calculable: worst > 1, orient: "horizontal", right: 16, top: 0, itemWidth: 14, itemHeight: Math.min(160, width / 3),
          precision: 0, text: ["lost, share of the window", ""], formatter: (v: number) => `${Math.round(v)}%`,
          textStyle: { color: colour("--faint") }, inRange: { color: ramp() }, outOfRange: { color: colour("--card") },
        },
        series: [{ type: "heatmap", data: cells.map((c) => [c.slice, c.row, c.percent]), emphasis: { itemStyle: { borderColor: colour("--ink"), borderWidth: 2 } }, progressive: 0 }],
      };
    },
  });
}

function coresTable(n: Noise): HTMLElement {
  const time = (head: string, about: string, of: (c: CoreNoise) => number) => ({ head, about, key: of, text: (c: CoreNoise) => duration(of(c)), numeric: true });
  const number = (head: string, about: string, of: (c: CoreNoise) => number) => ({ head, about, key: of, text: (c: CoreNoise) => count(of(c)), numeric: true });
  const share = (head: string, about: string, part: (c: CoreNoise) => number, whole: (c: CoreNoise) => number) => ({
    head, about, key: (c: CoreNoise) => part(c) / Math.max(1, whole(c)), text: (c: CoreNoise) => percent(part(c), whole(c)), numeric: true,
  });
  const table = sortableTable<CoreNoise>("Cores", [
    { head: "core", key: (c) => c.core, text: (c) => (c.unpinned ? `${c.core} (${c.unpinned})` : `${c.core}`) },
    number("quanta", "how many pieces of work", (c) => c.quanta),
    time("fastest", "the fastest quantum", (c) => c.fastest_ns),
    time("median", "half of the quanta take longer", (c) => c.median_ns),
    time("p99", "one quantum in a hundred takes longer", (c) => c.p99_ns),
    time("slowest", "the slowest quantum", (c) => c.slowest_ns),
    share("slow", "quanta more than 5% longer than the fastest", (c) => c.slow, (c) => c.quanta),
    share("lost to delays", "sum of the delays, of the time of all quanta", (c) => c.delay_ns, (c) => c.quanta_ns),
    number("gaps", `gaps of at least ${duration(n.least_gap_ns)}`, (c) => c.gaps),
    time("longest gap", "", (c) => c.longest_gap_ns),
    share("lost to gaps", "sum of the gaps, of the time watched", (c) => c.gap_ns, (c) => c.watched_ns),
    number("own switches", "context switches that the process made itself", (c) => c.voluntary),
    number("forced switches", "context switches that were forced on it", (c) => c.involuntary),
    { head: "stolen", about: "time that the hypervisor gave to others", key: (c) => c.steal_ns, text: (c) => (c.steal_ns === null ? "-" : duration(c.steal_ns)), numeric: true },
  ]);
  table.show(n.cores);
  return table.element;
}

/** Fills the page. */
export function noisePage(root: HTMLElement, n: Noise): void {
  const [lengths, time] = [histogram(n), overTime(n)];
  root.append(
    header(n),
    tiles(n),
    section(
      "lengths",
      "Delays and gaps by length",
      "Above: how many. A delay is what a quantum takes longer than the fastest; a gap is what passes between two looks at the clock. Below: how their number in a window goes together with the number of context switches in it. Near +1, another process ran; near 0, it was interrupts, the hypervisor or the processor's clock.",
      lengths.element,
    ),
    section("time", "Lost over time", "Each row is a core, each column a window. A column that is dark in all rows is something that stopped the whole machine.", time.element),
    section("cores", "Cores", "A click on a heading sorts.", coresTable(n)),
    h("footer", {}, h("p", {}, "A program whose ranks meet at barriers after each quantum loses the longest delay of all ranks each time, so what one core loses here is the least it loses.")),
  );
  lengths.draw();
  time.draw();
}
