// The list of what completed deferred barriers, as short as a chart needs it.

import type { Observer } from "./data.ts";
import { count, plural } from "./format.ts";

/** At most `most` observers: the most frequent ones, and one entry for all others. */
export function mostFrequent(observers: readonly Observer[], most: number): Observer[] {
  if (observers.length <= most) return [...observers];
  const rest = observers.slice(most - 1);
  const others: Observer = {
    name: plural(rest.length, "other", "others"),
    times: rest.reduce((sum, o) => sum + o.times, 0),
    ranks: Math.max(...rest.map((o) => o.ranks)),
  };
  return [...observers.slice(0, most - 1), others];
}

/** What a tooltip and a screen reader say about an observer. */
export function describeObserver(o: Observer, ranks: number): string[] {
  const kind = o.name.endsWith("()") ? `the system call ${o.name}` : o.name;
  return [kind, plural(o.times, "time", "times"), o.ranks === ranks ? "on all ranks" : `on ${count(o.ranks)} of ${plural(ranks, "rank", "ranks")}`];
}
