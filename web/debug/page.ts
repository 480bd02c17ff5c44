// The page: the time lines, what is selected, and the tables beside and below them.

import { count, duration, plural } from "../src/format.ts";
import { h } from "../src/dom.ts";
import { onChange, scheme, toggle } from "../src/theme.ts";
import { ask, end } from "./api.ts";
import { details } from "./details.ts";
import { FAMILIES, FAMILY_NAMES } from "./families.ts";
import { KEYS } from "./keys.ts";
import { palette } from "./palette.ts";
import { DENSITY, GUTTER, TOP, draw, laneAt, time, type Scene } from "./picture.ts";
import { Tabs } from "./tabs.ts";
import type { DrawnCall, Reference, RunInfo } from "./types.ts";
import { around, panned, revealing, within, zoomed, type Interval } from "./viewport.ts";

/** More lanes than this are scrolled. */
const MOST_LANES = 96;

export class Page {
  private scene: Scene;
  private canvas: HTMLCanvasElement;
  private spoken = h("div", { class: "spoken", "aria-live": "polite" });
  private side = h("aside", { class: "side", "aria-label": "Selected call" });
  private search = h("input", { type: "search", placeholder: "MPI_…", "aria-label": "Find calls of a function", list: "functions" });
  private said = h("span", { class: "faint", role: "status" });
  private tabs: Tabs;
  private colours;
  /** The place in the list of the longest waits. */
  private waitRank = -1;
  private asked = 0;
  private pending = false;
  private frame = 0;
  private tablesTimer = 0;

  constructor(root: HTMLElement, private run: RunInfo) {
    this.colours = palette(run.functions);
    this.scene = {
      run, interval: within({ from: 0, to: run.length }, run.length), view: null, steps: [], path: null, showsPath: true,
      selection: null, why: null, firstLane: 0, lanes: Math.min(run.lanes.length, MOST_LANES), width: 0, height: 0,
    };
    const label = `Time lines of ${plural(run.ranks, "rank", "ranks")}. Arrow keys move from call to call and from rank to rank; question mark for help.`;
    this.canvas = h("canvas", { class: "lines", tabindex: 0, role: "application", "aria-label": label });
    this.tabs = new Tabs(run, (call) => this.select(call, true), (from, to) => this.show(within({ from, to }, run.length)), (rank, call) => void this.selectOf(rank, call));
    root.append(
      this.header(),
      h("main", {}, h("div", { class: "left" }, h("div", { class: "picture" }, this.canvas, this.legend(), this.spoken), this.tabs.element), this.side),
    );
    this.hint();
    this.listen();
    this.resize();
    this.changed();
    this.canvas.focus({ preventScroll: true });
  }

  private header(): HTMLElement {
    const { run } = this;
    const theme = h("button", { type: "button", class: "theme", onclick: toggle });
    const name = () => (theme.textContent = scheme() === "dark" ? "Light" : "Dark");
    name();
    onChange(name);
    const button = (text: string, about: string, action: () => void) => h("button", { type: "button", title: about, onclick: action }, text);
    const facts = [plural(run.ranks, "rank", "ranks"), duration(run.length), plural(run.calls, "call", "calls"), plural(run.messages, "message", "messages")];
    if (run.hosts > 1) facts.push(`${run.hosts} hosts, whose clocks may differ`);
    const cut = run.lanes.filter((lane) => lane.remark).length;
    if (cut > 0) facts.push(`${plural(cut, "rank has", "ranks have")} not ended`);
    const names = h("datalist", { id: "functions" }, ...run.functions.map((fn) => h("option", { value: fn })));
    return h(
      "header",
      { class: "top" },
      h("div", { class: "name" }, h("h1", {}, "Which rank waited for which"), h("p", { class: "faint" }, h("b", {}, run.trace), ` · ${facts.join(" · ")}`)),
      h(
        "div",
        { class: "tools" },
        button("Next longest wait", "W", () => void this.nextWait(false)),
        button("Next superstep", "S", () => void this.nextStep(false)),
        h("span", { class: "find" }, this.search, names, button("‹", "The call before", () => void this.find(true)), button("›", "The next call", () => void this.find(false))),
        h("span", { class: "group" }, button("−", "Zoom out", () => this.zoom(2)), button("+", "Zoom in", () => this.zoom(0.5)), button("All", "The whole run (0)", () => this.showAll())),
        button("Path", "Critical path on and off (P)", () => this.togglePath()),
        theme,
        button("?", "Keys", () => this.help()),
        button("End", "End the server", () => void this.endServer()),
      ),
      this.said,
    );
  }

