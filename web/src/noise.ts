// The page of `evenkeel noise`: how long delays and gaps were, whether they came with context switches, and when they occurred.

import { axis, chart, type ChartView } from "./chart.ts";
import { h, section } from "./dom.ts";
import { count, duration, percent, plural } from "./format.ts";
import { header, tiles } from "./header.ts";
import { heatmap } from "./heatmap.ts";
import { classLabel, lostCells, sum, type CoreNoise, type Noise } from "./noise-data.ts";
import { sliceSpan } from "./slices.ts";
import { sortableTable } from "./sortable.ts";
import { colour } from "./theme.ts";

/** A coefficient of correlation with its sign. */
const r = (value: number | null): string => (value === null ? "-" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`);

function numbers(n: Noise): HTMLElement {
  const lost = sum(n, (c) => c.delay_ns + c.gap_ns);
  const longest = n.cores.reduce<CoreNoise | null>((a, c) => (c.longest_gap_ns > (a?.longest_gap_ns ?? 0) ? c : a), null);
  return tiles([
    ["Cores", count(n.cores.length), `${duration(n.elapsed_ns)}, quanta of ${duration(n.quantum_ns)}`],
    ["Lost", percent(lost, sum(n, (c) => c.quanta_ns + c.watched_ns)), "share of the time that the program did not get"],
    ["Slow quanta", percent(sum(n, (c) => c.slow), sum(n, (c) => c.quanta)), "more than 5% longer than the fastest"],
    ["Longest gap", longest ? duration(longest.longest_gap_ns) : "none", longest ? `on core ${longest.core}` : ""],
    ["r at 100 µs to 1 ms", r(n.between_100_and_1000_us.delays), "correlation of delays with context switches"],
    ["CPU quota", ...quota(n)],
  ]);
}

/** Whether the CPU quota stopped the program, and for how long. */
function quota({ throttling }: Noise): [value: string, about: string] {
  if (throttling === null) return ["not counted", ""];
  if (throttling.times === 0) return ["not exceeded", ""];
  return [`exceeded ${plural(throttling.times, "time", "times")}`, `stopped for ${duration(throttling.ns)} in total`];
}

function histogram(n: Noise): ChartView {
  const used = n.classes.filter((c) => c.delays + c.gaps > 0);
  const describe = (i: number): string[] => {
    const c = used[i % Math.max(1, used.length)];
    return c ? [classLabel(c), `${plural(c.delays, "delay", "delays")} of quanta, r ${r(c.correlation.delays)}`, `${plural(c.gaps, "gap", "gaps")}, r ${r(c.correlation.gaps)}`] : [];
  };
  return chart({
    label: () => "Bar chart: how many delays and gaps of each length, and their correlation with context switches",
    height: 480,
    points: () => ({ columns: used.length, rows: 1, index: (column) => column, describe }),
    option: () => {
      const x = (grid: number, name: string) => ({
        ...axis(name, 30),
        type: "category",
        gridIndex: grid,
        data: used.map(classLabel),
        axisTick: { show: false },
        splitLine: { show: false },
        // The zero line of the correlation is in the middle of its chart. The lengths stand between the charts.
        axisLine: { onZero: grid === 1, lineStyle: { color: colour("--line") } },
        axisLabel: { color: colour("--faint"), fontSize: 12, show: grid === 0 },
      });
      const series = (name: string, grid: number, values: (number | null)[], paint: string) => ({
        type: "bar", name, xAxisIndex: grid, yAxisIndex: grid, data: values, color: colour(paint), barMaxWidth: 34,
      });
      // On a logarithmic axis bars begin at half a count, so that the bar of a count of one has a height.
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
  const windows = n.cores.reduce((most, c) => Math.max(most, c.lost.length), 0);
  return heatmap({
    label: `Heat map: share of each window lost, ${plural(n.cores.length, "core", "cores")} over ${windows} windows`,
    rowName: "core",
    rows: n.cores.map((c) => c.core),
    rowHeight: Math.min(40, Math.max(6, 480 / Math.max(1, n.cores.length))),
    timeTitle: "first half: quanta; second half: gaps",
    slices: windows,
    slice_ns: n.window_ns,
    cells: lostCells(n),
    scaleTitle: "lost, share of the window",
    describe: (cell) => {
      const cause = cell.slice < windows / 2 ? "delays of quanta" : "gaps";
      return [`core ${n.cores[cell.row]?.core}: ${cell.percent.toFixed(2)}% lost to ${cause}`, sliceSpan(n.window_ns, cell.slice)];
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
    number("quanta", "pieces of work that were timed", (c) => c.quanta),
    time("fastest", "the fastest quantum", (c) => c.fastest_ns),
    time("median", "half of the quanta take longer", (c) => c.median_ns),
    time("p99", "one quantum in a hundred takes longer", (c) => c.p99_ns),
    time("slowest", "the slowest quantum", (c) => c.slowest_ns),
    share("slow", "quanta more than 5% longer than the fastest", (c) => c.slow, (c) => c.quanta),
    share("lost to delays", "sum of the delays, as a share of the time of all quanta", (c) => c.delay_ns, (c) => c.quanta_ns),
    number("gaps", `gaps of at least ${duration(n.least_gap_ns)}`, (c) => c.gaps),
    time("longest gap", "", (c) => c.longest_gap_ns),
    share("lost to gaps", "sum of the gaps, as a share of the time watched", (c) => c.gap_ns, (c) => c.watched_ns),
    number("own switches", "context switches that the process caused itself (voluntary)", (c) => c.voluntary),
    number("forced switches", "context switches that the scheduler forced on it (involuntary)", (c) => c.involuntary),
    { head: "stolen", about: "time that the hypervisor gave to other virtual machines", key: (c) => c.steal_ns, text: (c) => (c.steal_ns === null ? "-" : duration(c.steal_ns)), numeric: true },
  ]);
  table.show(n.cores);
  return table.element;
}

/** Fills the page with a measurement of noise. */
export function noisePage(root: HTMLElement, n: Noise): void {
  const [lengths, time] = [histogram(n), overTime(n)];
  root.append(
    header("How this machine disturbs a program", null, n.started_unix_ns, [n.kernel, n.version && `evenkeel ${n.version}`]),
    numbers(n),
    section(
      "lengths",
      "Delays and gaps by length",
      "Above: how many there were. A delay is how much longer a quantum took than the fastest one. A gap is the time between two readings of the clock. Below: the correlation of their number in a window with the number of context switches in it. Near +1, another process ran. Near 0, the cause was interrupts, the hypervisor or the processor's clock.",
      lengths.element,
    ),
    section("time", "Lost over time", "Each row is a core, each column a window. If a column is dark in all rows, something stopped the whole machine.", time.element),
    section("cores", "Cores", "Click a heading to sort.", coresTable(n)),
    h("footer", {}, h("p", {}, "A program whose ranks meet at a barrier after each quantum loses the longest delay of all ranks each time. What one core loses here is a lower bound of that.")),
  );
  lengths.draw();
  time.draw();
}
