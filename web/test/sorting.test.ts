import assert from "node:assert/strict";
import { test } from "node:test";
import { next, sorted, type Key } from "../src/sorting.ts";

const by = (keys: Key[], direction: "ascending" | "descending") => sorted(keys, (k) => k, direction);

test("numbers sort by value, texts as in a dictionary, null comes last", () => {
  assert.deepEqual(by([10, 9, 100], "ascending"), [9, 10, 100]);
  assert.deepEqual(by(["node10", "node9", "Node1"], "ascending"), ["Node1", "node9", "node10"]);
  assert.deepEqual(by([null, 2, null, 1], "ascending"), [1, 2, null, null]);
  assert.deepEqual(by([null, 2, null, 1], "descending"), [2, 1, null, null]);
});

test("rows with equal keys keep their order", () => {
  const rows = [["a", 1], ["b", 2], ["c", 1], ["d", 2]] as const;
  const names = (direction: "ascending" | "descending") => sorted(rows, (r) => r[1], direction).map((r) => r[0]).join("");
  assert.equal(names("ascending"), "acbd");
  assert.equal(names("descending"), "bdac");
});

test("sorting does not change the input", () => {
  const rows = [2, 1];
  sorted(rows, (r) => r, "ascending");
  assert.deepEqual(rows, [2, 1]);
});

test("the first click sorts numbers in descending order, the second reverses the order", () => {
  assert.equal(next(null, true), "descending");
  assert.equal(next(null, false), "ascending");
  assert.equal(next("descending", true), "ascending");
  assert.equal(next("ascending", false), "descending");
});
