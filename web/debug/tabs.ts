// The tables below the time lines, one at a time.

import { h } from "../src/dom.ts";
import { ask } from "./api.ts";
import { drawGraph } from "./graph.ts";
import { palette } from "./palette.ts";
import * as tables from "./tables.ts";
import type { Answers, Reference, RunInfo, View } from "./types.ts";
import type { Interval } from "./viewport.ts";

type Name = "waits" | "path" | "steps" | "graph" | "calls" | "findings" | "difference";

interface Shown {
  steps: Answers["supersteps"];
  path: Answers["path"];
  view: View;
  lane: number;
}

export class Tabs {
  readonly element: HTMLElement;
  private panel = h("div", { role: "tabpanel", class: "panel", id: "panel" });
  private buttons = new Map<Name, HTMLButtonElement>();
  private current: Name;
  private shown: Shown | null = null;
  private graph: Answers["graph"] | null = null;
  private weight: "bytes" | "messages" | "waited" = "waited";
  private waits: Answers["waits"] = [];
  private difference: Answers["difference"] | undefined;
  private interval: Interval = { from: 0, to: 0 };

  constructor(
    private run: RunInfo,
    private go: (call: Reference) => void,
    private show: (from: number, to: number) => void,
    private goTo: (rank: number, call: number) => void,
  ) {
    const names: [Name, string][] = [["waits", "Longest waits"], ["path", "Critical path"], ["steps", "Supersteps"], ["graph", "Process graph"], ["calls", "Calls of a rank"]];
    if (run.findings) names.push(["findings", `Findings (${run.findings.length})`]);
    if (run.other !== null) names.push(["difference", "Other run"]);
    this.current = run.other !== null ? "difference" : "waits";
    for (const [name, text] of names) {
      const button = h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", onclick: () => this.open(name) }, text);
      this.buttons.set(name, button);
    }
    const list = h("div", { role: "tablist", class: "tabs", "aria-label": "Tables", onkeydown: ((e: KeyboardEvent) => this.key(e)) as EventListener }, ...this.buttons.values());
    this.element = h("section", { class: "tables" }, list, this.panel);
    this.mark();
  }

  /** What came with the picture. */
  set(shown: Shown): void {
    this.shown = shown;
    if (["path", "steps", "calls"].includes(this.current)) this.draw();
  }

  /** Asks for what the open table needs. */
  async fetch(interval: Interval): Promise<void> {
    this.interval = interval;
    if (this.current === "waits") this.waits = await ask("waits", { from: interval.from, to: interval.to });
    if (this.current === "graph") this.graph = await ask("graph", { from: interval.from, to: interval.to });
    if (this.current === "difference") this.difference ??= await ask("difference");
    this.draw();
  }

  recolour(): void {
    if (this.current === "graph") this.draw();
  }

  private open(name: Name): void {
    this.current = name;
    this.mark();
    void this.fetch(this.interval).catch(() => undefined);
  }

  private mark(): void {
    for (const [name, button] of this.buttons) {
      button.setAttribute("aria-selected", String(name === this.current));
      button.tabIndex = name === this.current ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `tab-${this.current}`);
  }

  private key(event: KeyboardEvent): void {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    const names = [...this.buttons.keys()];
    const next = names[(names.indexOf(this.current) + by + names.length) % names.length]!;
    this.open(next);
    this.buttons.get(next)?.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  private draw(): void {
    const content = this.content();
    if (content) this.panel.replaceChildren(content);
  }

  private content(): HTMLElement | null {
    switch (this.current) {
      case "waits": return tables.waits(this.run, this.waits, this.go);
      case "path": return this.shown && tables.path(this.shown.path, this.go);
      case "steps": return this.shown && tables.supersteps(this.shown.steps, this.show, this.go);
      case "calls": return this.shown && tables.calls(this.run, this.shown.view.lanes.find((lane) => lane.lane === this.shown!.lane), this.go);
      case "graph": return this.graph && this.graphPart(this.graph);
      case "findings": return tables.findings(this.run.findings ?? [], this.run, this.goTo);
      case "difference": return this.difference ? tables.difference(this.difference, this.go) : null;
    }
  }

  private graphPart(answer: Answers["graph"]): HTMLElement {
    const size = 420;
    const ratio = window.devicePixelRatio || 1;
    const canvas = h("canvas", { class: "graph", width: size * ratio, height: size * ratio, role: "img", "aria-label": "Ranks on a circle; lines between those that exchange messages. The table beside it has the same numbers." });
    const context = canvas.getContext("2d");
    context?.scale(ratio, ratio);
    const redraw = () => context && drawGraph(context, size, this.run.ranks, answer.edges, this.weight, palette(this.run.functions));
    const select = h("select", { "aria-label": "Width of lines", onchange: () => ((this.weight = select.value as typeof this.weight), redraw()) });
    for (const [value, text] of [["waited", "time waited"], ["bytes", "bytes"], ["messages", "messages"]] as const) {
      select.append(h("option", { value, selected: value === this.weight }, text));
    }
    redraw();
    return h("div", { class: "two" }, h("div", {}, h("label", { class: "choice" }, "Width of lines: ", select), canvas), tables.edges(answer));
  }
}
