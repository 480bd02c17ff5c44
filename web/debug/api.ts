// Questions to the server, with the token of the page's address.

import type { Answers } from "./types.ts";

const token = new URLSearchParams(location.search).get("token") ?? "";
const headers = { "X-Evenkeel-Token": token };

type Parameters = Record<string, string | number | undefined>;

/** Asks the server. What it refuses is an error with its sentence. */
export async function ask<Name extends keyof Answers>(name: Name, parameters: Parameters = {}): Promise<Answers[Name]> {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) if (value !== undefined) query.set(key, String(value));
  const response = await fetch(`/api/${name}?${query}`, { headers, cache: "no-store" });
  if (!response.ok) throw new Error((await response.text()).trim());
  return (await response.json()) as Answers[Name];
}

/** Ends the server. */
export async function end(): Promise<void> {
  await fetch("/end", { method: "POST", headers });
}

/** Bytes that came as base64. */
export function bytes(text: string): Uint8Array {
  const decoded = atob(text);
  const all = new Uint8Array(decoded.length);
  for (let i = 0; i < decoded.length; i++) all[i] = decoded.charCodeAt(i);
  return all;
}
