import assert from "node:assert/strict";
import { test } from "node:test";
import { mostOften, sayObserver } from "../src/observers.ts";

const seen = [["window full", 90, 4], ["write()", 7, 1], ["MPI_Send", 2, 3], ["MPI_Wtime", 1, 2]].map(([name, times, ranks]) => ({
  name: String(name), times: Number(times), ranks: Number(ranks),
}));

test("what was seen least is put together", () => {
  assert.deepEqual(mostOften(seen, 4), seen);
  assert.deepEqual(mostOften(seen, 3), [seen[0], seen[1], { name: "2 others", times: 3, ranks: 3 }]);
  assert.deepEqual(mostOften([], 3), []);
});

test("an observer is told with its kind and its ranks", () => {
  assert.deepEqual(sayObserver(seen[0]!, 4), ["window full", "90 times", "on all ranks"]);
  assert.deepEqual(sayObserver(seen[1]!, 4), ["the system call write()", "7 times", "on 1 of 4 ranks"]);
});
