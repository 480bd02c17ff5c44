// The colour scheme: light, dark, or that of the system. Charts read their colours from the style sheet.

export type Scheme = "light" | "dark";

const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];
let chosen: Scheme | null = null;

export function scheme(): Scheme {
  return chosen ?? (system.matches ? "dark" : "light");
}

/** Switches to the other scheme, whatever that of the system is. */
export function toggle(): void {
  chosen = scheme() === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = chosen;
  listeners.forEach((l) => l());
}

/** Calls the listener after each change of the scheme. */
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

/** The colours of the heat map from 0 to the largest share. They differ in lightness, so that hue is not needed. */
export function ramp(): string[] {
  return [0, 1, 2, 3, 4, 5].map((i) => colour(`--heat-${i}`));
}
