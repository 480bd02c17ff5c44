// Everything about the selected call, and why it waited.

import { bytes, count, duration } from "../src/format.ts";
import { h } from "../src/dom.ts";
import type { CallDetails, Reference, RunInfo, Source, Why } from "./types.ts";

type Go = (call: Reference) => void;

/** A button that selects a call. */
export function link(call: Reference, text: string, go: Go): HTMLElement {
  return h("button", { type: "button", class: "link", onclick: () => go(call) }, text);
}

export function at(call: Reference): string {
  return call.site ? `${call.name} at ${call.site}` : call.name;
}

export function details(run: RunInfo, call: CallDetails, why: Why, source: Source, go: Go): HTMLElement {
  const name = (lane: number) => run.lanes[lane]?.name ?? `lane ${lane}`;
  const facts: [string, string][] = [
    ["rank", `${name(call.lane)} on ${run.lanes[call.lane]?.host ?? "?"}`],
    ["call", `${count(call.call + 1)} of ${count(run.lanes[call.lane]?.calls ?? 0)}`],
    ["from", duration(call.begin)],
    ["took", duration(call.end - call.begin)],
    ["waited", call.waited > 0 ? duration(call.waited) : "not for another rank"],
    ...call.facts,
  ];
  return h(
    "div",
    {},
    h("h2", { id: "details-title", tabindex: -1 }, call.name),
    h("p", { class: "site" }, call.site),
    whyPart(why, name, go),
    h("dl", { class: "facts" }, ...facts.flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, value)])),
    messages("Took", "from", call.taken, call.taken_count, name, go),
    messages("Sent", "to", call.sent, call.sent_count, name, go),
    collective(call, name, go),
    sourcePart(source),
  );
}

function whyPart(why: Why, name: (lane: number) => string, go: Go): HTMLElement | null {
  if (why.links.length === 0) return null;
  const rows = why.links.map((step, i) =>
    h(
      "li",
      {},
      i > 0 ? "" : null,
      h("span", { class: "who" }, `${name(step.waiting.lane)} waited ${duration(step.waited)}`),
      step.inferred ? " (inferred)" : "",
      " in ",
      link(step.waiting, at(step.waiting), go),
      ` for ${name(step.cause.lane)}: `,
      link(step.cause, at(step.cause), go),
    ),
  );
  if (why.shortened) rows.push(h("li", {}, "… and so on"));
  const culprit = why.culprit;
  if (culprit) {
    const target = culprit.next;
    rows.push(h("li", { class: "culprit" }, h("b", {}, culprit.text), target ? " " : null, target ? link(target, "Show", go) : null));
  }
  return h("section", { class: "why", "aria-labelledby": "why-title" }, h("h3", { id: "why-title" }, "Why did it wait here?"), h("ol", { class: "chain" }, ...rows));
}

function messages(
  title: string, word: string, all: CallDetails["taken"], total: number, name: (lane: number) => string, go: Go,
): HTMLElement | null {
  if (all.length === 0) return null;
  const shown = all.slice(0, 12).map((message) =>
    h("li", {}, `${message.bytes === null ? "?" : bytes(message.bytes)} ${word} ${name(message.other.lane)}: `, link(message.other, at(message.other), go)),
  );
  if (total > shown.length) shown.push(h("li", {}, `and ${count(total - shown.length)} more`));
  return h("section", {}, h("h3", {}, title), h("ul", {}, ...shown));
}

function collective(call: CallDetails, name: (lane: number) => string, go: Go): HTMLElement | null {
  const part = call.collective;
  const [last] = part?.members ?? [];
  if (!part || !last) return null;
  const rows = part.members.slice(0, 8).map((member) =>
    h("li", {}, link(member, name(member.lane), go), ` came at ${duration(member.begin)}${member === last ? ", last" : `, ${duration(last.begin - member.begin)} before it`}`),
  );
  if (part.count > rows.length) rows.push(h("li", {}, `and ${count(part.count - rows.length)} more`));
  return h("section", {}, h("h3", {}, `Collective ${count(part.nth)} of this communicator: who came when`), h("ul", {}, ...rows));
}

function sourcePart(source: Source): HTMLElement | null {
  if (!source.lines) return source.why && source.file ? h("p", { class: "faint" }, `${source.file}: ${source.why}`) : null;
  const first = source.first ?? 1;
  const lines = source.lines.map((text, i) => {
    const number = first + i;
    const here = number === source.line;
    return h("code", { class: here ? "here" : "", "aria-current": here ? "true" : undefined }, `${String(number).padStart(5)}  ${text}\n`);
  });
  return h("section", {}, h("h3", {}, source.file.split("/").pop() ?? ""), h("pre", { class: "source", tabindex: 0, title: source.file, "aria-label": `Source at line ${source.line}` }, ...lines));
}
