// Draws the time lines. The geometry is in CSS pixels.

import { duration } from "../src/format.ts";
import { bytes } from "./api.ts";
import { rgb, type Palette } from "./palette.ts";
import type { DrawnLane, PathPiece, RunInfo, Step, View, Why } from "./types.ts";
import { moment, ticks, type Interval } from "./viewport.ts";

export const GUTTER = 76;
export const AXIS = 26;
export const STRIP = 22;
export const TOP = AXIS + STRIP + 6;
export const DENSITY = 26;

export interface Selection {
  lane: number;
  call: number;
  begin: number;
  end: number;
}

/** Everything that is drawn. */
export interface Scene {
  run: RunInfo;
  interval: Interval;
  view: View | null;
  steps: Step[];
  path: PathPiece[] | null;
  showsPath: boolean;
  selection: Selection | null;
  why: Why | null;
  firstLane: number;
  lanes: number;
  width: number;
  height: number;
}

export function laneHeight(scene: Scene): number {
  return (scene.height - TOP - DENSITY) / Math.max(scene.lanes, 1);
}

export function x(scene: Scene, at: number): number {
  const { from, to } = scene.interval;
  return GUTTER + ((at - from) / (to - from)) * (scene.width - GUTTER);
}

export function time(scene: Scene, left: number): number {
  const { from, to } = scene.interval;
  return from + ((left - GUTTER) / (scene.width - GUTTER)) * (to - from);
}

export function laneAt(scene: Scene, top: number): number {
  const lane = scene.firstLane + Math.floor((top - TOP) / laneHeight(scene));
  return Math.min(Math.max(lane, scene.firstLane), scene.firstLane + scene.lanes - 1);
}

function y(scene: Scene, lane: number): number {
  return TOP + (lane - scene.firstLane) * laneHeight(scene);
}

function gap(scene: Scene): number {
  return laneHeight(scene) > 14 ? 3 : laneHeight(scene) > 7 ? 1 : 0.5;
}

export function draw(context: CanvasRenderingContext2D, scene: Scene, colours: Palette): void {
  context.clearRect(0, 0, scene.width, scene.height);
  context.textBaseline = "middle";
  context.save();
  context.beginPath();
  context.rect(GUTTER, 0, scene.width - GUTTER, scene.height);
  context.clip();
  drawAxis(context, scene, colours);
  drawSteps(context, scene, colours);
  drawLaneGrounds(context, scene, colours);
  if (scene.view) {
    drawBands(context, scene, scene.view, colours);
    for (const lane of scene.view.lanes) drawLane(context, scene, scene.view, lane, colours);
    drawMessages(context, scene, scene.view, colours);
  }
  if (scene.showsPath && scene.path) drawPath(context, scene, scene.path, colours);
  if (scene.why) drawWhy(context, scene, scene.why, colours);
  drawSelection(context, scene, colours);
  context.restore();
  drawLabels(context, scene, colours);
}

function font(size: number, weight = ""): string {
  return `${weight} ${size}px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif`;
}

function drawAxis(context: CanvasRenderingContext2D, scene: Scene, colours: Palette): void {
  const all = ticks(scene.interval, Math.max(2, Math.floor((scene.width - GUTTER) / 110)));
  const step = all.length > 1 ? all[1]! - all[0]! : scene.interval.to - scene.interval.from;
  context.font = font(12);
  context.textAlign = "center";
  for (const at of all) {
    const left = Math.round(x(scene, at)) + 0.5;
    context.strokeStyle = colours.grid;
    context.beginPath();
    context.moveTo(left, AXIS - 5);
    context.lineTo(left, scene.height - DENSITY);
    context.stroke();
    context.fillStyle = colours.faint;
    context.fillText(moment(at, step), Math.max(left, GUTTER + 28), AXIS / 2 - 1);
  }
}

