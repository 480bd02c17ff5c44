//! Handles are used from when they are made until they are freed.

use crate::finding::{Finding, Rule, Severity};
use crate::history::{CallIndex, History};

/// What is wrong with a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// It was freed.
    Freed,
    /// A datatype was not committed.
    Uncommitted,
    /// A request was complete, or was freed.
    OldRequest,
    /// A persistent request was started while it was active.
    StartedTwice,
    /// A request of a collective was freed or cancelled.
    CollectiveRequest,
    /// It belongs to MPI.
    Predefined,
}

impl Misuse {
    fn clause(self) -> &'static str {
        match self {
            Misuse::Freed => "MPI 5.0, 2.5.1 Opaque Objects",
            Misuse::Uncommitted => "MPI 5.0, 5.1.9 Commit and Free",
            Misuse::OldRequest => "MPI 5.0, 3.7.3 Communication Completion",
            Misuse::StartedTwice => "MPI 5.0, 3.9 Persistent Communication Requests",
            Misuse::CollectiveRequest => "MPI 5.0, 6.12 Nonblocking Collective Operations",
            Misuse::Predefined => "MPI 5.0, 2.5.4 Named Constants, and 5.1.9 Commit and Free",
        }
    }
}

/// The name of what a handle stands for.
pub fn noun(kind: u8) -> &'static str {
    match kind {
        b'c' => "communicator",
        b'd' => "datatype",
        b'o' => "operator",
        b'g' => "group",
        b'w' => "window",
        b'f' => "file",
        b'q' => "request",
        b'm' => "message",
        b'i' => "info object",
        b'e' => "error handler",
        _ => "session",
    }
}

/// A call was passed a handle that it may not use. `earlier`: the call that has made it so.
pub fn finding(
    history: &History,
    call: CallIndex,
    kind: u8,
    misuse: Misuse,
    earlier: Option<CallIndex>,
) -> Finding {
    let noun = noun(kind);
    let article = if noun.starts_with(['o', 'i', 'e']) { "an" } else { "a" };
    let sentence = match misuse {
        Misuse::Freed => format!("{{0}} is passed {article} {noun} that {{1}} has freed."),
        Misuse::Uncommitted => {
            "{0} is passed a datatype that was not committed. Call MPI_Type_commit before.".to_string()
        }
        Misuse::OldRequest => {
            "{0} is passed a request that {1} has completed or freed: a copy of the handle \
                               was kept. Use the variable that MPI has set to MPI_REQUEST_NULL."
                .to_string()
        }
        Misuse::StartedTwice => "{0} starts a persistent request that {1} has started and nothing has \
                                 completed. Wait for it before."
            .to_string(),
        Misuse::CollectiveRequest => "{0} is passed the request of a nonblocking collective, made by {1}, \
                                      which can only be completed."
            .to_string(),
        Misuse::Predefined => format!("{{0}} is passed a predefined {noun}, which cannot be freed."),
    };
    let places = [Some(call), earlier].into_iter().flatten().map(|call| history.place(call)).collect();
    let severity = Severity::Error;
    Finding { rule: Rule::Handle, severity, places, sentence, clause: misuse.clause(), more: 0 }
}
