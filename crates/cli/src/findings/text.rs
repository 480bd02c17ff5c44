//! Findings for people.

use super::Findings;
use evenkeel_check::finding::{Finding, Place, Severity};
use std::fmt::Write;

/// Findings one after the other, and how many there are.
pub fn text(found: &Findings) -> String {
    let mut text = String::new();
    for finding in &found.findings {
        push(&mut text, found, finding);
    }
    // Writing to a String cannot fail.
    for remark in &found.remarks {
        let _ = writeln!(text, "{remark}");
    }
    for path in &found.places.changed {
        let _ = writeln!(text, "{path} has changed since the run, so its functions and lines are not shown.");
    }
    let _ = writeln!(text, "{}", headline(found));
    text
}

/// `2 errors, no warnings and 1 note in 1034 calls of 4 ranks`
pub fn headline(found: &Findings) -> String {
    let count = |severity: Severity| {
        let of = found.findings.iter().filter(|finding| finding.severity == severity);
        of.map(|finding| finding.more + 1).sum::<u64>()
    };
    let some = |severity: Severity| match count(severity) {
        0 => format!("no {severity}s"),
        1 => format!("1 {severity}"),
        n => format!("{n} {severity}s"),
    };
    let [errors, warnings, notes] = Severity::ALL.map(some);
    format!("{errors}, {warnings} and {notes} in {} calls of {} ranks.", found.calls, found.ranks)
}

/// `MPI_Send of rank 3 (main solver.c:77, call 12)`
fn place(found: &Findings, place: &Place) -> String {
    let name = found.places.name(place);
    let call = place.call.map_or_else(|| "its last call".to_string(), |call| format!("call {}", call + 1));
    format!("{} of rank {} ({name}, {call})", place.function, place.rank)
}

/// The sentence of a finding, with its places.
pub fn sentence(found: &Findings, finding: &Finding) -> String {
    let mut sentence = finding.sentence.clone();
    for (number, of) in finding.places.iter().enumerate() {
        sentence = sentence.replace(&format!("{{{number}}}"), &place(found, of));
    }
    sentence
}

fn push(text: &mut String, found: &Findings, finding: &Finding) {
    let place = finding.places.first();
    let line = place.and_then(|place| found.places.line(place));
    let at = line.map_or_else(String::new, |(file, line)| format!("{file}:{line}: "));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{at}{} [{}]: {}", finding.severity, finding.rule, sentence(found, finding));
    let more = match finding.more {
        0 => String::new(),
        more => format!(", and {more} more like it"),
    };
    let _ = writeln!(text, "    {}{more}", finding.clause);
}
