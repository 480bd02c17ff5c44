//! Findings for programs.

use super::{Findings, text};
use evenkeel_check::finding::{Finding, Place};
use serde_json::{Value, json};

/// The number of this layout.
const LAYOUT: u32 = 1;

/// All of it as one value.
pub fn value(found: &Findings) -> Value {
    let findings: Vec<Value> = found.findings.iter().map(|finding| one(found, finding)).collect();
    json!({
        "layout": LAYOUT,
        "ranks": found.ranks,
        "calls": found.calls,
        "findings": findings,
        "remarks": found.remarks,
    })
}

fn one(found: &Findings, finding: &Finding) -> Value {
    let places: Vec<Value> = finding.places.iter().map(|of| place(found, of)).collect();
    json!({
        "rule": finding.rule.name(),
        "severity": finding.severity.name(),
        "sentence": text::sentence(found, finding),
        "clause": finding.clause,
        "more": finding.more,
        "places": places,
    })
}

/// `call` is the number of the call in the times of the rank, from 0; null: the rank has not left it.
fn place(found: &Findings, place: &Place) -> Value {
    let line = found.places.line(place);
    json!({
        "rank": place.rank,
        "call": place.call,
        "function": place.function,
        "site": found.places.name(place),
        "file": line.map(|(file, _)| file),
        "line": line.map(|(_, line)| line),
    })
}
