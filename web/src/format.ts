// Numbers for people, by the same rules as crates/shared/text/src/units.rs. Tests hold both to the same cases.

function scaled(value: number, step: number, units: readonly string[]): string {
  let unit = 0;
  while (value >= Math.min(step, 999.5) && unit + 1 < units.length) {
    value /= step;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`.trimEnd();
}

export function duration(ns: number): string {
  const seconds = ns / 1e9;
  const long = (value: number, unit: string) => `${value.toFixed(value >= 99.95 ? 0 : 1)} ${unit}`;
  if (seconds >= 99.5 * 60) return long(seconds / 3600, "h");
  if (seconds >= 999.5) return long(seconds / 60, "min");
  return scaled(ns, 1000, ["ns", "µs", "ms", "s"]);
}

export function bytes(n: number): string {
  return scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
}

export function count(n: number): string {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return "-";
  const share = (part / whole) * 100;
  if (share === 0) return "0%";
  if (share < 0.05) return "<0.1%";
  if (share < 9.95) return `${share.toFixed(1)}%`;
  if (share > 99.5 && part < whole) return ">99%";
  return `${share.toFixed(0)}%`;
}

export function plural(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Integers as ranges: `0-3, 7`. After `shown` ranges the others are only counted. */
export function ranges(numbers: readonly number[], shown = 4): string {
  const found: [number, number][] = [];
  for (const n of numbers) {
    const last = found[found.length - 1];
    if (last && last[1] + 1 === n) last[1] = n;
    else found.push([n, n]);
  }
  const text = found.slice(0, shown).map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`));
  const left = found.slice(shown).reduce((sum, [a, b]) => sum + b - a + 1, 0);
  return text.join(", ") + (left > 0 ? ` and ${count(left)} more` : "");
}

/** A duration for a tick of an axis, without trailing zeros: `10 µs`, `2.5 s`. */
export function tick(ns: number): string {
  return duration(ns).replace(/\.0+(?= )/, "").replace(/(\.\d*?)0+(?= )/, "$1");
}
