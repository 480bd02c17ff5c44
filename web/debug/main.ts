// The page of `evenkeel debug`.

import { h } from "../src/dom.ts";
import { ask } from "./api.ts";
import { Page } from "./page.ts";

async function start(): Promise<void> {
  const root = document.getElementById("debug");
  if (!root) return;
  try {
    const run = await ask("run");
    new Page(root, run);
  } catch (error) {
    root.append(h("p", { class: "error", role: "alert" }, `evenkeel: ${error instanceof Error ? error.message : String(error)}`));
  }
}

void start();
