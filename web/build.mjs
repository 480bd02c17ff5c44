// Builds the scripts and styles of the pages into dist/: that of reports from src/, that of `evenkeel debug` from debug/.
// The crates report and debug include them from there.
//   node build.mjs           writes dist/
//   node build.mjs --check   fails if dist/ was not built from the sources as they are
//   node build.mjs --tests   bundles test/*.test.ts into build/
import { build } from "esbuild";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const path = (...parts) => join(here, ...parts);

// FNV-1a over the sources, in the order of their names. Tests of the crates compute it too, so that they notice a
// stale dist/ without Node.js.
function fingerprint(folder) {
  let hash = 0xcbf29ce484222325n;
  const sources = readdirSync(path(folder)).sort().map((name) => join(folder, name));
  for (const name of [...sources, "package-lock.json"]) {
    for (const byte of readFileSync(path(name))) {
      hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    }
  }
  return hash.toString(16).padStart(16, "0");
}

// Notices that the licences of the bundled libraries require.
function notice() {
  const text = (...parts) => readFileSync(path("node_modules", ...parts), "utf8").trim();
  const parts = [
    text("echarts", "NOTICE"),
    "Apache ECharts is licensed under the Apache License, Version 2.0; https://www.apache.org/licenses/LICENSE-2.0",
    "It contains zrender:\n" + text("zrender", "LICENSE"),
    "and tslib, Copyright (c) Microsoft Corporation, under the 0BSD licence.",
  ];
  return parts.join("\n\n").replaceAll("*/", "* /");
}

async function outputs() {
  const common = { bundle: true, minify: true, write: false, charset: "utf8", target: "es2020", legalComments: "none" };
  const script = await build({ ...common, entryPoints: [path("src", "main.ts")], format: "iife", absWorkingDir: here });
  const style = await build({ ...common, entryPoints: [path("src", "page.css")], absWorkingDir: here });
  const js = script.outputFiles[0].text;
  for (const bad of ["</script", "<!--"]) {
    if (js.toLowerCase().includes(bad)) throw new Error(`the script contains ${bad}, which would end it inside a page`);
  }
  const debugScript = await build({ ...common, entryPoints: [path("debug", "main.ts")], format: "iife", absWorkingDir: here });
  const debugStyle = await build({ ...common, entryPoints: [path("debug", "debug.css")], absWorkingDir: here });
  return {
    "page.js": `/* made by build.mjs from sources ${fingerprint("src")}\n\n${notice()}\n*/\n${js}`,
    "page.css": style.outputFiles[0].text,
    "debug.js": `/* made by build.mjs from sources ${fingerprint("debug")} */\n${debugScript.outputFiles[0].text}`,
    "debug.css": debugStyle.outputFiles[0].text,
  };
}

const mode = process.argv[2] ?? "";
if (mode === "--tests") {
  rmSync(path("build"), { recursive: true, force: true });
  const tests = readdirSync(path("test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: tests.map((name) => path("test", name)),
    outdir: path("build"),
    outExtension: { ".js": ".mjs" },
    entryNames: "[name]",
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    logLevel: "warning",
  });
} else {
  for (const [name, text] of Object.entries(await outputs())) {
    const file = path("dist", name);
    if (mode !== "--check") {
      writeFileSync(file, text);
      console.log(`dist/${name}: ${(text.length / 1024).toFixed(0)} KiB`);
    } else if (readFileSync(file, "utf8") !== text) {
      console.error(`dist/${name} was not built from src/ as it is: run "npm run build" in web/ and commit the result`);
      process.exitCode = 1;
    }
  }
}
