// The page of a run: its sections, in the order in which they are shown.

import { commLabel, type Digest, type Note, type Op } from "./data.ts";
import { observers } from "./deferral.ts";
import { choice, h, section } from "./dom.ts";
import { bytes, count, duration, percent, plural, ranges } from "./format.ts";
import { header, type Tile, tiles } from "./header.ts";
import { lateness } from "./lateness.ts";
import { latency } from "./latency.ts";
import { sliceCount } from "./slices.ts";
import type { Order } from "./sorting.ts";
import { commsTable, opsTable, pairsTable, ranksTable } from "./tables.ts";
import { waiting } from "./waiting.ts";
import type { ChartView } from "./chart.ts";

/** A section of the page, and its charts. */
interface Part {
  element: HTMLElement;
  charts: ChartView[];
}

/** A single rank has no other to wait for, and its collective calls are the library's and not counted. */
const isAlone = (d: Digest) => d.ranks.length === 1;

const withoutCharts = (element: HTMLElement): Part => ({ element, charts: [] });

function numbers(d: Digest): HTMLElement {
  const calls = plural(d.calls, "collective call", "collective calls");
  const comms = plural(d.comms.length + d.comms_left_out, "communicator", "communicators");
  return tiles([
    ["Ranks", count(d.ranks.length), isAlone(d) && d.calls === 0 ? "its collective calls are not counted" : `${calls}, ${comms}`],
    ["Run time", duration(d.elapsed_ns), "from MPI_Init to MPI_Finalize"],
    ["Waiting", percent(d.wait_ns, d.rank_time_ns), `${duration(d.wait_ns)}, sum of all ranks`],
    ...messages(d),
    ...(isAlone(d) ? [] : [latest(d)]),
  ]);
}

function latest(d: Digest): Tile {
  const rank = d.latest === null ? undefined : d.ranks[d.latest];
  return rank
    ? ["Delayed the others most", `rank ${rank.rank}`, `${duration(rank.late_ns)} in ${plural(rank.last, "call", "calls")}`]
    : ["Delayed the others most", "no rank", "no call recorded which rank arrived last"];
}

/** Point-to-point messages, if there were any. */
function messages(d: Digest): Tile[] {
  const m = d.messages;
  return m.sent > 0 ? [["Messages", count(m.sent), `${bytes(m.bytes)}; ranks waited for them for ${duration(m.wait_ns)}`]] : [];
}

function waitingSection(d: Digest): Part {
  const title = "Waiting over time";
  if (sliceCount(d.timeline) === 0) return withoutCharts(section("time", title, "No timeline was recorded."));
  if (d.wait_ns === 0) return withoutCharts(section("time", title, "No rank waited."));
  const others = isAlone(d) ? "" : " If one row is empty where the others are filled, the others wait for that rank.";
  const about = `Each row is a rank, each column a slice of the run.${others}`;
  const view = waiting(d);
  return { element: section("time", title, about, view.element), charts: [view] };
}

function lateSection(d: Digest): Part {
  const title = "Late ranks";
  if (d.ranks.every((r) => r.last === 0)) return withoutCharts(section("late", title, "No call recorded which rank arrived last."));
  let order: Order = "rank";
  const view = lateness(d, () => order);
  const sort = choice("Order", [["rank", "by rank"], ["late", "by waiting caused"]], (value) => {
    order = value as Order;
    view.draw();
  });
  const messages = d.messages.pairs.length > 0 ? " Waits for messages of a rank count as calls. A rank that waits itself is late for the next one, so look at the waits above too." : "";
  const about = `Above: in how many calls each rank arrived last. Below: how long the rank that waited longest for it had waited, as a sum over these calls.${messages}`;
  return { element: section("late", title, about, sort.element, view.element), charts: [view] };
}

function messagesSection(d: Digest): Part | null {
  const m = d.messages;
  if (m.sent === 0 && m.time_ns === 0) return null;
  const carried = m.host_sent === 0 ? "evenkeel carried them" : m.host_sent === m.sent ? "the MPI library carried them" : `the MPI library carried ${count(m.host_sent)} of them`;
  const time = m.time_ns > m.wait_ns ? `spent ${duration(m.time_ns)} in point-to-point calls, and waited` : "waited in point-to-point calls";
  const text = `${plural(m.sent, "message", "messages")} with ${bytes(m.bytes)}; ${carried}. Ranks ${time} for ${duration(m.wait_ns)} (${percent(m.wait_ns, d.rank_time_ns)} of all ranks' run time).`;
  if (m.pairs.length === 0) return withoutCharts(section("messages", "Messages", text));
  const more = m.pairs_left_out > 0 ? ` ${plural(m.pairs_left_out, "pair", "pairs")} with less waiting are not listed.` : "";
  const about = `Each row is a pair of ranks: one waits for messages of the other, or until the other receives its own.${more}`;
  const table = pairsTable();
  table.show(m.pairs);
  return withoutCharts(section("messages", "Messages", text, h("p", { class: "about" }, about), table.element));
}

function deferralSection(d: Digest): Part | null {
  const b = d.deferral;
  if (b.deferred === 0) return null;
  const worked = b.overlapped_ns > 0 ? ` and worked for at least ${duration(b.overlapped_ns)} in total instead of waiting` : "";
  const text = `${count(b.deferred)} of ${count(b.barriers)} calls of MPI_Barrier (${percent(b.deferred, b.barriers)}) returned before all ranks had entered. Ranks ran up to ${plural(b.ahead, "barrier", "barriers")} ahead${worked}.`;
  const view = b.observers.length > 0 ? observers(d) : null;
  const about = "The chart shows what completed pending barriers. \"window full\" means that a rank was as far ahead as the option --window allows.";
  const strict = b.strict.length > 0 ? h("ul", {}, ...b.strict.map((n) => noteItem(d, n))) : null;
  return {
    element: section("deferral", "Deferred barriers", text, view ? h("p", { class: "about" }, about) : null, view?.element, strict),
    charts: view ? [view] : [],
  };
}

