import assert from "node:assert/strict";
import { test } from "node:test";
import { bars, decades, edge } from "../src/buckets.ts";

test("edges of buckets are those of the record crate", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5].map(edge), [16, 20, 24, 28, 32, 40]);
  assert.equal(edge(8), 64);
});

test("bars go from the first to the last bucket in use", () => {
  assert.deepEqual(bars([]), []);
  assert.deepEqual(bars([0, 0]), []);
  const three = bars([0, 3, 0, 1, 0]);
  assert.deepEqual(three.map((b) => b.calls), [3, 0, 1]);
  assert.deepEqual(three.map((b) => b.share), [0.75, 0, 0.25]);
  assert.deepEqual(three.map((b) => b.up_to), [0.75, 0.75, 1]);
  assert.deepEqual([three[0]?.from_ns, three[2]?.to_ns], [20, 32]);
});

test("the axis covers the bars and at least two decades", () => {
  const axis = (...counts: number[]) => decades(bars(counts)).map((ns) => Math.log10(ns));
  assert.deepEqual(axis(), [1, 3]);
  assert.deepEqual(axis(1), [0, 2]); // 16 to 20 ns
  const late = new Array(60).fill(0);
  late[8] = late[49] = 1; // 64 ns to 98 µs
  assert.deepEqual(axis(...late), [1, 5]);
  for (let bucket = 0; bucket < 120; bucket += 1) {
    const counts = new Array(120).fill(0);
    counts[bucket] = 1;
    const [from, to] = decades(bars(counts));
    assert.ok(from <= edge(bucket) && to >= edge(bucket + 1) && to / from >= 99, `bucket ${bucket}: ${from} to ${to}`);
  }
});
