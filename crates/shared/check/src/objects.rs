//! What the handles of a rank stand for: made, committed, freed.

use crate::arguments::Words;
use crate::history::CallIndex;
use std::collections::{HashMap, HashSet};

/// Kind and handle.
type Key = (u8, i64);

/// The objects of a rank.
#[derive(Debug, Default)]
pub struct Objects {
    /// The calls that have made them. A library may give the same handle for the same group twice.
    live: HashMap<Key, Vec<CallIndex>>,
    freed: HashMap<Key, CallIndex>,
    /// Handles of the library's own.
    predefined: HashSet<Key>,
    committed: HashSet<i64>,
    /// Calls whose results need not all be there.
    lists: HashSet<CallIndex>,
}

/// Functions that free what they are passed.
pub fn frees(base: &str) -> Option<u8> {
    Some(match base {
        "Comm_free" | "Comm_disconnect" => b'c',
        "Type_free" => b'd',
        "Group_free" => b'g',
        "Op_free" => b'o',
        "Win_free" => b'w',
        "File_close" => b'f',
        "Info_free" => b'i',
        "Errhandler_free" => b'e',
        "Session_finalize" => b's',
        _ => return None,
    })
}

/// Whether the result of a function is a new object, which the program has to free.
fn makes(base: &str, kind: u8) -> bool {
    match kind {
        b'c' => base != "Comm_get_parent",
        b'd' => !base.starts_with("Type_create_f90") && !matches!(base, "Type_match_size" | "Type_commit"),
        b'e' => base.ends_with("create_errhandler"),
        b'g' | b'o' | b'w' | b'f' | b'i' | b's' => frees(base) != Some(kind), // that sets it to null
        _ => false,
    }
}

impl Objects {
    /// The library's own: by name.
    pub fn constant(&mut self, name: &str, handle: i64) {
        let kinds: &[u8] = match name {
            _ if name.ends_with("_NULL") => b"cdogwfieqms",
            "MPI_COMM_WORLD" | "MPI_COMM_SELF" => b"c",
            "MPI_GROUP_EMPTY" => b"g",
            _ => b"o",
        };
        self.predefined.extend(kinds.iter().map(|&kind| (kind, handle)));
    }

    /// A datatype may be used; before the first call, it is predefined.
    pub fn usable_type(&mut self, handle: i64, is_predefined: bool) {
        self.committed.insert(handle);
        if is_predefined {
            self.predefined.insert((b'd', handle));
        }
        self.freed.remove(&(b'd', handle));
    }

    /// A call has succeeded.
    pub fn results(&mut self, call: CallIndex, base: &str, results: Words) {
        for (_, kind, words) in results.each() {
            let kind = if kind == b'D' { b'd' } else { kind };
            if !b"cdogwfies".contains(&kind) {
                continue;
            }
            for &handle in words {
                let key = (kind, handle);
                if self.predefined.contains(&key) || handle == 0 {
                    continue;
                }
                self.freed.remove(&key);
                if base == "Type_get_contents" {
                    self.lists.insert(call);
                }
                if makes(base, kind) {
                    self.live.entry(key).or_default().push(call);
                    if kind == b'd' && !matches!(base, "Type_dup" | "Type_get_contents") {
                        self.committed.remove(&handle);
                    }
                }
            }
        }
    }

    /// A call that frees this has succeeded.
    pub fn free(&mut self, call: CallIndex, kind: u8, handle: i64) {
        let key = (kind, handle);
        if self.predefined.contains(&key) {
            return;
        }
        if let Some(made) = self.live.get_mut(&key) {
            made.pop();
            if !made.is_empty() {
                return;
            }
            self.live.remove(&key);
        }
        self.freed.insert(key, call);
    }

    /// The same by a callback, or by the library itself, which may have made it unseen.
    pub fn free_within(&mut self, call: CallIndex, kind: u8, handle: i64) {
        if self.live.contains_key(&(kind, handle)) {
            self.free(call, kind, handle);
        }
    }

    /// The call that has freed it, if nothing has made it again.
    pub fn freed(&self, kind: u8, handle: i64) -> Option<CallIndex> {
        self.freed.get(&(kind, handle)).copied()
    }

    /// Whether it belongs to MPI, and is not a null handle.
    pub fn is_predefined(&self, kind: u8, handle: i64) -> bool {
        self.predefined.contains(&(kind, handle)) && !self.predefined.contains(&(b'q', handle))
    }

    /// Whether the program has made this datatype, and not committed it.
    pub fn is_uncommitted(&self, handle: i64) -> Option<CallIndex> {
        if self.committed.contains(&handle) {
            return None;
        }
        self.live.get(&(b'd', handle)).and_then(|made| made.last().copied())
    }

    /// What was made and not freed.
    pub fn left(&self) -> Vec<(u8, CallIndex)> {
        let calls = |((kind, _), made): (&Key, &Vec<CallIndex>)| made.iter().map(|c| (*kind, *c)).collect();
        let mut left: Vec<(u8, CallIndex)> =
            self.live.iter().flat_map(|entry| -> Vec<_> { calls(entry) }).collect();
        left.retain(|(_, call)| !self.lists.contains(call));
        left.sort_by_key(|&(kind, call)| (call, kind));
        left
    }
}
