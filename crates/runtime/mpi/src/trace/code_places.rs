//! Where MPI is called from: return addresses as offsets in files, which are the same in every run.

use evenkeel_trace::checks;
use evenkeel_trace::times::recorder::{Recorder, Store};
use std::collections::HashMap;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

/// What is mapped to be executed.
struct Code {
    range: Range<usize>,
    offset: u64,
    path: String,
}

/// Where places are written down.
pub(super) trait PlaceRecords {
    /// A file with code, the next of its kind; the first one has number 1.
    fn module(&mut self, path: &str, size: u64, changed_ns: u64);
    /// A place, the next of its kind. `module` 0: not in a file.
    fn site(&mut self, module: u32, offset: u64);
}

impl<S: Store> PlaceRecords for Recorder<S> {
    fn module(&mut self, path: &str, size: u64, changed_ns: u64) {
        Recorder::module(self, path, size, changed_ns);
    }
    fn site(&mut self, module: u32, offset: u64) {
        Recorder::site(self, module, offset);
    }
}

impl<S: Store> PlaceRecords for checks::recorder::Recorder<S> {
    fn module(&mut self, path: &str, size: u64, changed_ns: u64) {
        checks::recorder::Recorder::module(self, path, size, changed_ns);
    }
    fn site(&mut self, module: u32, offset: u64) {
        checks::recorder::Recorder::site(self, module.checked_sub(1), offset);
    }
}

/// The sites and files that have numbers.
#[derive(Default)]
pub(super) struct CodePlaces {
    code: Vec<Code>,
    sites: HashMap<usize, u32>,
    scripts: HashMap<(String, u32, String), u32>,
    modules: HashMap<String, u32>,
}

impl CodePlaces {
    /// The number of the place that a call returns to.
    pub(super) fn number(&mut self, address: usize, recorder: &mut impl PlaceRecords) -> u32 {
        if let Some(&number) = self.sites.get(&address) {
            return number;
        }
        if !self.code.iter().any(|code| code.range.contains(&address)) {
            self.code = mapped_code(); // a library has been loaded since
        }
        let (module, offset) = match self.code.iter().find(|code| code.range.contains(&address)) {
            Some(code) => {
                let known = self.modules.len() as u32;
                let module = *self.modules.entry(code.path.clone()).or_insert(known + 1);
                if module > known {
                    let found = std::fs::metadata(&code.path);
                    let changed =
                        |m: &std::fs::Metadata| m.mtime() as u64 * 1_000_000_000 + m.mtime_nsec() as u64;
                    let (size, changed) = found.map_or((0, 0), |m| (m.len(), changed(&m)));
                    recorder.module(&code.path, size, changed);
                }
                (module, (address - code.range.start) as u64 + code.offset)
            }
            None => (0, address as u64),
        };
        recorder.site(module, offset);
        let number = (self.sites.len() + self.scripts.len()) as u32;
        self.sites.insert(address, number);
        number
    }

    /// The number of a place in a script.
    pub(super) fn script<S: Store>(
        &mut self,
        file: String,
        line: u32,
        function: String,
        recorder: &mut checks::recorder::Recorder<S>,
    ) -> u32 {
        let known = self.sites.len() + self.scripts.len();
        let place = (file, line, function);
        if let Some(&number) = self.scripts.get(&place) {
            return number;
        }
        recorder.script_site(&place.0, place.1, &place.2);
        self.scripts.insert(place, known as u32);
        known as u32
    }
}

fn mapped_code() -> Vec<Code> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().filter_map(code_of_line).collect()
}

/// `7f00-7f10 r-xp 00001000 fe:00 77   /usr/lib/x.so`
fn code_of_line(line: &str) -> Option<Code> {
    let mut fields = line.splitn(6, ' ');
    let (range, rights, offset) = (fields.next()?, fields.next()?, fields.next()?);
    let path = fields.nth(2)?.trim();
    let (start, end) = range.split_once('-')?;
    let address = |text: &str| usize::from_str_radix(text, 16).ok();
    (rights.contains('x') && path.starts_with('/')).then_some(Code {
        range: address(start)?..address(end)?,
        offset: u64::from_str_radix(offset, 16).ok()?,
        path: path.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_is_found() {
        let code =
            code_of_line("55d0c0001000-55d0c0002000 r-xp 00001000 fe:00 1234      /usr/bin/a b").unwrap();
        assert_eq!(
            (code.range.start, code.offset, code.path.as_str()),
            (0x55d0c0001000, 0x1000, "/usr/bin/a b")
        );
        for line in
            ["7f00-7f10 r--p 0 fe:00 1 /x", "7f00-7f10 r-xp 0 00:00 0 [vdso]", "7f00-7f10 r-xp 0 00:00 0"]
        {
            assert!(code_of_line(line).is_none());
        }
    }
}
