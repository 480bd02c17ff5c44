//! A send buffer stays as it is until the send is complete.

use crate::finding::{Finding, Rule, Severity};
use crate::history::{CallIndex, History};

const CLAUSE: &str = "MPI 5.0, 3.7.2 Communication Initiation";

/// What the buffer held when the send was complete is not what it had held; `is_gone`: it cannot be read.
pub fn finding(history: &History, sent: CallIndex, learned: CallIndex, is_gone: bool) -> Finding {
    let what = if is_gone {
        "was unmapped while the message was under way"
    } else {
        "was changed while the message was under way"
    };
    Finding {
        rule: Rule::Modified,
        severity: Severity::Error,
        places: vec![history.place(sent), history.place(learned)],
        sentence: format!(
            "The buffer of {{0}} {what}: {{1}} has completed it, and it does not hold what it held when it \
             was sent. Which of the two the receiver gets is a matter of luck. Leave a send buffer as it is \
             until the request is complete."
        ),
        clause: CLAUSE,
        more: 0,
    }
}