/** Supersteps: a strip whose colour says how different the work of the ranks was. */
function drawSteps(context: CanvasRenderingContext2D, scene: Scene, colours: Palette): void {
  context.font = font(11);
  context.textAlign = "center";
  for (const step of scene.steps) {
    const left = x(scene, step.from);
    const right = x(scene, step.to);
    const width = Math.max(right - left - 1, 0.5);
    context.globalAlpha = 0.12 + 0.6 * step.imbalance;
    context.fillStyle = colours.wait;
    context.fillRect(left, AXIS, width, STRIP);
    context.globalAlpha = 1;
    const text = width > 150 ? `superstep ${step.number} · ${duration(step.to - step.from)}` : width > 34 ? `${step.number}` : "";
    if (text) {
      context.fillStyle = colours.ink;
      const middle = (Math.max(left, GUTTER) + Math.min(right, scene.width)) / 2;
      context.fillText(text, middle, AXIS + STRIP / 2 + 0.5);
    }
  }
}

function drawLaneGrounds(context: CanvasRenderingContext2D, scene: Scene, colours: Palette): void {
  const height = laneHeight(scene);
  context.fillStyle = colours.grid;
  for (let lane = scene.firstLane; lane < scene.firstLane + scene.lanes; lane++) {
    const info = scene.run.lanes[lane];
    if (!info) continue;
    const left = Math.max(x(scene, info.starts), GUTTER);
    const right = Math.min(x(scene, info.ends), scene.width);
    context.globalAlpha = 0.55;
    context.fillRect(left, y(scene, lane) + height / 2 - 0.5, Math.max(right - left, 0), 1);
  }
  context.globalAlpha = 1;
}

function drawLane(context: CanvasRenderingContext2D, scene: Scene, view: View, lane: DrawnLane, colours: Palette): void {
  const height = laneHeight(scene) - 2 * gap(scene);
  const top = y(scene, lane.lane) + gap(scene);
  if (lane.shares !== undefined) {
    const image = sharesImage(lane, view.width, Math.max(Math.round(height), 2), colours);
    const left = x(scene, view.from);
    context.imageSmoothingEnabled = false;
    context.drawImage(image, left, top, x(scene, view.to) - left, height);
    return;
  }
  const names = scene.run.functions;
  context.font = font(Math.min(12, height - 3));
  context.textAlign = "left";
  for (const [, begin, end, fn, until] of lane.calls ?? []) {
    const left = x(scene, begin);
    const right = x(scene, end);
    if (right < GUTTER || left > scene.width) continue;
    const width = Math.max(right - left, 1);
    context.fillStyle = colours.functions[fn] ?? colours.families.other;
    context.fillRect(left, top, width, height);
    if (until > begin) {
      // What was waited is pale, with a border of the same colour: it is no work.
      const waited = Math.max(Math.min(x(scene, until), right) - left, 0.5);
      context.fillStyle = colours.card;
      context.fillRect(left, top, waited, height);
      context.globalAlpha = 0.5;
      context.fillStyle = colours.wait;
      context.fillRect(left, top, waited, height);
      context.globalAlpha = 1;
      context.fillStyle = colours.functions[fn] ?? colours.families.other;
      context.fillRect(left, top, waited, Math.min(3, height / 4));
    }
    const seen = Math.min(right, scene.width) - Math.max(left, GUTTER);
    const name = (names[fn] ?? "").replace(/^MPI_/, "");
    if (height >= 11 && seen > name.length * 7 + 8) {
      const isWaiting = until - begin > (end - begin) / 2;
      context.fillStyle = isWaiting ? colours.ink : colours.card;
      context.fillText(name, Math.max(left, GUTTER) + 4, top + height / 2 + 1.5);
    }
  }
}

const images = new WeakMap<DrawnLane, { key: string; canvas: HTMLCanvasElement }>();

