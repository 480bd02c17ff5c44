import assert from "node:assert/strict";
import { test } from "node:test";
import example from "../../crates/shared/report/tests/digest.json";
import { bars } from "../src/buckets.ts";
import { commLabel, type Digest } from "../src/data.ts";
import { ordered } from "../src/sorting.ts";
import { cells, sliceCount } from "../src/slices.ts";

// The type check of this assignment fails if the page expects a field that the digest does not have.
const digest: Digest = example;

test("the data of the page and of the report crate agree", () => {
  assert.equal(digest.ranks.length, 2);
  for (const op of [...digest.ops, ...digest.comm_ops]) {
    const calls = bars(op.latency).reduce((sum, bar) => sum + bar.calls, 0);
    assert.equal(calls, op.calls, `${op.op}: every call is in its histogram`);
    assert.ok(op.comm === null || digest.comms[op.comm]);
  }
  assert.equal(cells(digest.timeline).length, sliceCount(digest.timeline) * 2);
  assert.ok(cells(digest.timeline).every((c) => c.percent >= 0 && c.percent <= 100));
});

test("ranks are ordered by how much waiting they caused", () => {
  assert.deepEqual(ordered(digest.ranks, "late").map((r) => r.rank), [1, 0]);
  assert.deepEqual(ordered(digest.ranks, "rank").map((r) => r.rank), [0, 1]);
});

test("communicators are called what they are, and long names are shortened", () => {
  const [world] = digest.comms;
  assert.ok(world);
  assert.equal(commLabel(world), "world");
  const long = commLabel({ ...world, label: `${"x".repeat(500)}, row of 2 (0,1)` });
  assert.ok(long.length <= 80 && long.endsWith("row of 2 (0,1)"));
});

test("the example has deferred barriers", () => {
  const { deferral, notes } = digest;
  assert.ok(deferral.deferred > 0 && deferral.deferred <= deferral.barriers && deferral.ahead > 1 && deferral.overlapped_ns > 0);
  assert.equal(digest.ops.reduce((sum, o) => sum + o.deferred, 0), deferral.deferred);
  const times = deferral.observers.map((o) => o.times);
  assert.deepEqual(times, [...times].sort((a, b) => b - a), "most often first");
  assert.ok(deferral.strict.length > 0 && deferral.strict.every((s) => notes.some((n) => n.text === s.text)));
});