  private legend(): HTMLElement {
    const sample = (name: string, text: string) => h("span", {}, h("i", { class: `sample ${name}` }), text);
    return h("p", { class: "legend" }, ...FAMILIES.map((name) => sample(name, FAMILY_NAMES[name])), sample("wait", "waiting for another rank"), sample("path", "critical path"));
  }

  private hint(): void {
    this.side.replaceChildren(
      h("h2", {}, "Select a call"),
      h("p", {}, "Click on a call, or press an arrow key. It shows what the call was about, and why it waited."),
      h("p", {}, h("button", { type: "button", class: "primary", onclick: () => void this.nextWait(false) }, "Show the longest wait")),
      keyList(),
    );
  }

  // What is shown.

  private show(interval: Interval): void {
    this.scene.interval = interval;
    this.changed();
  }

  private showAll(): void {
    this.show(within({ from: 0, to: this.run.length }, this.run.length));
  }

  private zoom(factor: number, at?: number): void {
    const { interval, selection } = this.scene;
    const middle = (interval.from + interval.to) / 2;
    const chosen = selection ? Math.min(Math.max((selection.begin + selection.end) / 2, interval.from), interval.to) : middle;
    this.show(zoomed(interval, factor, at ?? chosen, this.run.length));
  }

  private togglePath(): void {
    this.scene.showsPath = !this.scene.showsPath;
    this.say(this.scene.showsPath ? "The critical path is shown." : "The critical path is hidden.");
    this.redraw();
  }

  /** After a change of what is shown: draws what is known at once, and asks for the rest. */
  private changed(): void {
    this.redraw();
    void this.fetchView();
    clearTimeout(this.tablesTimer);
    this.tablesTimer = window.setTimeout(() => this.fetchTables(), 120);
  }

  private async fetchView(): Promise<void> {
    // One question at a time; the last one counts.
    if (this.pending) {
      this.asked += 1;
      return;
    }
    this.pending = true;
    const number = ++this.asked;
    const { interval, firstLane, lanes, width } = this.scene;
    const parameters = { from: interval.from, to: interval.to, width: Math.max(1, Math.floor(width - GUTTER)), first: firstLane, last: firstLane + lanes };
    try {
      const [view, steps, path] = await Promise.all([
        ask("view", parameters),
        ask("supersteps", { from: interval.from, to: interval.to }),
        ask("path", { from: interval.from, to: interval.to }),
      ]);
      this.scene.view = view;
      this.scene.steps = steps.rows;
      this.scene.path = path.segments;
      this.tabs.set({ steps, path, view, lane: this.scene.selection?.lane ?? firstLane });
      this.canvas.dataset["views"] = String(Number(this.canvas.dataset["views"] ?? 0) + 1);
      this.redraw();
    } catch (error) {
      this.fail(error);
    } finally {
      this.pending = false;
    }
    if (this.asked !== number) void this.fetchView();
  }

  private fetchTables(): void {
    void this.tabs.fetch(this.scene.interval).catch((error: unknown) => this.fail(error));
  }