/** The shares of a lane as a picture, made once: a column a pixel, what was waited at the top. */
function sharesImage(lane: DrawnLane, width: number, height: number, colours: Palette): HTMLCanvasElement {
  const key = `${height} ${colours.wait} ${colours.card}`;
  const known = images.get(lane);
  if (known?.key === key) return known.canvas;
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(width, height);
  const pixels = image.data;
  const shares = bytes(lane.shares!);
  const wait = rgb(colours.wait);
  const functions = colours.functions.map(rgb);
  for (let column = 0; column < width; column++) {
    const colour = functions[shares[3 * column]!] ?? [128, 128, 128];
    const inside = Math.min(height, Math.ceil((shares[3 * column + 1]! / 255) * height));
    const waited = Math.round((shares[3 * column + 2]! / 255) * height);
    // From the bottom: what was waited stands on what was not.
    for (let row = 0; row < inside; row++) {
      const isWaiting = row >= inside - waited;
      const at = 4 * ((height - 1 - row) * width + column);
      const [red, green, blue] = isWaiting ? wait : colour;
      pixels[at] = red;
      pixels[at + 1] = green;
      pixels[at + 2] = blue;
      pixels[at + 3] = isWaiting ? 150 : 255;
    }
  }
  context.putImageData(image, 0, 0);
  images.set(lane, { key, canvas });
  return canvas;
}

/** Collectives as bands from each rank's call to the next one's. */
function drawBands(context: CanvasRenderingContext2D, scene: Scene, view: View, colours: Palette): void {
  const height = laneHeight(scene);
  context.fillStyle = colours.families.collective;
  context.globalAlpha = 0.13;
  for (const band of view.collectives.bands ?? []) {
    if (band.parts.length < 2) continue;
    const parts = [...band.parts].sort((a, b) => a[0] - b[0]);
    context.beginPath();
    for (const [lane, , begin] of parts) {
      context.lineTo(x(scene, begin), y(scene, lane) + gap(scene));
      context.lineTo(x(scene, begin), y(scene, lane) + height - gap(scene));
    }
    for (const [lane, , begin, end] of parts.reverse()) {
      const right = Math.max(x(scene, end), x(scene, begin) + 1);
      context.lineTo(right, y(scene, lane) + height - gap(scene));
      context.lineTo(right, y(scene, lane) + gap(scene));
    }
    context.closePath();
    context.fill();
  }
  context.globalAlpha = 1;
}

