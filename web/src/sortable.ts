// A table that its headings sort.

import { h } from "./dom.ts";
import { next, sorted, type Direction, type Key } from "./sorting.ts";

export interface Column<Row> {
  head: string;
  /** A longer explanation, shown as a tooltip and read by screen readers. */
  about?: string;
  /** What rows are sorted by. */
  key: (row: Row) => Key;
  text: (row: Row) => string | Node;
  numeric?: boolean;
}

/** What a column needs at least, on average. */
const COLUMN_PX = 82;

export interface SortableTable<Row> {
  element: HTMLElement;
  show: (rows: readonly Row[]) => void;
}

export function sortableTable<Row>(caption: string, columns: Column<Row>[]): SortableTable<Row> {
  let rows: readonly Row[] = [];
  let by: { column: number; direction: Direction } | null = null;
  const body = h("tbody");
  const heads = columns.map((column, i) =>
    h(
      "th",
      { scope: "col", class: column.numeric ? "number" : undefined },
      h("button", { type: "button", title: column.about, onclick: () => sort(i) }, column.head),
    ),
  );
  // A narrow window scrolls the table sideways instead of breaking its words.
  const style = `min-width:${columns.length * COLUMN_PX}px`;
  const table = h("table", { "aria-label": caption, style }, h("thead", {}, h("tr", {}, ...heads)), body);

  function sort(column: number): void {
    const current = by?.column === column ? by.direction : null;
    by = { column, direction: next(current, columns[column]?.numeric ?? false) };
    render();
  }

  function render(): void {
    heads.forEach((th, i) => {
      if (by?.column === i) th.setAttribute("aria-sort", by.direction);
      else th.removeAttribute("aria-sort");
    });
    const column = by && columns[by.column];
    const order = by && column ? sorted(rows, column.key, by.direction) : rows;
    body.replaceChildren(
      ...order.map((row) =>
        h("tr", {}, ...columns.map((c) => h("td", { class: c.numeric ? "number" : undefined }, c.text(row)))),
      ),
    );
  }

  return {
    element: h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table),
    show(shown) {
      rows = shown;
      render();
    },
  };
}
