//! What a rank waits for in a call, as it stands in the rank's line for those who look from outside.

use crate::clock::Ticks;
use crate::collective::call::{Call, CollectiveKind};
use crate::comm::part::NodePart;
use crate::comm::state::PartState;
use evenkeel_segment::call_line::{CallLine, CurrentCall, EngineWait};
use evenkeel_segment::{Segment, Seq};
use std::ffi::CStr;

/// The call in which a rank waits.
#[derive(Clone, Copy)]
pub(crate) struct Awaited {
    /// Its kind.
    pub kind: CollectiveKind,
    name: &'static CStr,
    /// The first instance of a collective other than a barrier.
    first: Option<u64>,
    root: Option<u32>,
    /// In this step every rank needs all others, though the collective has a root.
    needs_all: bool,
    /// Calls of collectives other than barriers that this rank has made, this one included.
    calls: Calls,
}

/// How the calls are counted.
#[derive(Clone, Copy)]
enum Calls {
    /// They are not all in the tallies.
    Unknown,
    /// This call is in the tallies, or it is a barrier.
    Counted,
    /// This call will be counted when it is over.
    OneMore,
}

impl Awaited {
    /// A barrier, whose number the board knows.
    pub(crate) const BARRIER: Awaited = Awaited {
        kind: CollectiveKind::Barrier,
        name: c"MPI_Barrier",
        first: None,
        root: None,
        needs_all: false,
        calls: Calls::Counted,
    };

    /// The end of a communicator, of which others may still read something.
    pub(crate) const END_OF_COMMUNICATOR: Awaited = Awaited {
        kind: CollectiveKind::Reduce,
        name: c"MPI_Comm_free",
        first: None,
        root: None,
        needs_all: false,
        calls: Calls::Unknown,
    };

    /// A collective that has been counted already.
    #[inline(always)]
    pub(crate) fn counted(call: &Call, first: Seq) -> Awaited {
        Awaited::collective(call, Some(first), Calls::Counted)
    }

    /// A collective that is counted when it is over.
    pub(crate) fn uncounted(call: &Call, first: Seq) -> Awaited {
        Awaited::collective(call, Some(first), Calls::OneMore)
    }

    /// The same for a step in which all ranks need all others, though the collective has a root.
    pub(crate) fn by_all(self) -> Awaited {
        Awaited { needs_all: true, ..self }
    }

    /// A collective on a communicator that spans nodes.
    pub(crate) fn spanning(call: &Call) -> Awaited {
        Awaited::collective(call, None, Calls::Unknown)
    }

    #[inline(always)]
    fn collective(call: &Call, first: Option<Seq>, calls: Calls) -> Awaited {
        let kind = call.kind();
        Awaited {
            kind,
            name: kind.mpi_name(),
            first: first.map(|seq| seq.0),
            root: u32::try_from(call.root).ok(),
            needs_all: false,
            calls,
        }
    }

    /// Which of the communicator's blocking collectives this is, counted from 1; 0 if that is not known.
    fn ordinal(&self, state: &PartState, recording: bool) -> u64 {
        let counted = state.barriers.entered + state.tallies.blocking_calls();
        match self.calls {
            Calls::Counted if recording => counted,
            Calls::OneMore if recording => counted + 1,
            _ => 0,
        }
    }

    /// Says in this rank's line that it waits since `began`, until the result is dropped. Does nothing if the
    /// line says already which call this rank is in.
    pub(crate) fn publish(&self, part: &NodePart, began: Ticks) -> Published<'static> {
        let node = part.shared.node;
        let members = &part.shared.local_ranks;
        let wait = EngineWait {
            since: began.0,
            block: part.shared.block.offset() as u64,
            first: self.first,
            members: members.as_ptr() as u64,
            ranks: members.len() as u32,
            me: part.me as u32,
            root: self.root,
            needs_all: self.needs_all,
            ordinal: part.with(|state| self.ordinal(state, node.recording)),
        };
        let name = self.name.as_ptr() as u64;
        let line = node.call_line();
        let begins = line.begin(&CurrentCall { name, wait: Some(wait), ..CurrentCall::default() });
        Published(begins.then_some(line))
    }
}

/// A wait that stands in this rank's line.
pub(crate) struct Published<'a>(Option<CallLine<'a, Segment>>);

impl Drop for Published<'_> {
    fn drop(&mut self) {
        if let Some(line) = &self.0 {
            line.end();
        }
    }
}
