//! What the places are called from which MPI was called.

use evenkeel_stacks::CodeFile;
use evenkeel_trace::times::file::{Module, Site, Times};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Remembers what it has read: ranks run the same program.
#[derive(Default)]
pub struct CallSites {
    files: HashMap<String, Option<CodeFile>>,
    names: HashMap<(String, u64), String>,
    /// Files that are not those of the run any more.
    pub changed: Vec<String>,
}

impl CallSites {
    /// Names of a rank's sites, by their numbers: `solve solver.c:77`, or as much as the files say.
    pub fn names(&mut self, times: &Times) -> Vec<String> {
        times.sites.iter().map(|site| self.name(times, site)).collect()
    }

    fn name(&mut self, times: &Times, site: &Site) -> String {
        self.place(site.module.map(|number| &times.modules[number as usize]), site.offset)
    }

    /// The name of a place: a file with code, or none, and an offset in it.
    pub fn place(&mut self, module: Option<&Module>, offset: u64) -> String {
        let Some(module) = module else { return format!("{offset:#x}") };
        let key = (module.path.clone(), offset);
        if let Some(known) = self.names.get(&key) {
            return known.clone();
        }
        let name = self.look_up(module, offset);
        self.names.insert(key, name.clone());
        name
    }

    fn look_up(&mut self, module: &Module, offset: u64) -> String {
        if !self.files.contains_key(&module.path) {
            let file = self.open(module);
            self.files.insert(module.path.clone(), file);
        }
        let short = module.path.rsplit('/').next().unwrap_or_default();
        let frames =
            self.files[&module.path].as_ref().map_or_else(Vec::new, |file| file.calls_before(offset));
        let Some(frame) = frames.first() else { return format!("{short}+{offset:#x}") };
        let function = frame.function.as_deref();
        match (&frame.file, frame.line, function) {
            (Some(file), Some(line), function) => {
                let file = file.rsplit('/').next().unwrap_or_default();
                function.map_or_else(String::new, |name| format!("{name} ")) + &format!("{file}:{line}")
            }
            (_, _, Some(function)) => format!("{function} in {short}"),
            _ => format!("{short}+{offset:#x}"),
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
