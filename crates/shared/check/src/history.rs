//! What a rank has done, as the rules see it.

use crate::signature::Signatures;
use evenkeel_trace::checks::file::Comm;
use std::collections::HashMap;

/// A call of a rank: its place in the order in which calls began.
pub type CallIndex = u32;

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// As the times number it; `None`: it is not over.
    pub number: Option<u32>,
    /// Which function.
    pub function: u32,
    /// From where.
    pub site: u32,
    /// MPI has returned an error.
    pub has_failed: bool,
    /// A callback has made it within another call. Only those that free are recorded.
    pub is_inner: bool,
}

/// So many elements of a datatype.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// How many; negative: not known.
    pub count: i64,
    /// Which elements, of the rank's; `None`: not known.
    pub elements: Option<u32>,
    /// Bytes of one.
    pub size: u64,
}

impl Data {
    /// Bytes of all; `None`: not known.
    pub fn bytes(&self) -> Option<u64> {
        self.elements?;
        u64::try_from(self.count).ok()?.checked_mul(self.size)
    }
}

/// A message that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Send {
    /// By which call.
    pub call: CallIndex,
    /// On which communicator, of the rank's.
    pub comm: u32,
    /// World rank.
    pub dest: u32,
    /// Its tag.
    pub tag: i32,
    /// What it holds.
    pub data: Data,
    /// It was cancelled.
    pub is_cancelled: bool,
    /// It is complete only when it is received: all but buffered sends, as the standard allows.
    pub waits: bool,
}

/// A receive, or a message that a matched probe has taken.
#[derive(Clone, Copy, Debug)]
pub struct Receive {
    /// Which call has posted it.
    pub call: CallIndex,
    /// On which communicator, of the rank's.
    pub comm: u32,
    /// World rank of the source, of the message once it has come; `None`: not known.
    pub source: Option<u32>,
    /// Its tag; `None`: not known.
    pub tag: Option<i32>,
    /// It named no source.
    pub any_source: bool,
    /// It named no tag.
    pub any_tag: bool,
    /// What it has room for; `None`: a message that no receive was posted for.
    pub data: Option<Data>,
    /// Bytes of the message.
    pub bytes: Option<u64>,
    /// The call in which the program has learned that it is complete.
    pub completed: Option<CallIndex>,
    /// It was cancelled, freed, or nothing is known of it: it is not judged.
    pub is_ignored: bool,
    /// The request of a posted receive was freed before it was complete.
    pub is_freed: bool,
}

/// A probe that waits until there is a message.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// On which communicator, of the rank's.
    pub comm: u32,
    /// World rank of the source; `None`: any.
    pub source: Option<u32>,
    /// The tag; `None`: any.
    pub tag: Option<i32>,
    /// The message that it has taken out, as a receive.
    pub found: Option<u32>,
}

/// A collective.
#[derive(Clone, Debug)]
pub struct Collective {
    /// Which call.
    pub call: CallIndex,
    /// On which communicator, of the rank's.
    pub comm: u32,
    /// Which one it is of those on the communicator.
    pub nth: u32,
    /// Words that it was passed: a range of the file's.
    pub words: (u32, u32),
    /// The datatypes of the program's that it was passed: handle, size and elements. The handle may stand for
    /// another one later.
    pub types: Vec<(i64, u64, Option<u32>)>,
}

/// What a blocking call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// That this send is received.
    Send(u32),
    /// The message of this receive.
    Receive(u32),
    /// A message for this probe.
    Probe(u32),
    /// All members of this collective.
    Collective(u32),
}

/// A call that may wait.
#[derive(Clone, Debug)]
pub struct Step {
    /// Which call.
    pub call: CallIndex,
    /// For what.
    pub awaited: Vec<Awaited>,
    /// It may go on without: a test that has succeeded, or any of several requests.
    pub may_go_on: bool,
}

/// A communicator as a rank sees it.
#[derive(Clone, Debug)]
pub struct Communicator {
    /// Its groups.
    pub comm: Comm,
    /// Collectives so far.
    pub collectives: u32,
}

impl Communicator {
    /// The world rank of a peer.
    pub fn world_rank(&self, peer: i64) -> Option<u32> {
        let group = if self.comm.remote.is_empty() { &self.comm.members } else { &self.comm.remote };
        group.get(usize::try_from(peer).ok()?).and_then(|&rank| u32::try_from(rank).ok())
    }
}

/// An operation that is not complete at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// A send, of the rank's.
    Send(u32),
    /// A receive.
    Receive(u32),
    /// Something else.
    Other,
}

/// What a rank has done.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The rank.
    pub rank: u32,
    /// Names of functions, `MPI_Send`, and without prefix and suffix.
    pub functions: Vec<(String, String)>,
    /// In the order in which they began.
    pub calls: Vec<Call>,
    /// In the order of the calls.
    pub sends: Vec<Send>,
    /// In the order of posting.
    pub receives: Vec<Receive>,
    /// In the order of the calls.
    pub probes: Vec<Probe>,
    /// In the order of the calls.
    pub collectives: Vec<Collective>,
    /// Calls that may wait.
    pub steps: Vec<Step>,
    /// Communicators, in the order in which they were made.
    pub comms: Vec<Communicator>,
    /// Types of elements.
    pub signatures: Signatures,
    /// Size and elements of predefined datatypes, by handle.
    pub types: HashMap<i64, (u64, Option<u32>)>,
    /// Names of the library's own handles.
    pub constants: HashMap<i64, String>,
    /// The call of MPI_Finalize.
    pub finalized: Option<CallIndex>,
    /// It was not read to its end, from this call on: the rank's calls do not tell enough any more.
    pub ends_at: Option<CallIndex>,
    /// Communicators, of the rank's, and receivers' world ranks: what became of some messages there cannot be
    /// known.
    pub vague: Vec<(u32, u32)>,
    /// Several threads have called MPI.
    pub has_threads: bool,
    /// Requests that were active in MPI_Finalize: the call that has made each.
    pub unfinished: Vec<(CallIndex, Unfinished)>,
    /// What was found in this rank alone.
    pub local: Vec<crate::finding::Finding>,
}

impl History {
    /// The function that a call is of, `MPI_Send`.
    pub fn function(&self, call: CallIndex) -> &str {
        &self.functions[self.calls[call as usize].function as usize].0
    }

    /// The place of a call. It has the call's place in this history in place of its number, which is not
    /// known before the call is over.
    pub fn place(&self, call: CallIndex) -> crate::finding::Place {
        let at = &self.calls[call as usize];
        crate::finding::Place {
            rank: self.rank,
            call: Some(call),
            function: self.function(call).to_string(),
            site: at.site,
        }
    }

    /// The receive whose message a call waits for: its own, or the one that its probe has found.
    pub fn awaited_receive(&self, awaited: Awaited) -> Option<u32> {
        match awaited {
            Awaited::Receive(receive) => Some(receive),
            Awaited::Probe(probe) => self.probes[probe as usize].found,
            Awaited::Send(_) | Awaited::Collective(_) => None,
        }
    }

    /// The call that the rank is in at the end.
    pub fn open(&self) -> Option<CallIndex> {
        let last = self.calls.iter().rposition(|call| !call.is_inner)?;
        self.calls[last].number.is_none().then_some(last as u32)
    }
}
