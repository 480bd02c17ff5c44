//! Whether a recorded run kept the rules of MPI.
//!
//! [`check`] takes what all ranks have recorded (`evenkeel run --trace-level checks`), and returns findings.
//! [`reading`] makes a [`history`] of each rank, and finds what can be seen from one rank alone; a
//! [`run`](mod@run) is all of them, with the messages paired ([`matching`]); the [`rules`] look at that, some
//! by carrying out its calls again ([`replay`]).
//!
//! An error or a warning is a violation in this very run; where it cannot be proved, nothing is said.
//!
//! Pure: values come in and go out. May use: trace, record (names), random (tests). Must never: do I/O, or
//! know an MPI library.

pub mod arguments;
pub mod circle;
pub mod communicators;
pub mod families;
pub mod finding;
pub mod folding;
pub mod history;
pub mod matching;
pub mod objects;
pub mod reading;
pub mod regions;
pub mod replay;
pub mod requests;
pub mod rules;
pub mod run;
pub mod signature;

use evenkeel_trace::checks::file::Checks;
use finding::{Finding, Rule, Severity};
use run::Run;

/// What was found, and what was not looked at.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The worst first, those alike folded.
    pub findings: Vec<Finding>,
    /// Sentences about what could not be judged.
    pub remarks: Vec<String>,
}

/// Checks a run by these rules. `ranks` are the files of all its ranks, in their order.
///
/// Takes time in proportion to the calls, and memory for all of them.
pub fn check(ranks: &[Checks], rules: &[Rule]) -> Report {
    let run = Run::new(ranks);
    let mut findings: Vec<Finding> = Vec::new();
    let wants = |rule: Rule| rules.contains(&rule);
    for history in &run.ranks {
        findings.extend(history.local.iter().cloned());
    }
    if run.is_ordered {
        rules::message::check(&run, &mut findings);
        rules::unmatched::check(&run, &mut findings);
    }
    rules::collective::check(&run, &mut findings);
    let mut remarks = remarks(&run);
    let is_deadlocked = rules::deadlock::check(&run, &mut findings);
    // Members that call different collectives would wait for each other for another reason.
    let are_alike = findings.iter().all(|finding| finding.rule != Rule::Collective);
    if wants(Rule::Buffering) && are_alike && !is_deadlocked {
        rules::buffering::check(&run, &mut findings);
    }
    if wants(Rule::Race) && !rules::race::check(&run, &mut findings) {
        remarks.push("The run has too many messages to look for races.".into());
    }
    findings.retain(|finding| wants(finding.rule));
    for place in findings.iter_mut().flat_map(|finding| &mut finding.places) {
        let calls = &run.ranks[place.rank as usize].calls;
        place.call = place.call.and_then(|call| calls[call as usize].number);
    }
    Report { findings: folding::fold(ranks, findings), remarks }
}

fn remarks(run: &Run) -> Vec<String> {
    let mut remarks = Vec::new();
    if !run.is_ordered {
        remarks.push(
            "Several threads have called MPI, so the order of calls is not known: messages, collectives, \
             deadlocks and races are not looked at."
                .into(),
        );
    }
    if !run.matching.vague.is_empty() {
        remarks.push(
            "What became of some messages cannot be known: others on the same communicator to the same rank \
             are not looked at."
                .into(),
        );
    }
    for history in &run.ranks {
        let number = |call: u32| history.calls[call as usize].number.map_or(0, |number| number + 1);
        if let Some(call) = history.ends_at {
            remarks.push(format!(
                "Rank {} is looked at up to call {}: {} has failed, and which of its requests are complete \
                 is not known.",
                history.rank,
                number(call),
                history.function(call)
            ));
        }
        if let (None, Some(call)) = (history.finalized, history.open()) {
            remarks.push(format!("Rank {} ended in {}.", history.rank, history.function(call)));
        } else if history.finalized.is_none() && history.ends_at.is_none() {
            remarks.push(format!("Rank {} ended without MPI_Finalize.", history.rank));
        }
    }
    remarks
}

/// Whether the worst of them is an error.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
