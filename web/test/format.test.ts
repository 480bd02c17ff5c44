import assert from "node:assert/strict";
import { test } from "node:test";
import cases from "../../crates/shared/text/tests/units.json";
import { bytes, count, duration, percent, ranges, tick } from "../src/format.ts";

test("numbers are formatted as the cases shared with the terminal say", () => {
  for (const [n, text] of cases.duration) assert.equal(duration(n as number), text);
  for (const [n, text] of cases.bytes) assert.equal(bytes(n as number), text);
  for (const [n, text] of cases.count) assert.equal(count(n as number), text);
  for (const [part, whole, text] of cases.percent) assert.equal(percent(part as number, whole as number), text);
  for (const [numbers, text] of cases.ranges) assert.equal(ranges(numbers as number[]), text);
});

test("ticks have no trailing zeros", () => {
  assert.equal(tick(0), "0 ns");
  assert.equal(tick(10_000), "10 µs");
  assert.equal(tick(2_500_000_000), "2.5 s");
  assert.equal(tick(100), "100 ns");
  assert.equal(tick(1_000_000), "1 ms");
});
