//! Findings that are alike become one.

use crate::finding::Finding;
use evenkeel_trace::checks::file::{Checks, Site};
use std::collections::HashMap;

/// Sorts findings, the worst first, and keeps one of those that the same rule has found at the same places,
/// with the number of the others. `ranks`: the files, whose ranks number their sites each for itself.
pub fn fold(ranks: &[Checks], findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::new();
    let mut known: HashMap<_, usize> = HashMap::new();
    for finding in findings {
        let shape: String = finding.sentence.chars().filter(|c| !c.is_ascii_digit()).collect();
        let first = finding
            .places
            .first()
            .map(|place| (place.function.clone(), key_of(ranks, place.rank, place.site)));
        let key = (finding.rule, finding.severity, first, shape);
        match known.get(&key) {
            Some(&number) => kept[number].more += 1 + finding.more,
            None => {
                known.insert(key, kept.len());
                kept.push(finding);
            }
        }
    }
    kept.sort_by(|one, other| {
        let key = |finding: &Finding| (finding.severity, finding.rule);
        key(one).cmp(&key(other)).then_with(|| one.places.cmp(&other.places))
    });
    kept
}

/// What a site is called by, whichever rank has it.
fn key_of(ranks: &[Checks], rank: u32, site: u32) -> (String, u64) {
    let Some(file) = ranks.get(rank as usize) else { return (String::new(), site.into()) };
    match file.sites.get(site as usize) {
        Some(Site::Code(Some(module), offset)) => (file.modules[*module as usize].path.clone(), *offset),
        Some(Site::Code(None, offset)) => (String::new(), *offset),
        Some(Site::Script(file, line, _)) => (file.clone(), u64::from(*line)),
        None => (String::new(), site.into()),
    }
}
