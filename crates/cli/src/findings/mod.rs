//! What a recorded run has done wrong, with the lines of the program.
//!
//! [`of_folder`] reads a folder that `evenkeel run --trace-level checks` has written and returns the
//! findings; [`text`] shows them to people, [`json`] to programs.

pub mod json;
pub mod places;
pub mod text;

use crate::errors::FileError;
use crate::launch::trace_folder;
use evenkeel_check::Report;
use evenkeel_check::finding::{Finding, Rule, Severity};
use places::Places;
use std::path::Path;

/// What was found in a run.
#[derive(Debug)]
pub struct Findings {
    /// The worst first.
    pub findings: Vec<Finding>,
    /// What could not be judged.
    pub remarks: Vec<String>,
    /// The program's lines.
    pub places: Places,
    /// Ranks, and their calls.
    pub ranks: usize,
    /// Calls of all ranks that are over.
    pub calls: u64,
}

/// What the calls recorded in a folder have done wrong, by these rules, and at least as bad as that.
pub fn of_folder(folder: &Path, rules: &[Rule], least: Severity) -> Result<Findings, FileError> {
    let ranks = trace_folder::checks(folder)?;
    let Report { mut findings, remarks } = evenkeel_check::check(&ranks, rules);
    findings.retain(|finding| finding.severity <= least);
    let calls = ranks.iter().map(|rank| rank.live.calls).sum();
    let places = Places::new(&ranks, &findings);
    Ok(Findings { findings, remarks, places, ranks: ranks.len(), calls })
}
