// Puts the page together from what is embedded in it: the digest of a run, or a measurement of noise.

import { commLabel, type Digest, type Note, type Op } from "./data.ts";
import { observers } from "./deferral.ts";
import { choice, h, section } from "./dom.ts";
import { count, duration, percent, plural, ranges } from "./format.ts";
import { heatmap } from "./heatmap.ts";
import { lateness } from "./lateness.ts";
import { latency } from "./latency.ts";
import { noisePage } from "./noise.ts";
import { isNoise } from "./noise-data.ts";
import { sliceCount } from "./slices.ts";
import type { Order } from "./sorting.ts";
import { commsTable, opsTable, ranksTable } from "./tables.ts";
import { scheme, toggle } from "./theme.ts";
import type { ChartView } from "./chart.ts";

const charts: ChartView[] = [];

function header(d: Digest): HTMLElement {
  const flip = h("button", { type: "button", class: "theme", onclick: () => (toggle(), name()) });
  const name = () => (flip.textContent = scheme() === "dark" ? "Light" : "Dark");
  name();
  const started = d.started_unix_ns > 0 ? new Date(d.started_unix_ns / 1e6).toLocaleString() : "";
  const facts = [started, d.mpi, d.shim && `shim ${d.shim}`, d.version && `evenkeel ${d.version}`].filter((f) => f);
  return h(
    "header",
    {},
    h("div", { class: "title" }, h("h1", {}, "What this run waited for"), flip),
    h("p", { class: "program" }, h("code", {}, d.program || "(program unknown)")),
    h("p", { class: "about" }, facts.join(" · ")),
  );
}

function tiles(d: Digest): HTMLElement {
  const late = d.ranks.reduce<Digest["ranks"][number] | null>((a, r) => (r.late_ns > (a?.late_ns ?? 0) ? r : a), null);
  const tile = (name: string, value: string, about: string) =>
    h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), h("dd", { class: "about" }, about));
  return h(
    "dl",
    { class: "tiles" },
    tile("Ranks", count(d.ranks.length), `${plural(d.calls, "collective call", "collective calls")}, ${plural(d.comms.length + d.comms_left_out, "communicator", "communicators")}`),
    tile("Run time", duration(d.elapsed_ns), "from MPI_Init to MPI_Finalize"),
    tile("Waiting", percent(d.wait_ns, d.rank_time_ns), `${duration(d.wait_ns)}, sum of all ranks`),
    tile("Saved", ...saved(d)),
    tile("Held the others up most", late ? `rank ${late.rank}` : "nobody", late ? `${duration(late.late_ns)} in ${plural(late.last, "call", "calls")}` : "no rank was seen to come last"),
  );
}

/** How much waiting was saved, and what is to be said of it. */
function saved(d: Digest): [string, string] {
  const { deferred, overlapped_ns } = d.deferral;
  if (d.saved_ns > 0) return [duration(d.saved_ns), `of waiting, sum of all ranks; ${duration(d.saved_ns / Math.max(1, d.ranks.length))} per rank`];
  if (overlapped_ns > 0) return [duration(overlapped_ns), "of waiting in barriers at least, sum of all ranks"];
  if (deferred > 0) return ["not known", "barriers returned at once; what they would have waited was not measured"];
  return ["nothing", "no rank was spared a wait"];
}

function timeSection(d: Digest): HTMLElement {
  const about = "Each row is a rank, each column a slice of the run. Where one row stays empty while the others fill up, they wait for that rank.";
  if (sliceCount(d.timeline) === 0) return section("time", "Waiting over time", "No timeline was recorded.");
  if (d.wait_ns === 0) return section("time", "Waiting over time", "No rank waited.");
  const view = heatmap(d);
  charts.push(view);
  return section("time", "Waiting over time", about, view.element);
}

function lateSection(d: Digest): HTMLElement {
  if (d.ranks.every((r) => r.last === 0)) return section("late", "Who comes last", "No rank was seen to come last in a call.");
  let order: Order = "rank";
  const view = lateness(d, () => order);
  charts.push(view);
  const sort = choice("Order", [["rank", "by rank"], ["late", "by time the others were held up"]], (value) => {
    order = value as Order;
    view.draw();
  });
  const about = "How often each rank was the last to arrive in a call, and how long the rank that came first had waited for it by then, in sum, estimated from the calls that were timed in full.";
  return section("late", "Who comes last", about, sort.element, view.element);
}

function deferralSection(d: Digest): HTMLElement | null {
  const b = d.deferral;
  if (b.deferred === 0) return null;
  const worked = b.overlapped_ns > 0 ? ` and went on with their work for at least ${duration(b.overlapped_ns)}, in sum, where they would have waited` : "";
  const said = `${count(b.deferred)} of ${count(b.barriers)} calls of MPI_Barrier (${percent(b.deferred, b.barriers)}) returned before all ranks had entered. Ranks ran up to ${plural(b.ahead, "barrier", "barriers")} ahead${worked}.`;
  const view = b.observers.length > 0 ? observers(d) : null;
  if (view) charts.push(view);
  const why = "What pending barriers were completed for. Where the window was full, a rank was as far ahead as it may be.";
  const strict = b.strict.length > 0 ? h("ul", {}, ...b.strict.map((n) => noteItem(d, n))) : null;
  return section("deferral", "Deferred barriers", said, view ? h("p", { class: "about" }, why) : null, view?.element, strict);
}

