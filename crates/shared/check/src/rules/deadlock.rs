//! Ranks that wait for each other for ever.

use crate::circle;
use crate::finding::{Finding, Rule, Severity};
use crate::replay::{Question, Replay};
use crate::run::Run;

const CLAUSE: &str = "MPI 5.0, 3.5 Semantics of Point-to-Point Communication, and 6.14 Correctness";

/// Looks at where the ranks were when the run ended. Returns whether some were in a deadlock.
pub fn check(run: &Run, findings: &mut Vec<Finding>) -> bool {
    let are_known = run.ranks.iter().all(|history| history.ends_at.is_none());
    if !run.is_ordered || !are_known || run.ranks.iter().all(|history| history.open().is_none()) {
        return false;
    }
    let (standstill, replay) = Replay::new(run, Question::Recorded).run(|_, _, _| {});
    let Some(circle) = circle::find(run, &replay, &standstill) else { return false };
    let sentence =
        format!("The run ended in a deadlock: {}. None of them could go on.", circle::describe(run, &circle));
    let places = circle.iter().map(|one| run.place(one.rank, one.call)).collect();
    let severity = Severity::Error;
    findings.push(Finding { rule: Rule::Deadlock, severity, places, sentence, clause: CLAUSE, more: 0 });
    true
}
