import assert from "node:assert/strict";
import { test } from "node:test";
import { family } from "../debug/families.ts";
import { place, weights } from "../debug/graph.ts";
import { around, moment, panned, revealing, ticks, within, zoomed } from "../debug/viewport.ts";
import type { Edge } from "../debug/types.ts";

test("an interval stays in the run, whatever is asked for", () => {
  assert.deepEqual(within({ from: -50, to: 150 }, 1000), { from: 0, to: 200 });
  assert.deepEqual(within({ from: 900, to: 1200 }, 1000), { from: 700, to: 1000 });
  assert.deepEqual(within({ from: -1e9, to: 1e9 }, 1000), { from: 0, to: 1000 });
  assert.deepEqual(within({ from: 500, to: 500 }, 1000), { from: 500, to: 550 });
  assert.deepEqual(within({ from: 0, to: 0 }, 0), { from: 0, to: 50 });
});

test("what is under the pointer stays there while zooming", () => {
  const closer = zoomed({ from: 0, to: 1000 }, 0.5, 250, 1000);
  assert.deepEqual(closer, { from: 125, to: 625 });
  assert.deepEqual(zoomed(closer, 2, 250, 1000), { from: 0, to: 1000 });
});

test("panning stops at the ends", () => {
  assert.deepEqual(panned({ from: 100, to: 300 }, 0.25, 1000), { from: 150, to: 350 });
  assert.deepEqual(panned({ from: 900, to: 1000 }, 5, 1000), { from: 900, to: 1000 });
});

test("a call is brought into view, and only if it is not there", () => {
  const shown = { from: 0, to: 1000 };
  assert.equal(revealing(shown, 500, 10_000), shown);
  assert.deepEqual(revealing(shown, 5000, 10_000), { from: 4500, to: 5500 });
  const fitted = around(1000, 2000, 10_000);
  assert.ok(fitted.from < 1000 && fitted.to > 2000);
});

test("ticks are round, in order, and not too many", () => {
  for (const size of [60, 999, 12_345, 7.7e6, 3e12]) {
    const found = ticks({ from: 13, to: 13 + size }, 8);
    assert.ok(found.length > 0 && found.length <= 9, `${size}: ${found.length}`);
    const step = found[1]! - found[0]!;
    assert.ok(found.every((at) => at % step === 0));
  }
});

test("moments are written as exactly as their distance needs", () => {
  assert.equal(moment(1_200_000_000, 100_000_000), "1,200 ms");
  assert.equal(moment(1_500, 500), "1500 ns".replace("1500", "1,500"));
  assert.equal(moment(2e9, 1e9), "2 s");
});

test("functions have families", () => {
  const expected = {
    MPI_Barrier: "collective", MPI_Iallreduce: "collective", MPI_Comm_split: "collective", MPI_Recv: "receive", MPI_Irecv: "receive",
    MPI_Iprobe: "receive", MPI_Send: "send", MPI_Issend: "send", MPI_Sendrecv: "send", MPI_Waitall: "request", MPI_Testany: "request",
    MPI_Init: "other", MPI_Finalize: "other", MPI_Win_lock: "other",
  };
  for (const [name, is] of Object.entries(expected)) assert.equal(family(name), is, name);
});

test("a rank stands at its place, and the heaviest edge is the widest", () => {
  assert.deepEqual(place(3, 8), place(3, 8));
  assert.ok(Math.abs(place(0, 8)[1] + 1) < 1e-9, "rank 0 is at the top");
  const edges: Edge[] = [[0, 1, 10, 5, 0], [1, 0, 5, 10, 0]];
  assert.deepEqual(weights(edges, "bytes"), [0.5, 1]);
  assert.deepEqual(weights(edges, "waited"), [0, 0]);
});