  private redraw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const context = this.canvas.getContext("2d");
      if (!context) return;
      const ratio = window.devicePixelRatio || 1;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      draw(context, this.scene, this.colours);
    });
  }

  private resize(): void {
    const width = this.canvas.parentElement?.clientWidth ?? 800;
    const lanes = this.scene.lanes;
    const tall = Math.min(Math.max(lanes * (lanes > 40 ? 9.5 : lanes > 16 ? 18 : lanes > 8 ? 32 : 44), 120), 640);
    const height = Math.round(TOP + DENSITY + tall);
    const ratio = window.devicePixelRatio || 1;
    if (this.scene.width === width && this.scene.height === height) return;
    Object.assign(this.scene, { width, height });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    this.changed();
  }

  // What is selected.

  private select(call: Reference | null, fits: boolean): void {
    if (!call) return;
    const { scene, run } = this;
    scene.selection = { lane: call.lane, call: call.call, begin: call.begin, end: call.end };
    scene.why = null;
    const { from, to } = scene.interval;
    const isSmall = (call.end - call.begin) / (to - from) < 0.002;
    const isOutside = call.end < from || call.begin > to || call.end - call.begin > 2 * (to - from);
    if (fits && (isSmall || isOutside)) scene.interval = around(call.begin, Math.max(call.end, call.begin + 1), run.length);
    else scene.interval = revealing(scene.interval, Math.min(Math.max((call.begin + call.end) / 2, call.begin), call.end), run.length);
    if (call.lane < scene.firstLane) scene.firstLane = call.lane;
    if (call.lane >= scene.firstLane + scene.lanes) scene.firstLane = call.lane - scene.lanes + 1;
    this.changed();
    void this.fetchDetails(call.lane, call.call);
  }

  private async selectOf(rank: number, call: number): Promise<void> {
    const lane = this.run.lanes.findIndex((info) => info.rank === rank);
    try {
      this.select(await ask("call", { lane, call }), true);
    } catch (error) {
      this.fail(error);
    }
  }

  private async fetchDetails(lane: number, call: number): Promise<void> {
    try {
      const [found, why] = await Promise.all([ask("call", { lane, call }), ask("why", { lane, call })]);
      const source = await ask("source", { site: found.site_number }).catch(() => ({ file: "" }));
      const chosen = this.scene.selection;
      if (!chosen || chosen.lane !== lane || chosen.call !== call) return;
      this.scene.why = why.links.length > 0 ? why : null;
      this.side.replaceChildren(details(this.run, found, why, source, (target) => this.select(target, true)));
      this.side.scrollTop = 0;
      const waited = found.waited > 0 ? `, waited ${duration(found.waited)}` : "";
      this.spoken.textContent = `${this.run.lanes[lane]?.name}, call ${count(call + 1)}, ${found.name} ${found.site}, ${duration(found.end - found.begin)}${waited}`;
      this.redraw();
    } catch (error) {
      this.fail(error);
    }
  }

  private clear(): void {
    this.scene.selection = null;
    this.scene.why = null;
    this.hint();
    this.canvas.focus({ preventScroll: true });
    this.redraw();
  }

  private drawnCalls(lane: number): DrawnCall[] | undefined {
    const view = this.scene.view;
    return view?.lanes.find((drawn) => drawn.lane === lane)?.calls;
  }

  private reference(lane: number, [call, begin, end, fn]: DrawnCall): Reference {
    return { lane, call, begin, end, name: this.run.functions[fn] ?? "", site: "" };
  }

  /** The call at a moment of a lane: the drawn one, or the one that the server finds. */
  private async selectAt(lane: number, at: number): Promise<void> {
    const { from, to } = this.scene.interval;
    const pixel = (to - from) / Math.max(1, this.scene.width);
    const near = ([, begin, end]: DrawnCall) => (at < begin ? begin - at : at > end ? at - end : 0);
    const calls = this.drawnCalls(lane);
    const best = calls?.reduce<DrawnCall | null>((best, call) => (!best || near(call) < near(best) ? call : best), null);
    if (best) {
      if (near(best) < 6 * pixel || calls!.length < 3) return this.select(this.reference(lane, best), false);
      return this.say("Outside MPI: the rank computed here.");
    }
    if (calls) return this.say("No call here.");
    // Calls are too close to be told apart: the last one that began before.
    try {
      const found = await ask("next", { what: "call", name: "", lane, at: Math.round(at), back: 1 });
      this.select(found, true);
    } catch (error) {
      this.fail(error);
    }
  }

  private async step(by: number): Promise<void> {
    const chosen = this.scene.selection;
    if (!chosen) {
      const { from } = this.scene.interval;
      return this.selectNext(this.scene.firstLane, from - 1, false);
    }
    const call = chosen.call + by;
    const total = this.run.lanes[chosen.lane]?.calls ?? 0;
    if (call < 0 || call >= total) return this.say(by < 0 ? "This is the first call." : "This is the last call.");
    try {
      this.select(await ask("call", { lane: chosen.lane, call }), false);
    } catch (error) {
      this.fail(error);
    }
  }

  private async selectNext(lane: number, at: number, back: boolean, name = ""): Promise<void> {
    try {
      const found = await ask("next", { what: "call", name, lane, at: Math.round(at), back: back ? 1 : 0 });
      if (found) this.select(found, false);
      else this.say("There are no calls.");
    } catch (error) {
      this.fail(error);
    }
  }

  private async stepLane(by: number): Promise<void> {
    const chosen = this.scene.selection;
    const lane = Math.min(Math.max((chosen?.lane ?? this.scene.firstLane) + (chosen ? by : 0), 0), this.run.lanes.length - 1);
    const at = chosen ? (Math.max(chosen.begin, this.scene.interval.from) + Math.min(chosen.end, this.scene.interval.to)) / 2 : this.scene.interval.from;
    const found = await ask("next", { what: "call", name: "", lane, at: Math.round(at), back: 1 }).catch(() => null);
    if (found) this.select(found, false);
    else await this.selectNext(lane, at, false);
  }

  /** On to the rank that the selected call waited for. */
  private nextLink(): void {
    const links = this.scene.why?.links;
    const first = links?.[0];
    if (!first) return this.say(this.scene.selection ? "This call did not wait for another rank." : "Select a call first.");
    const culprit = this.scene.why?.culprit;
    const next = links[1];
    if (next) this.select(next.waiting, true);
    else this.select(culprit?.next ?? first.cause, true);
  }

  private async nextWait(back: boolean): Promise<void> {
    this.waitRank = Math.max(0, this.waitRank + (back ? -1 : 1));
    const found = await ask("next", { what: "wait", rank: this.waitRank }).catch(() => null);
    if (found) {
      this.select(found, true);
      this.say(`Wait ${count(this.waitRank + 1)} of the longest`);
    } else {
      this.say(this.waitRank > 0 ? "There are no more waits." : "No call waited for another rank.");
      this.waitRank -= 1;
    }
  }

  private async nextStep(back: boolean): Promise<void> {
    const { from, to } = this.scene.interval;
    // A superstep that is shown begins at about a twentieth of the width.
    const at = Math.round(from + (to - from) * 0.06);
    const found = await ask("next", { what: "superstep", at: back ? Math.round(from + (to - from) * 0.01) : at, back: back ? 1 : 0 }).catch(() => null);
    if (!found) return this.say(back ? "This is the first superstep." : "There are no more supersteps.");
    const room = (found.to - found.from) / 18;
    this.show(within({ from: found.from - room, to: found.to + room }, this.run.length));
    this.say(`Superstep ${count(found.number)} of ${count(this.run.supersteps)}, ${duration(found.to - found.from)}`);
  }

  private async find(back: boolean): Promise<void> {
    const name = this.search.value.trim();
    if (!name) return this.search.focus();
    const { selection, interval } = this.scene;
    const at = selection ? selection.begin : back ? interval.to : interval.from - 1;
    try {
      const found = await ask("next", { what: "call", name, at: Math.round(at), back: back ? 1 : 0 });
      if (found) this.select(found, true);
      else this.say(`There is no call of ${name} ${back ? "before" : "after"} this.`);
    } catch (error) {
      this.fail(error);
    }
  }

  // What is said.

  private say(text: string): void {
    this.said.textContent = text;
  }

  private fail(error: unknown): void {
    const why = error instanceof TypeError ? "the server has ended: start `evenkeel debug` again" : error instanceof Error ? error.message : String(error);
    this.say(`Cannot show this: ${why}`);
  }

  private help(): void {
    const dialog = h("dialog", { "aria-label": "Keys" }, h("h2", {}, "Keys"), keyList(), h("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close"));
    dialog.addEventListener("close", () => (dialog.remove(), this.canvas.focus({ preventScroll: true })));
    document.body.append(dialog);
    dialog.showModal();
  }

  private async endServer(): Promise<void> {
    await end().catch(() => undefined);
    this.say("The server has ended. What is shown stays; start `evenkeel debug` for more.");
  }

  // Keys and mouse.

  private listen(): void {
    document.addEventListener("keydown", (event) => this.key(event));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") void this.find(event.shiftKey);
    });
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    let drag: { left: number; interval: Interval; moved: boolean } | null = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      drag = { left: event.offsetX, interval: this.scene.interval, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const by = event.offsetX - drag.left;
      if (Math.abs(by) > 3) drag.moved = true;
      if (drag.moved) this.show(panned(drag.interval, -by / (this.scene.width - GUTTER), this.run.length));
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const moved = drag?.moved ?? true;
      drag = null;
      if (!moved && event.offsetX > GUTTER && event.offsetY > TOP) void this.selectAt(laneAt(this.scene, event.offsetY), time(this.scene, event.offsetX));
    });
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement!);
    onChange(() => {
      this.colours = palette(this.run.functions);
      this.tabs.recolour();
      this.redraw();
    });
  }

  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaY) > Math.abs(event.deltaX) && this.run.lanes.length > this.scene.lanes) {
      const first = this.scene.firstLane + Math.sign(event.deltaY) * 4;
      this.scene.firstLane = Math.min(Math.max(first, 0), this.run.lanes.length - this.scene.lanes);
      this.changed();
    } else if (event.ctrlKey || (!event.shiftKey && event.deltaX === 0)) {
      this.zoom(Math.exp(Math.sign(event.deltaY) * 0.25), time(this.scene, event.offsetX));
    } else {
      this.show(panned(this.scene.interval, (event.deltaX || event.deltaY) / this.scene.width, this.run.length));
    }
    event.preventDefault();
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.key === "Escape" && !document.querySelector("dialog")) return target === this.canvas ? this.clear() : this.canvas.focus();
    const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog")) return;
    const isPicture = target === this.canvas || target === document.body;
    const action = this.action(event, isPicture);
    if (!action) return;
    event.preventDefault();
    action();
  }

  private action(event: KeyboardEvent, isPicture: boolean): (() => void) | undefined {
    const shift = event.shiftKey;
    const length = this.run.length;
    const everywhere: Record<string, () => void> = {
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), "0": () => this.showAll(),
      w: () => void this.nextWait(shift), s: () => void this.nextStep(shift), n: () => this.nextLink(), p: () => this.togglePath(),
      f: () => this.fit(), "/": () => this.search.focus(), "?": () => this.help(),
    };
    const inPicture: Record<string, () => void> = {
      ArrowLeft: () => (shift ? this.show(panned(this.scene.interval, -0.25, length)) : void this.step(-1)),
      ArrowRight: () => (shift ? this.show(panned(this.scene.interval, 0.25, length)) : void this.step(1)),
      ArrowUp: () => void this.stepLane(-1), ArrowDown: () => void this.stepLane(1),
      Enter: () => document.getElementById("details-title")?.focus(),
    };
    return everywhere[event.key.toLowerCase()] ?? (isPicture ? inPicture[event.key] : undefined);
  }

  private fit(): void {
    const chosen = this.scene.selection;
    if (chosen) this.show(around(chosen.begin, chosen.end, this.run.length));
    else this.say("Select a call first.");
  }
}

function keyList(): HTMLElement {
  return h("dl", { class: "keys" }, ...KEYS.flatMap(([keys, about]) => [h("dt", {}, keys), h("dd", {}, about)]));
}
