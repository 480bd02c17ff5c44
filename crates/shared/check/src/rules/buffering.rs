//! The program does not rely on sends that are buffered: it would also end if each send waited for its
//! receive, and each collective for all members.

use crate::circle;
use crate::finding::{Finding, Rule, Severity};
use crate::replay::{Question, Replay};
use crate::run::Run;

const CLAUSE: &str = "MPI 5.0, 3.5 Semantics of Point-to-Point Communication (unsafe programs), and 6.14";

/// Carries out the run again without buffers.
pub fn check(run: &Run, findings: &mut Vec<Finding>) {
    let are_known = run.ranks.iter().all(|history| history.ends_at.is_none());
    if !run.is_ordered || !are_known {
        return;
    }
    let (standstill, replay) = Replay::new(run, Question::Unbuffered).run(|_, _, _| {});
    let Some(circle) = circle::find(run, &replay, &standstill) else { return };
    // A receive from any source might have taken another message.
    let is_wild = circle.iter().any(|one| {
        one.missing.is_some_and(|missing| match missing.awaited {
            crate::history::Awaited::Receive(receive) => {
                let of = &run.ranks[one.rank as usize].receives[receive as usize];
                of.any_source || of.any_tag
            }
            _ => false,
        })
    });
    if is_wild || circle.iter().any(|one| one.missing.is_none()) {
        return;
    }
    let sentence = format!(
        "The program ends only because MPI has buffered messages: without, {}. Post receives before sends, \
         or use MPI_Sendrecv.",
        circle::describe(run, &circle)
    );
    let places = circle.iter().map(|one| run.place(one.rank, one.call)).collect();
    let severity = Severity::Warning;
    findings.push(Finding { rule: Rule::Buffering, severity, places, sentence, clause: CLAUSE, more: 0 });
}
