// Which ranks exchange messages and wait for each other: ranks on a circle, each always at the same place.

import { bytes, count, duration } from "../src/format.ts";
import type { Palette } from "./palette.ts";
import type { Edge } from "./types.ts";

/** Where a rank stands, from -1 to 1: depends on nothing but its number, so pictures can be compared. */
export function place(rank: number, ranks: number): [number, number] {
  const angle = (rank / Math.max(ranks, 1)) * 2 * Math.PI - Math.PI / 2;
  return [Math.cos(angle), Math.sin(angle)];
}

/** Widths of edges, so that the heaviest has 1. */
export function weights(edges: readonly Edge[], what: "bytes" | "messages" | "waited"): number[] {
  const which = { messages: 2, bytes: 3, waited: 4 }[what];
  const values = edges.map((edge) => edge[which] as number);
  const most = Math.max(...values, 1);
  return values.map((value) => value / most);
}

export function describe([from, to, messages, size, waited]: Edge): string[] {
  return [`${from} → ${to}`, count(messages), bytes(size), duration(waited)];
}

export function drawGraph(
  context: CanvasRenderingContext2D, size: number, ranks: number, edges: readonly Edge[],
  what: "bytes" | "messages" | "waited", colours: Palette,
): void {
  context.clearRect(0, 0, size, size);
  const middle = size / 2;
  const radius = middle - 30;
  const at = (rank: number): [number, number] => {
    const [dx, dy] = place(rank, ranks);
    return [middle + dx * radius, middle + dy * radius];
  };
  const widths = weights(edges, what);
  edges.forEach(([from, to], i) => {
    const weight = widths[i]!;
    if (weight === 0 || from === to) return;
    const [x0, y0] = at(from);
    const [x1, y1] = at(to);
    // Bent to one side, so that both directions of a pair are seen.
    const [cx, cy] = [(x0 + x1) / 2 + (y1 - y0) * 0.12 * 1, (y0 + y1) / 2 - (x1 - x0) * 0.12];
    context.strokeStyle = what === "waited" ? colours.wait : colours.families.send;
    context.globalAlpha = 0.15 + 0.75 * weight;
    context.lineWidth = 0.75 + 5 * weight;
    context.beginPath();
    context.moveTo(x0, y0);
    context.quadraticCurveTo(cx, cy, x1, y1);
    context.stroke();
    const angle = Math.atan2(y1 - cy, x1 - cx);
    const tip = 7 + 3 * weight;
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    context.moveTo(x1 - Math.cos(angle) * 9, y1 - Math.sin(angle) * 9);
    context.lineTo(x1 - Math.cos(angle - 0.3) * (9 + tip), y1 - Math.sin(angle - 0.3) * (9 + tip));
    context.lineTo(x1 - Math.cos(angle + 0.3) * (9 + tip), y1 - Math.sin(angle + 0.3) * (9 + tip));
    context.fill();
  });
  context.globalAlpha = 1;
  context.lineWidth = 1;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  const every = Math.max(1, Math.ceil(ranks / 64));
  for (let rank = 0; rank < ranks; rank++) {
    const [left, top] = at(rank);
    context.fillStyle = colours.ink;
    context.beginPath();
    context.arc(left, top, ranks > 40 ? 3 : 6, 0, 2 * Math.PI);
    context.fill();
    if (rank % every !== 0) continue;
    const [dx, dy] = place(rank, ranks);
    context.fillStyle = colours.faint;
    context.fillText(String(rank), left + dx * 17, top + dy * 17);
  }
}
