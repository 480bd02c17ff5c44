//! What the calls of the run have done wrong, for the page.

use crate::errors::FileError;
use crate::findings::{self, Findings, text};
use crate::launch::trace_folder;
use evenkeel_check::finding::{Rule, Severity};
use evenkeel_debug::answers::Finding;
use std::path::Path;

/// The findings of a run; `None` if the arguments of its calls were not recorded.
pub(super) fn of(folder: &Path) -> Result<Option<Vec<Finding>>, FileError> {
    if !trace_folder::has_checks(folder) {
        return Ok(None);
    }
    let found = findings::of_folder(folder, &Rule::ALL, Severity::Note)?;
    for remark in &found.remarks {
        eprintln!("evenkeel: {remark}");
    }
    Ok(Some(found.findings.iter().map(|finding| shown(&found, finding)).collect()))
}

fn shown(found: &Findings, finding: &evenkeel_check::finding::Finding) -> Finding {
    let place = finding.places.first();
    let more = match finding.more {
        0 => String::new(),
        more => format!(", and {more} more like it"),
    };
    Finding {
        rule: finding.rule.name().to_string(),
        severity: finding.severity.name().to_string(),
        rank: place.map(|place| place.rank),
        call: place.and_then(|place| place.call),
        site: place.map(|place| found.places.name(place).to_string()),
        text: format!("{} ({}{more})", text::sentence(found, finding), finding.clause),
    }
}
