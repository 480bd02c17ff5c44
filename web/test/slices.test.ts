import assert from "node:assert/strict";
import { test } from "node:test";
import { cells, niceStep, sliceCount, sliceSpan, timeLabels } from "../src/slices.ts";

test("steps are 1, 2 or 5 times a power of ten", () => {
  assert.equal(niceStep(100, 10), 10);
  assert.equal(niceStep(101, 10), 20);
  assert.equal(niceStep(450, 10), 50);
  assert.equal(niceStep(990, 10), 100);
  assert.equal(niceStep(7, 10), 1);
});

test("many slices are labelled at round times, few slices each at its beginning", () => {
  const many = timeLabels(1_000_000, 256);
  assert.deepEqual([...many.values()].slice(0, 3), ["0 ns", "50 ms", "100 ms"]);
  assert.deepEqual([...many.keys()].slice(0, 3), [0, 50, 100]);
  assert.ok(many.size <= 11);
  assert.deepEqual([...timeLabels(500_000, 3)], [[0, "0 ns"], [1, "500 µs"], [2, "1 ms"]]);
  assert.equal(timeLabels(0, 0).size, 0);
});

test("a rank has no cells after the end of its timeline", () => {
  const timeline = { slice_ns: 10, share: [[100, 5000], [], [10000]] };
  assert.equal(sliceCount(timeline), 2);
  assert.deepEqual(cells(timeline), [
    { row: 0, slice: 0, percent: 1 },
    { row: 0, slice: 1, percent: 50 },
    { row: 2, slice: 0, percent: 100 },
  ]);
  assert.equal(sliceSpan(500_000, 3), "1.50 ms to 2.00 ms");
});
