// Families of functions, by which calls are coloured.

export type Family = "collective" | "receive" | "send" | "request" | "other";

export const FAMILIES: readonly Family[] = ["collective", "receive", "send", "request", "other"];

/** What the families are called in the legend. */
export const FAMILY_NAMES: Record<Family, string> = {
  collective: "collectives",
  receive: "receives",
  send: "sends",
  request: "waits and tests",
  other: "others",
};

const COLLECTIVE =
  /^I?(barrier|bcast|gather|scatter|allgather|alltoall|reduce|allreduce|scan|exscan|neighbor)|^(comm_(i?dup|create|split)|cart_|graph_|dist_graph|intercomm_|win_(create|allocate|fence|free)|file_)/i;

/** The family of a function. */
export function family(name: string): Family {
  const base = name.replace(/^MPI_/, "");
  if (COLLECTIVE.test(base)) return "collective";
  if (/^(wait|test|start)/i.test(base)) return "request";
  if (/^(i?recv|i?m?probe|i?mrecv|improbe)/i.test(base)) return "receive";
  if (/^i?(send|ssend|bsend|rsend)/i.test(base)) return "send";
  return "other";
}
