import assert from "node:assert/strict";
import { test } from "node:test";
import { describeObserver, mostFrequent } from "../src/observers.ts";

const seen = [["window full", 90, 4], ["write()", 7, 1], ["MPI_Send", 2, 3], ["MPI_Wtime", 1, 2]].map(([name, times, ranks]) => ({
  name: String(name), times: Number(times), ranks: Number(ranks),
}));

test("the least frequent observers are merged into one entry", () => {
  assert.deepEqual(mostFrequent(seen, 4), seen);
  assert.deepEqual(mostFrequent(seen, 3), [seen[0], seen[1], { name: "2 others", times: 3, ranks: 3 }]);
  assert.deepEqual(mostFrequent([], 3), []);
});

test("an observer is described with its count and its ranks", () => {
  assert.deepEqual(describeObserver(seen[0]!, 4), ["window full", "90 times", "on all ranks"]);
  assert.deepEqual(describeObserver(seen[1]!, 4), ["the system call write()", "7 times", "on 1 of 4 ranks"]);
});