function drawMessages(context: CanvasRenderingContext2D, scene: Scene, view: View, colours: Palette): void {
  const height = laneHeight(scene);
  if (view.messages.lines) {
    context.strokeStyle = colours.ink;
    context.fillStyle = colours.ink;
    context.globalAlpha = view.messages.lines.length > 120 ? 0.4 : 0.75;
    for (const [fromLane, , sent, toLane, , taken] of view.messages.lines) {
      const down = toLane >= fromLane;
      const [left, right] = [x(scene, sent), x(scene, taken)];
      const top = y(scene, fromLane) + (down ? height - gap(scene) : gap(scene));
      const bottom = y(scene, toLane) + (down ? gap(scene) : height - gap(scene));
      context.beginPath();
      context.moveTo(left, top);
      context.lineTo(right, bottom);
      context.stroke();
      context.beginPath();
      context.arc(right, bottom, 2, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
  } else if (view.messages.density) {
    const density = bytes(view.messages.density);
    const left = x(scene, view.from);
    const step = (x(scene, view.to) - left) / view.width;
    context.fillStyle = colours.families.send;
    context.globalAlpha = 0.7;
    for (let column = 0; column < density.length; column++) {
      const tall = (density[column]! / 255) * (DENSITY - 6);
      context.fillRect(left + column * step, scene.height - tall, Math.max(step, 1), tall);
    }
    context.globalAlpha = 1;
  }
}

/** The critical path: a line under what the run depends on. */
function drawPath(context: CanvasRenderingContext2D, scene: Scene, path: PathPiece[], colours: Palette): void {
  const height = laneHeight(scene);
  context.strokeStyle = colours.path;
  context.lineWidth = Math.min(3, Math.max(1.5, height / 6));
  context.beginPath();
  let before: PathPiece | null = null;
  for (const piece of path) {
    const level = y(scene, piece.lane) + height - 1.5;
    if (before && before.lane !== piece.lane) context.lineTo(x(scene, piece.from), level);
    else context.moveTo(x(scene, piece.from), level);
    context.lineTo(x(scene, piece.to), level);
    before = piece;
  }
  context.stroke();
  context.lineWidth = 1;
}

/** What was done while the selected call waited; the longest piece outside MPI stands out. */
function drawWhy(context: CanvasRenderingContext2D, scene: Scene, why: Why, colours: Palette): void {
  const height = laneHeight(scene);
  context.strokeStyle = colours.path;
  context.lineWidth = 2;
  for (const piece of why.segments) {
    const left = x(scene, piece.from);
    context.strokeRect(left, y(scene, piece.lane) + 1, Math.max(x(scene, piece.to) - left, 1), height - 2);
  }
  const culprit = why.culprit;
  if (culprit) {
    const left = x(scene, culprit.from);
    context.globalAlpha = 0.22;
    context.fillStyle = colours.path;
    context.fillRect(left, y(scene, culprit.lane) + 1, Math.max(x(scene, culprit.to) - left, 1), height - 2);
    context.globalAlpha = 1;
  }
  context.setLineDash([4, 3]);
  for (const link of why.links) {
    const at = x(scene, Math.min(link.cause.begin, link.waiting.end));
    context.beginPath();
    context.moveTo(at, y(scene, link.waiting.lane) + height / 2);
    context.lineTo(at, y(scene, link.cause.lane) + height / 2);
    context.stroke();
  }
  context.setLineDash([]);
  context.lineWidth = 1;
}

function drawSelection(context: CanvasRenderingContext2D, scene: Scene, colours: Palette): void {
  const chosen = scene.selection;
  if (!chosen || chosen.lane < scene.firstLane || chosen.lane >= scene.firstLane + scene.lanes) return;
  const left = Math.max(x(scene, chosen.begin), GUTTER - 4);
  const right = Math.min(x(scene, chosen.end), scene.width + 4);
  context.strokeStyle = colours.focus;
  context.lineWidth = 2.5;
  context.strokeRect(left - 1.5, y(scene, chosen.lane) + 0.5, Math.max(right - left, 2) + 3, laneHeight(scene) - 1);
  context.lineWidth = 1;
}

function drawLabels(context: CanvasRenderingContext2D, scene: Scene, colours: Palette): void {
  const height = laneHeight(scene);
  const every = Math.max(1, Math.ceil(13 / height));
  context.font = font(12);
  context.textAlign = "right";
  for (let lane = scene.firstLane; lane < scene.firstLane + scene.lanes; lane++) {
    const isChosen = lane === scene.selection?.lane;
    if (!isChosen && lane % every !== 0) continue;
    const near = scene.selection && !isChosen && Math.abs(lane - scene.selection.lane) < every;
    if (near) continue;
    const info = scene.run.lanes[lane];
    if (!info) continue;
    context.font = font(12, isChosen ? "600" : "");
    context.fillStyle = isChosen ? colours.ink : colours.faint;
    const name = info.name.replace(/^rank (\d+), thread /, "$1 · thread ");
    context.fillText(name, GUTTER - 8, y(scene, lane) + height / 2 + 0.5, GUTTER - 10);
  }
  context.font = font(11);
  context.fillStyle = colours.faint;
  context.fillText("supersteps", GUTTER - 8, AXIS + STRIP / 2 + 0.5);
  if (scene.view?.messages.density) context.fillText("messages", GUTTER - 8, scene.height - DENSITY / 2);
}
