// Tables of the interval that is shown.

import { bytes, count, duration, percent } from "../src/format.ts";
import { h } from "../src/dom.ts";
import { at, link } from "./details.ts";
import type { Answers, DrawnLane, Finding, Reference, RunInfo } from "./types.ts";

type Go = (call: Reference) => void;
type Cell = string | Node;

const MOST_ROWS = 200;

export function table(caption: string, heads: string[], numeric: boolean[], rows: Cell[][], more = 0): HTMLElement {
  const cell = (tag: "td" | "th", content: Cell, i: number) => h(tag, { class: numeric[i] ? "number" : "", scope: tag === "th" ? "col" : undefined }, content);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, more > 0 ? `${caption} (${count(more)} more are not shown)` : caption),
      h("thead", {}, h("tr", {}, ...heads.map((head, i) => cell("th", head, i)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((content, i) => cell("td", content, i))))),
    ),
  );
}

export function waits(run: RunInfo, rows: Answers["waits"], go: Go): HTMLElement {
  const name = (lane: number) => run.lanes[lane]?.name ?? "";
  return table(
    "Longest waits that began in what is shown", ["rank", "waited", "in", "for", "which was late with"], [false, true, false, false, false],
    rows.map((row) => [
      name(row.waiting.lane), duration(row.waited), link(row.waiting, at(row.waiting), go),
      row.cause ? name(row.cause.lane) : "", row.cause ? link(row.cause, at(row.cause), go) : "",
    ]),
  );
}

export function path(answer: Answers["path"], go: Go): HTMLElement {
  return table(
    "Critical path in what is shown: what the length of the run depends on", ["rank", "what", "time", "share", "pieces"], [true, false, true, true, true],
    answer.rows.map((row) => [
      String(row.rank), row.call ? link(row.call, row.text, go) : row.text, duration(row.ns), percent(row.ns, answer.whole), count(row.pieces),
    ]),
    answer.row_count - answer.rows.length,
  );
}

export function supersteps(answer: Answers["supersteps"], show: (from: number, to: number) => void, go: Go): HTMLElement {
  const longest = [...answer.rows].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, MOST_ROWS);
  return table(
    "Supersteps in what is shown, the longest first", ["superstep", "time", "imbalance", "busiest rank", "its work", "mean work", "waited at its end", "last to come"],
    [true, true, true, true, true, true, true, false],
    longest.map((step) => [
      h("button", { type: "button", class: "link", onclick: () => show(step.from, step.to) }, count(step.number)),
      duration(step.to - step.from), `${(100 * step.imbalance).toFixed(0)}%`, String(step.busiest), duration(step.longest_work),
      duration(step.mean_work), duration(step.waited), link(step.last, at(step.last), go),
    ]),
    answer.count - longest.length,
  );
}

export function edges(answer: Answers["graph"]): HTMLElement {
  const heaviest = [...answer.edges].sort((a, b) => b[4] - a[4] || b[3] - a[3]).slice(0, MOST_ROWS);
  return table(
    "Messages and waits between ranks in what is shown", ["from", "to", "messages", "bytes", "the receiver waited"], [true, true, true, true, true],
    heaviest.map(([from, to, messages, size, waited]) => [String(from), String(to), count(messages), bytes(size), duration(waited)]),
    answer.count - heaviest.length,
  );
}

/** The calls of a lane, for those who cannot read the picture. */
export function calls(run: RunInfo, lane: DrawnLane | undefined, go: Go): HTMLElement {
  const name = run.lanes[lane?.lane ?? 0]?.name ?? "";
  if (!lane?.calls) return h("p", { class: "faint" }, `There are more calls of ${name} in what is shown than can be listed. Zoom in (+).`);
  return table(
    `Calls of ${name} in what is shown`, ["call", "function", "from", "took", "waited"], [true, false, true, true, true],
    lane.calls.slice(0, MOST_ROWS).map(([call, begin, end, fn, until]) => {
      const target = { lane: lane.lane, call, begin, end, name: run.functions[fn] ?? "", site: "" };
      return [count(call + 1), link(target, target.name, go), duration(begin), duration(end - begin), until > begin ? duration(until - begin) : "-"];
    }),
    Math.max(0, lane.calls.length - MOST_ROWS),
  );
}

export function findings(all: Finding[], run: RunInfo, go: (rank: number, call: number) => void): HTMLElement {
  if (all.length === 0) return h("p", { class: "faint" }, "Nothing was found.");
  const known = (found: Finding) => found.rank !== null && found.call !== null && found.rank < run.ranks;
  return table(
    "Findings", ["severity", "rule", "rank", "place", "what"], [false, false, true, false, false],
    all.map((found) => [
      h("span", { class: `severity ${/^[a-z]+$/.test(found.severity) ? found.severity : ""}` }, found.severity), found.rule, found.rank === null ? "" : String(found.rank), found.site ?? "",
      known(found) ? h("button", { type: "button", class: "link", onclick: () => go(found.rank!, found.call!) }, found.text) : found.text,
    ]),
  );
}

export function difference(answer: NonNullable<Answers["difference"]>, go: Go): HTMLElement {
  if (answer.rows.length === 0) return h("p", { class: "faint" }, `All ranks made the same calls as in ${answer.other}.`);
  return table(
    `First difference of each rank from ${answer.other}`, ["rank", "same calls", "here", "there", "what differs"], [true, true, false, false, false],
    answer.rows.map((row) => [
      row.thread > 0 ? `${row.rank}, thread ${row.thread}` : String(row.rank), count(row.same),
      row.one ? link(row.one, row.one_text ?? "", go) : "no more calls", row.other_text ?? "no more calls", row.what,
    ]),
  );
}
