// Entry point. Shows the data that is embedded in the page: the digest of a run, or a measurement of noise.

import type { Digest } from "./data.ts";
import { noisePage } from "./noise.ts";
import { isNoise } from "./noise-data.ts";
import { runPage } from "./run.ts";

function main(): void {
  const root = document.getElementById("report");
  const text = document.getElementById("data")?.textContent;
  if (!root || !text) return;
  const data: unknown = JSON.parse(text);
  if (isNoise(data)) noisePage(root, data);
  else runPage(root, data as Digest);
}

main();
