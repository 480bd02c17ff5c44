//! A message fits its receive: it is not longer, and of the same types.

use crate::finding::{Finding, Rule, Severity};
use crate::history::Data;
use crate::run::Run;
use crate::signature::{Comparison, Signature};

const LENGTH: &str = "MPI 5.0, 3.2.4 Blocking Receive";
const TYPES: &str = "MPI 5.0, 3.3.1 Type Matching Rules";

/// The signature of a rank's data.
pub(super) fn signature<'a>(run: &'a Run, rank: u32, data: &Data) -> Option<Signature<'a>> {
    let of = &run.ranks[rank as usize].signatures;
    Some(Signature { of, elements: data.elements?, count: u64::try_from(data.count).ok()? })
}

/// Looks at all messages that were received.
pub fn check(run: &Run, findings: &mut Vec<Finding>) {
    for (rank, history) in (0..).zip(&run.ranks) {
        for (number, receive) in (0..).zip(&history.receives) {
            let Some((source, send)) = run.send_of(rank, number) else { continue };
            let sent = &run.ranks[source as usize].sends[send as usize];
            let Some(room) = &receive.data else { continue };
            let places = || vec![run.place(rank, receive.call), run.place(source, sent.call)];
            let mut report = |severity, clause, sentence: String| {
                let places = places();
                findings.push(Finding { rule: Rule::Message, severity, places, sentence, clause, more: 0 });
            };
            if let (Some(bytes), Some(most)) = (sent.data.bytes(), room.bytes()) {
                if bytes > most {
                    let sentence = format!(
                        "{{0}} has room for {most} bytes, and gets the message of {bytes} bytes that {{1}} \
                         has sent. The message is truncated. Receive with a buffer that is large enough, or \
                         ask MPI_Probe for the length."
                    );
                    report(Severity::Error, LENGTH, sentence);
                    continue;
                }
            }
            let (Some(mine), Some(theirs)) = (signature(run, source, &sent.data), signature(run, rank, room))
            else {
                continue;
            };
            let what =
                || format!("{{0}} receives {}, and {{1}} has sent {}", theirs.describe(), mine.describe());
            match mine.compare(&theirs, true) {
                Comparison::Different => {
                    let sentence = format!("{}. Sender and receiver must name the same types.", what());
                    report(Severity::Error, TYPES, sentence);
                }
                Comparison::Alike => {
                    let sentence = format!(
                        "{}. This works as long as all ranks lay these types out alike; the standard wants \
                         the same types.",
                        what()
                    );
                    report(Severity::Note, TYPES, sentence);
                }
                Comparison::Same | Comparison::Unknown => {}
            }
        }
    }
}
