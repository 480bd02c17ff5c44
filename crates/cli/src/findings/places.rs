//! The lines of the program from which MPI was called.

use crate::program::call_sites::CallSites;
use evenkeel_check::finding::{Finding, Place};
use evenkeel_trace::checks::file::{Checks, Site};
use std::collections::HashMap;

/// Names of places, by rank and site.
#[derive(Debug, Default)]
pub struct Places {
    names: HashMap<(u32, u32), String>,
    /// Files that are not those of the run any more.
    pub changed: Vec<String>,
}

impl Places {
    /// Those that findings name.
    pub fn new(ranks: &[Checks], findings: &[Finding]) -> Places {
        let mut sites = CallSites::default();
        let mut names = HashMap::new();
        for place in findings.iter().flat_map(|finding| &finding.places) {
            let key = (place.rank, place.site);
            names.entry(key).or_insert_with(|| name(&ranks[place.rank as usize], place.site, &mut sites));
        }
        Places { names, changed: sites.changed }
    }

    /// `solve solver.c:77`, or as much as the program's file says.
    pub fn name(&self, place: &Place) -> &str {
        self.names.get(&(place.rank, place.site)).map_or("", String::as_str)
    }

    /// The file, and the line in it.
    pub fn line(&self, place: &Place) -> Option<(&str, u32)> {
        let last = self.name(place).rsplit(' ').next()?;
        let (file, line) = last.rsplit_once(':')?;
        Some((file, line.parse().ok()?))
    }
}

fn name(rank: &Checks, site: u32, sites: &mut CallSites) -> String {
    match rank.sites.get(site as usize) {
        Some(Site::Code(module, offset)) => {
            sites.place(module.map(|number| &rank.modules[number as usize]), *offset).name
        }
        Some(Site::Script(file, line, function)) => {
            let file = file.rsplit('/').next().unwrap_or_default();
            // Code that is in no function is in `<module>`.
            let function = if function.starts_with('<') { String::new() } else { format!("{function} ") };
            format!("{function}{file}:{line}")
        }
        None => String::new(),
    }
}
