// What the server answers (crates/shared/debug/src/answers). Times are nanoseconds since the first rank began.

export interface LaneInfo {
  name: string;
  rank: number;
  calls: number;
  starts: number;
  ends: number;
  host: string;
  process: number;
  /** Why its calls are not all there; empty if they are. */
  remark: string;
}

export interface Finding {
  rule: string;
  severity: string;
  rank: number | null;
  call: number | null;
  site: string | null;
  text: string;
}

export interface RunInfo {
  trace: string;
  other: string | null;
  version: string;
  length: number;
  calls: number;
  messages: number;
  ranks: number;
  hosts: number;
  lanes: LaneInfo[];
  functions: string[];
  supersteps: number;
  findings: Finding[] | null;
}

/** Number of the call in its lane, begin, end, number of the function, until when it waited. */
export type DrawnCall = [call: number, begin: number, end: number, fn: number, until: number];

export interface DrawnLane {
  lane: number;
  /** If calls can be told apart. */
  calls?: DrawnCall[];
  /** Else, in base64, three bytes a pixel: function, share inside MPI, share waited. */
  shares?: string;
}

export type Line = [fromLane: number, fromCall: number, sent: number, toLane: number, toCall: number, taken: number, bytes: number | null];

export interface Band {
  comm: number;
  nth: number;
  parts: [lane: number, call: number, begin: number, end: number][];
}

export interface View {
  from: number;
  to: number;
  width: number;
  first: number;
  lanes: DrawnLane[];
  messages: { count: number; lines?: Line[]; density?: string };
  collectives: { count: number; bands?: Band[] };
}

/** A call. */
export interface Reference {
  lane: number;
  call: number;
  begin: number;
  end: number;
  name: string;
  site: string;
}

export interface CallDetails extends Reference {
  site_number: number;
  waited: number;
  facts: [name: string, value: string][];
  taken: { bytes: number | null; other: Reference }[];
  taken_count: number;
  sent: { bytes: number | null; other: Reference }[];
  sent_count: number;
  collective: { nth: number; count: number; members: Reference[] } | null;
}

export interface PathPiece {
  lane: number;
  from: number;
  to: number;
  outside: boolean;
}

export interface Why {
  links: { waiting: Reference; cause: Reference; waited: number; inferred: boolean; text: string }[];
  shortened: boolean;
  culprit: (PathPiece & { whole: number; text: string; next: Reference | null }) | null;
  segments: PathPiece[];
}

export interface Source {
  file: string;
  line?: number;
  first?: number;
  lines?: string[];
  why?: string;
}

export interface WaitRow {
  waiting: Reference;
  waited: number;
  cause: Reference | null;
}

export interface PathTable {
  rows: { rank: number; outside: boolean; text: string; call: Reference | null; ns: number; pieces: number }[];
  row_count: number;
  whole: number;
  segments: PathPiece[] | null;
}

export interface Step {
  number: number;
  from: number;
  to: number;
  imbalance: number;
  busiest: number;
  longest_work: number;
  mean_work: number;
  waited: number;
  last: Reference;
}

export interface Difference {
  rank: number;
  thread: number;
  same: number;
  what: string;
  one: Reference | null;
  one_text: string | null;
  other_text: string | null;
}

export type Edge = [from: number, to: number, messages: number, bytes: number, waited: number];

/** By question. */
export interface Answers {
  run: RunInfo;
  view: View;
  call: CallDetails;
  why: Why;
  source: Source;
  waits: WaitRow[];
  path: PathTable;
  supersteps: { count: number; rows: Step[] };
  graph: { count: number; edges: Edge[] };
  next: Reference & Step;
  difference: { other: string; rows: Difference[] } | null;
}
