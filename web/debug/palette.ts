// Colours of the picture, from the style sheet.

import { colour } from "../src/theme.ts";
import { FAMILIES, family, type Family } from "./families.ts";

export interface Palette {
  ink: string;
  faint: string;
  line: string;
  grid: string;
  card: string;
  wait: string;
  path: string;
  focus: string;
  families: Record<Family, string>;
  /** By number of a function. */
  functions: string[];
}

export function palette(functions: readonly string[]): Palette {
  const families = Object.fromEntries(FAMILIES.map((name) => [name, colour(`--${name}`)])) as Record<Family, string>;
  return {
    ink: colour("--ink"), faint: colour("--faint"), line: colour("--line"), grid: colour("--grid"), card: colour("--card"),
    wait: colour("--wait"), path: colour("--path"), focus: colour("--focus"), families,
    functions: functions.map((name) => families[family(name)]),
  };
}

/** `#rrggbb` as three numbers. */
export function rgb(hex: string): [number, number, number] {
  const all = parseInt(hex.slice(1), 16);
  return [(all >> 16) & 255, (all >> 8) & 255, all & 255];
}
