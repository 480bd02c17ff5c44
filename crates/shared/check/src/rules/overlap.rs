//! Buffers of operations that are under way do not overlap, unless both are only read.

use crate::finding::{Finding, Rule, Severity};
use crate::history::{CallIndex, History};
use crate::regions::Region;
use std::collections::BTreeMap;

const CLAUSE: &str = "MPI 5.0, 3.7.2 Communication Initiation";
const ALIASED: &str = "MPI 5.0, 2.3 Procedure Specification, and 6.1 (buffers may not be aliased)";

/// A buffer that is in use.
#[derive(Clone, Debug)]
struct Used {
    region: Region,
    is_written: bool,
    call: CallIndex,
}

/// A buffer of [`Buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferId {
    low: i64,
    number: u64,
}

/// The buffers of a rank's operations that are under way.
#[derive(Debug, Default)]
pub struct Buffers {
    used: BTreeMap<(i64, u64), Used>,
    next: u64,
    /// No region that is in use is longer.
    longest: i64,
}

impl Buffers {
    /// An operation begins to use a buffer. Returns the call whose buffer it overlaps, if one of the two is
    /// written.
    pub fn conflict(&self, region: &Region, is_written: bool) -> Option<(CallIndex, bool)> {
        let from = region.low.saturating_sub(self.longest);
        self.used
            .range((from, 0)..(region.high, 0))
            .map(|(_, used)| used)
            .find(|used| (is_written || used.is_written) && used.region.overlaps(region))
            .map(|used| (used.call, used.is_written))
    }

    /// It goes on using it after the call.
    pub fn add(&mut self, region: Region, is_written: bool, call: CallIndex) -> BufferId {
        self.next += 1;
        let id = BufferId { low: region.low, number: self.next };
        self.longest = self.longest.max(region.high - region.low);
        self.used.insert((id.low, id.number), Used { region, is_written, call });
        id
    }

    /// It is complete.
    pub fn remove(&mut self, id: BufferId) {
        self.used.remove(&(id.low, id.number));
        if self.used.is_empty() {
            self.longest = 0;
        }
    }
}

/// Two operations use a buffer at once.
pub fn finding(history: &History, call: CallIndex, is_written: bool, other: (CallIndex, bool)) -> Finding {
    let (other, is_other_written) = other;
    let verb = |is_written: bool| if is_written { "receives into" } else { "sends from" };
    let sentence = format!(
        "{{0}} {} memory that {{1}}, which is not complete, {}. Which data it holds afterwards is not \
         defined. Complete that operation before, or use another buffer.",
        verb(is_written),
        verb(is_other_written)
    );
    Finding {
        rule: Rule::Overlap,
        severity: Severity::Error,
        places: vec![history.place(call), history.place(other)],
        sentence,
        clause: CLAUSE,
        more: 0,
    }
}

/// The two buffers of one call overlap.
pub fn aliased(history: &History, call: CallIndex) -> Finding {
    Finding {
        rule: Rule::Overlap,
        severity: Severity::Error,
        places: vec![history.place(call)],
        sentence: "{0} sends from memory into which it receives. Use two buffers, or MPI_IN_PLACE where the \
                   function takes it."
            .into(),
        clause: ALIASED,
        more: 0,
    }
}
