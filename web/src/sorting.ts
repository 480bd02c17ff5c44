// Order of table rows and of ranks: numbers by value, texts as in a dictionary with numbers in them by value, null last.

import type { Rank } from "./data.ts";

export type Key = number | string | null;
export type Direction = "ascending" | "descending";

function compare(a: Key, b: Key): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** A sorted copy; rows with equal keys keep their order in both directions. */
export function sorted<Row>(rows: readonly Row[], key: (row: Row) => Key, direction: Direction): Row[] {
  const sign = direction === "ascending" ? 1 : -1;
  return [...rows].sort((a, b) => {
    const x = key(a);
    const y = key(b);
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * compare(x, y);
  });
}

/** The direction after a click on a heading. Numbers start with the largest, texts with the first. */
export function next(current: Direction | null, numeric: boolean): Direction {
  if (current === null) return numeric ? "descending" : "ascending";
  return current === "ascending" ? "descending" : "ascending";
}

export type Order = "rank" | "late";

/** Ranks in rank order, or the one that caused the most waiting first. */
export function ordered(ranks: readonly Rank[], order: Order): Rank[] {
  return order === "rank" ? [...ranks] : sorted(ranks, (r) => r.late_ns, "descending");
}
