// The top of a page: title, switch between light and dark, facts, and tiles with the most important numbers.

import { h } from "./dom.ts";
import { scheme, toggle } from "./theme.ts";

/** The header of a page. `program` is the command line that ran, if the page is about one. */
export function header(title: string, program: string | null, started_unix_ns: number, facts: readonly string[]): HTMLElement {
  const button = h("button", { type: "button", class: "theme", onclick: () => (toggle(), name()) });
  const name = () => (button.textContent = scheme() === "dark" ? "Light" : "Dark");
  name();
  const started = started_unix_ns > 0 ? new Date(started_unix_ns / 1e6).toLocaleString() : "";
  return h(
    "header",
    {},
    h("div", { class: "title" }, h("h1", {}, title), button),
    program === null ? null : h("p", { class: "program" }, h("code", {}, program)),
    h("p", { class: "about" }, [started, ...facts].filter((fact) => fact).join(" · ")),
  );
}

/** A number with its name and an explanation. */
export type Tile = [name: string, value: string, about: string];

export function tiles(all: readonly Tile[]): HTMLElement {
  const tile = ([name, value, about]: Tile) =>
    h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), h("dd", { class: "about" }, about));
  return h("dl", { class: "tiles" }, ...all.map(tile));
}