function latencySection(d: Digest): { element: HTMLElement; choose: (op: Op) => void } {
  const measured = [...d.ops, ...(d.comms.length > 1 ? d.comm_ops : [])].filter((o) => o.latency.some((n) => n > 0));
  if (measured.length === 0) {
    return { element: section("latency", "How long calls take", "No call was measured."), choose: () => {} };
  }
  let shown = measured[0];
  let log = false;
  const view = latency(() => shown, () => log);
  charts.push(view);
  const name = (o: Op) => (o.comm === null ? o.op : `${o.op} on ${d.comms[o.comm] ? commLabel(d.comms[o.comm]!) : ""}`);
  const pick = choice("Operation", measured.map((o, i) => [String(i), name(o)]), (value) => {
    shown = measured[Number(value)];
    view.draw();
  });
  const scale = h("input", { type: "checkbox", onchange: () => ((log = scale.checked), view.draw()) });
  const controls = h("div", { class: "controls" }, pick.element, h("label", { class: "choice" }, scale, " logarithmic counts"));
  const element = section("latency", "How long calls take", "Time inside a call including waiting, all ranks together. Where calls were sampled, counts are scaled up.", controls, view.element);
  const choose = (op: Op) => {
    const i = measured.indexOf(op);
    if (i < 0) return;
    pick.select.value = String(i);
    shown = op;
    view.draw();
    element.scrollIntoView({ behavior: "smooth" });
    pick.select.focus({ preventScroll: true });
  };
  return { element, choose };
}

function opsSection(d: Digest, choose: (op: Op) => void): HTMLElement {
  if (d.ops.length === 0) return section("ops", "Operations", "The program made no collective calls.");
  const none = d.calls === 0 ? "Every collective call was left to the MPI library." : null;
  const table = opsTable(d, choose);
  const show = (value: string) => table.show(value === "all" ? d.ops : d.comm_ops.filter((o) => String(o.comm) === value));
  show("all");
  const options: [string, string][] = [["all", "all, summed"], ...d.comms.map((c, i): [string, string] => [String(i), commLabel(c)])];
  const pick = d.comms.length > 1 ? choice("Communicator", options, show).element : null;
  return section("ops", "Operations", none ?? "A click on a heading sorts; a click on an operation shows its latency above.", pick, table.element);
}

function noteItem(d: Digest, note: Note): HTMLElement {
  return h("li", {}, note.text + (note.ranks.length === d.ranks.length ? "" : ` (rank ${ranges(note.ranks)})`));
}

function notesSection(d: Digest): HTMLElement | null {
  // Those about barriers stand where the barriers are told of.
  const told = new Set(d.deferral.deferred > 0 ? d.deferral.strict.map((n) => n.text) : []);
  const notes = d.notes.filter((n) => !told.has(n.text));
  if (notes.length === 0) return null;
  return section("notes", "Notes", "What evenkeel could not do here, and why.", h("ul", {}, ...notes.map((n) => noteItem(d, n))));
}

function footer(): HTMLElement {
  return h(
    "footer",
    {},
    h("p", {}, "Waiting is time in collective calls until other ranks had come. Saved is an estimate of how much longer a library without bypass would have held the ranks: for reduce and gather, as long as a binomial tree holds its inner ranks. It says nothing of how fast a call itself is."),
  );
}

function main(): void {
  const root = document.getElementById("report");
  const data = document.getElementById("data")?.textContent;
  if (!root || !data) return;
  const what: unknown = JSON.parse(data);
  if (isNoise(what)) {
    noisePage(root, what);
    return;
  }
  const d = what as Digest;
  const time = latencySection(d);
  const parts: (HTMLElement | null)[] = [header(d), tiles(d)];
  if (d.calls > 0) {
    parts.push(timeSection(d), lateSection(d), deferralSection(d), time.element);
  }
  parts.push(opsSection(d, time.choose));
  if (d.comms.length > 0) {
    const more = d.comms_left_out > 0 ? ` ${plural(d.comms_left_out, "communicator", "communicators")} with less waiting are not listed.` : "";
    const comms = commsTable(d.comms);
    comms.show(d.comms);
    parts.push(section("comms", "Communicators", `Shared memory is set aside once per communicator; its members share it.${more}`, comms.element));
  }
  const ranks = ranksTable();
  ranks.show(d.ranks);
  parts.push(section("ranks", "Ranks", "Times per rank.", ranks.element), notesSection(d), footer());
  root.append(...parts.filter((p): p is HTMLElement => p !== null));
  charts.forEach((c) => c.draw());
}

main();
