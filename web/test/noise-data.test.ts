import assert from "node:assert/strict";
import { test } from "node:test";
import { classLabel, isNoise, lostCells, type LengthClass, type Noise } from "../src/noise-data.ts";

const between = (from_ns: number, to_ns: number | null): LengthClass => ({ from_ns, to_ns, delays: 0, gaps: 0, correlation: { delays: null, gaps: null } });

test("classes have the same names as in the terminal", () => {
  assert.equal(classLabel(between(0, 1_000)), "<1 µs");
  assert.equal(classLabel(between(100_000, 300_000)), "100-300 µs");
  assert.equal(classLabel(between(300_000, 1_000_000)), "300 µs-1 ms");
  assert.equal(classLabel(between(100_000_000, null)), ">100 ms");
});

test("measurements of noise are distinguished from digests of runs", () => {
  assert.ok(isNoise({ kind: "noise" }));
  assert.ok(!isNoise({ program: "app" }));
  assert.ok(!isNoise(null));
});

test("every window of every core is a cell", () => {
  const noise = { cores: [{ lost: [100] }, { lost: [0, 5000] }] } as unknown as Noise;
  assert.deepEqual(lostCells(noise), [
    { row: 0, slice: 0, percent: 1 },
    { row: 1, slice: 0, percent: 0 },
    { row: 1, slice: 1, percent: 50 },
  ]);
});
