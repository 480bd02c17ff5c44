// Light, dark, or what the system says; charts read their colours from the style sheet.

export type Scheme = "light" | "dark";

const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];
let chosen: Scheme | null = null;

export function scheme(): Scheme {
  return chosen ?? (system.matches ? "dark" : "light");
}

/** Turns to the other scheme, whatever the system says. */
export function toggle(): void {
  chosen = scheme() === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = chosen;
  listeners.forEach((l) => l());
}

export function onChange(listener: () => void): void {
  listeners.push(listener);
}

system.addEventListener("change", () => {
  if (chosen === null) listeners.forEach((l) => l());
});

/** Value of a custom property of the style sheet, e.g. `--ink`. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The colours of the heat map from nothing to everything: lightness alone tells them apart. */
export function ramp(): string[] {
  return [0, 1, 2, 3, 4, 5].map((i) => colour(`--heat-${i}`));
}
