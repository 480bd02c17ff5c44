//! What the places are called from which MPI was called.

use evenkeel_stacks::{CodeFile, Frame};
use evenkeel_trace::times::file::{Module, Site, Times};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSite {
    /// What is shown: `solve solver.c:77`, or as much as the files say.
    pub name: String,
    /// The file with the source, as the debug information names it; empty if it does not.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

/// Remembers what it has read: ranks run the same program.
#[derive(Default)]
pub struct CallSites {
    files: HashMap<String, Option<CodeFile>>,
    known: HashMap<(String, u64), CallSite>,
    /// Files that are not those of the run any more.
    pub changed: Vec<String>,
}

impl CallSites {
    /// Names of a rank's sites, by their numbers.
    pub fn names(&mut self, times: &Times) -> Vec<String> {
        self.look_up(&times.sites, &times.modules).into_iter().map(|site| site.name).collect()
    }

    /// What is known of sites, by their numbers; their modules are numbered, too.
    pub fn look_up(&mut self, sites: &[Site], modules: &[Module]) -> Vec<CallSite> {
        sites.iter().map(|site| self.call_site(site, modules)).collect()
    }

    fn call_site(&mut self, site: &Site, modules: &[Module]) -> CallSite {
        self.place(site.module.and_then(|number| modules.get(number as usize)), site.offset)
    }

    /// What is known of a place: a file with code, or none, and an offset in it.
    pub fn place(&mut self, module: Option<&Module>, offset: u64) -> CallSite {
        let Some(module) = module else {
            return CallSite { name: format!("{offset:#x}"), ..CallSite::default() };
        };
        let key = (module.path.clone(), offset);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.find(module, offset);
        self.known.insert(key, found.clone());
        found
    }

    fn find(&mut self, module: &Module, offset: u64) -> CallSite {
        if !self.files.contains_key(&module.path) {
            let file = self.open(module);
            self.files.insert(module.path.clone(), file);
        }
        let short = module.path.rsplit('/').next().unwrap_or_default();
        let frames =
            self.files[&module.path].as_ref().map_or_else(Vec::new, |file| file.calls_before(offset));
        let name =
            frames.first().map_or_else(|| format!("{short}+{offset:#x}"), |it| name(it, short, offset));
        match frames.into_iter().next() {
            Some(Frame { file: Some(file), line: Some(line), .. }) => CallSite { name, file, line },
            _ => CallSite { name, ..CallSite::default() },
        }
    }

    /// A file that has changed would give wrong names.
    fn open(&mut self, module: &Module) -> Option<CodeFile> {
        let found = std::fs::metadata(&module.path).ok()?;
        let changed_ns = found.mtime() as u64 * 1_000_000_000 + found.mtime_nsec() as u64;
        if (found.len(), changed_ns) != (module.size, module.changed_ns) {
            self.changed.push(module.path.clone());
            return None;
        }
        CodeFile::open(Path::new(&module.path))
    }
}

fn name(frame: &Frame, module: &str, offset: u64) -> String {
    let function = frame.function.as_deref();
    match (&frame.file, frame.line, function) {
        (Some(file), Some(line), function) => {
            let file = file.rsplit('/').next().unwrap_or_default();
            function.map_or_else(String::new, |name| format!("{name} ")) + &format!("{file}:{line}")
        }
        (_, _, Some(function)) => format!("{function} in {module}"),
        _ => format!("{module}+{offset:#x}"),
    }
}