function latencySection(d: Digest): Part & { choose: (op: Op) => void } {
  const title = "Duration of calls";
  const measured = [...d.ops, ...(d.comms.length > 1 ? d.comm_ops : [])].filter((o) => o.latency.some((n) => n > 0));
  if (measured.length === 0) {
    return { ...withoutCharts(section("latency", title, "No call was measured.")), choose: () => {} };
  }
  let shown = measured[0];
  let log = false;
  const view = latency(() => shown, () => log);
  const name = (o: Op) => (o.comm === null ? o.op : `${o.op} on ${d.comms[o.comm] ? commLabel(d.comms[o.comm]!) : ""}`);
  const pick = choice("Operation", measured.map((o, i) => [String(i), name(o)]), (value) => {
    shown = measured[Number(value)];
    view.draw();
  });
  const scale = h("input", { type: "checkbox", onchange: () => ((log = scale.checked), view.draw()) });
  const controls = h("div", { class: "controls" }, pick.element, h("label", { class: "choice" }, scale, " logarithmic counts"));
  const about = "Time inside a call including waiting, all ranks together. If calls were sampled, counts are scaled up.";
  const element = section("latency", title, about, controls, view.element);
  const choose = (op: Op) => {
    const i = measured.indexOf(op);
    if (i < 0) return;
    pick.select.value = String(i);
    shown = op;
    view.draw();
    element.scrollIntoView({ behavior: "smooth" });
    pick.select.focus({ preventScroll: true });
  };
  return { element, charts: [view], choose };
}

function opsSection(d: Digest, choose: (op: Op) => void): HTMLElement {
  const alone = "The collective calls of a single rank are left to the MPI library, and are not counted.";
  if (d.ops.length === 0) return section("ops", "Operations", isAlone(d) ? alone : "The program made no collective calls.");
  const none = d.calls === 0 ? "Every collective call was left to the MPI library." : null;
  const table = opsTable(d, choose);
  const show = (value: string) => table.show(value === "all" ? d.ops : d.comm_ops.filter((o) => String(o.comm) === value));
  show("all");
  const options: [string, string][] = [["all", "all, summed"], ...d.comms.map((c, i): [string, string] => [String(i), commLabel(c)])];
  const pick = d.comms.length > 1 ? choice("Communicator", options, show).element : null;
  return section("ops", "Operations", none ?? "Click a heading to sort. Click an operation to see its durations above.", pick, table.element);
}

function commsSection(d: Digest): HTMLElement | null {
  if (d.comms.length === 0) return null;
  const more = d.comms_left_out > 0 ? ` ${plural(d.comms_left_out, "communicator", "communicators")} with less waiting are not listed.` : "";
  const table = commsTable(d.comms);
  table.show(d.comms);
  return section("comms", "Communicators", `Each communicator has shared memory of its own, which its members share.${more}`, table.element);
}

function ranksSection(d: Digest): HTMLElement {
  const table = ranksTable(d);
  table.show(d.ranks);
  return section("ranks", "Ranks", "Times per rank.", table.element);
}

function noteItem(d: Digest, note: Note): HTMLElement {
  return h("li", {}, note.text + (note.ranks.length === d.ranks.length ? "" : ` (rank ${ranges(note.ranks)})`));
}

function notesSection(d: Digest): HTMLElement | null {
  // Notes about strict barriers are already in the section about deferred barriers, if there is one.
  const shown = new Set(d.deferral.deferred > 0 ? d.deferral.strict.map((n) => n.text) : []);
  const notes = d.notes.filter((n) => !shown.has(n.text));
  if (notes.length === 0) return null;
  return section("notes", "Notes", "What evenkeel could not do on this machine, and why.", h("ul", {}, ...notes.map((n) => noteItem(d, n))));
}

function footer(): HTMLElement {
  const text = "Waiting is the time in calls of MPI until other ranks had arrived, or their messages. What evenkeel saved cannot be told from one run: run the program with and without it.";
  return h("footer", {}, h("p", {}, text));
}

/** Fills the page with the report of a run. */
export function runPage(root: HTMLElement, d: Digest): void {
  const durations = latencySection(d);
  const waits = d.calls > 0 || d.wait_ns > 0 ? [waitingSection(d), ...(isAlone(d) ? [] : [lateSection(d)])] : [];
  const parts = [...waits, messagesSection(d), ...(d.calls > 0 ? [deferralSection(d), durations] : [])];
  const shown = parts.filter((p): p is Part => p !== null);
  const facts = [d.mpi, d.shim && `shim ${d.shim}`, d.version && `evenkeel ${d.version}`];
  const elements = [
    header("What this run waited for", d.program || "(program unknown)", d.started_unix_ns, facts),
    numbers(d),
    ...shown.map((p) => p.element),
    opsSection(d, durations.choose),
    commsSection(d),
    ranksSection(d),
    notesSection(d),
    footer(),
  ];
  root.append(...elements.filter((e): e is HTMLElement => e !== null));
  // A chart can be drawn only once its element is in the page and has a size.
  shown.flatMap((p) => p.charts).forEach((c) => c.draw());
}
