// What keys do, for the handler and for the help.

export const KEYS: readonly [keys: string, about: string][] = [
  ["← →", "the call before, the next one, of this rank"],
  ["↑ ↓", "the rank above, below"],
  ["Enter", "on to the call's details, and to the links of its chain (Tab)"],
  ["N", "on to the next call of the chain: which was waited for"],
  ["+ −", "zoom in, zoom out"],
  ["Shift ← →", "pan"],
  ["F", "fit the selected call"],
  ["0", "the whole run"],
  ["W, Shift W", "the next longest wait, the one before"],
  ["S, Shift S", "the next superstep, the one before"],
  ["P", "critical path on and off"],
  ["/", "find calls of a function; Enter for the next one, Shift Enter for the one before"],
  ["Esc", "back to the time lines; nothing selected"],
  ["?", "this help"],
];
