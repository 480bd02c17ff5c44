//! Unwinding tables, symbols and lines of a program or library.

use crate::frame::{Frame, Language};
use crate::memory_map::Mapping;
use addr2line::Loader;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use std::cell::OnceCell;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A section: its addresses in the file's own count, and its bytes.
pub(crate) type Section = Option<(Range<u64>, Arc<[u8]>)>;

/// What is needed of a file. Lines are read when the first one is asked for.
pub(crate) struct ElfFile {
    pub(crate) text: Option<Range<u64>>,
    pub(crate) eh_frame: Section,
    pub(crate) eh_frame_hdr: Section,
    pub(crate) debug_frame: Section,
    segments: Vec<Segment>,
    symbols: Vec<Symbol>,
    path: PathBuf,
    lines: OnceCell<Option<Loader>>,
}

/// A part of the file that is mapped to be executed. Others may begin or end on the same page.
struct Segment {
    file: Range<u64>,
    address: u64,
}

/// A function.
struct Symbol {
    address: u64,
    size: u64,
    name: String,
}

impl ElfFile {
    /// Reads what unwinding needs. None if the file cannot be read, or is no ELF file.
    pub(crate) fn open(path: &Path) -> Option<ElfFile> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            let range = section.address()..section.address() + section.size();
            Some((range, section.uncompressed_data().ok()?.into_owned().into()))
        };
        let text = file.section_by_name(".text");
        Some(ElfFile {
            text: text.map(|text| text.address()..text.address() + text.size()),
            eh_frame: section(".eh_frame"),
            eh_frame_hdr: section(".eh_frame_hdr"),
            debug_frame: section(".debug_frame"),
            segments: file
                .segments()
                .filter(|segment| segment.permissions().executable())
                .map(|segment| {
                    let (offset, size) = segment.file_range();
                    Segment { file: offset..offset + size, address: segment.address() }
                })
                .collect(),
            symbols: symbols(&file),
            path: path.to_path_buf(),
            lines: OnceCell::new(),
        })
    }

    /// What is to be added to the file's own addresses where the file is mapped so.
    pub(crate) fn bias(&self, mapping: &Mapping) -> Option<u64> {
        let end = mapping.offset + (mapping.range.end - mapping.range.start);
        let is_there = |segment: &&Segment| segment.file.start < end && mapping.offset < segment.file.end;
        let segment = self.segments.iter().find(is_there)?;
        let first = mapping.range.start.wrapping_sub(mapping.offset);
        Some(first.wrapping_add(segment.file.start).wrapping_sub(segment.address))
    }

    /// The address, in the file's own count, of code at an offset of the file.
    pub(crate) fn address_at(&self, offset: u64) -> Option<u64> {
        let segment = self.segments.iter().find(|segment| segment.file.contains(&offset))?;
        Some(segment.address + (offset - segment.file.start))
    }

    /// The functions at an address in the file's own count, the innermost of those that the compiler has put
    /// into another one first. One frame without a name if the file does not say.
    pub(crate) fn frames(&self, address: u64, module: &str) -> Vec<Frame> {
        let mut frames = self.frames_with_lines(address, module).unwrap_or_default();
        if frames.is_empty() {
            frames.push(Frame {
                language: Language::Native,
                function: None,
                file: None,
                line: None,
                module: Some(module.to_string()),
            });
        }
        let outermost = frames.last_mut().expect("there is one");
        if outermost.function.is_none() {
            outermost.function = self.symbol(address).map(demangled);
        }
        frames
    }

    fn frames_with_lines(&self, address: u64, module: &str) -> Option<Vec<Frame>> {
        let lines = self.lines.get_or_init(|| Loader::new(&self.path).ok()).as_ref()?;
        let mut found = lines.find_frames(address).ok()?;
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let name =
                frame.function.as_ref().and_then(|name| name.raw_name().ok().map(|raw| demangled(&raw)));
            let location = frame.location.as_ref();
            frames.push(Frame {
                language: Language::Native,
                function: name,
                file: location.and_then(|location| location.file).map(str::to_string),
                line: location.and_then(|location| location.line),
                module: Some(module.to_string()),
            });
        }
        Some(frames)
    }

    fn symbol(&self, address: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = self.symbols[..after].last()?;
        // Functions in assembly may have no size.
        (symbol.size == 0 || address < symbol.address + symbol.size).then_some(&symbol.name)
    }
}

/// The functions that a file names, by address.
fn symbols<'data, R: object::ReadRef<'data>>(file: &object::File<'data, R>) -> Vec<Symbol> {
    let functions = file.symbols().chain(file.dynamic_symbols()).filter(|symbol| {
        symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.address() != 0
    });
    let named = functions.filter_map(|symbol| {
        let name = symbol.name().ok()?.to_string();
        Some(Symbol { address: symbol.address(), size: symbol.size(), name })
    });
    let mut symbols: Vec<Symbol> = named.collect();
    // The last one of an address is found: of several names that without leading underscores.
    symbols.sort_by(|a, b| (a.address, a.size).cmp(&(b.address, b.size)).then_with(|| a.name.cmp(&b.name)));
    symbols
}

/// The name as the source has it, without parameters. Other names are left alone: of a Fortran program `t`
/// the demangler would make C++'s `unsigned short`.
fn demangled(name: &str) -> String {
    if !name.starts_with("_Z") && !name.starts_with("_R") {
        return name.to_string();
    }
    let whole = addr2line::demangle_auto(name.into(), None);
    match whole == name {
        true => name.to_string(),
        false => without_parameters(&whole).to_string(),
    }
}

/// `f(int, g<h()>)` is `f`; `(anonymous namespace)::f(int)` keeps its beginning.
fn without_parameters(name: &str) -> &str {
    let mut depth = 0;
    for (at, character) in name.char_indices() {
        match character {
            '(' if depth == 0
                && !name[at..].starts_with("(anonymous")
                && at > 0
                && !name[..at].ends_with("operator") =>
            {
                return &name[..at];
            }
            '(' | '<' => depth += 1,
            ')' | '>' if !name[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_in_the_source() {
        for (mangled, expected) in [
            ("main", "main"),
            ("MAIN__", "MAIN__"),
            ("_ZN6solver4stepEid", "solver::step"),
            ("_ZN12_GLOBAL__N_14waitEv", "(anonymous namespace)::wait"),
            ("_Z3addIiEvT_", "void add<int>"),
            ("__solver_MOD_step", "__solver_MOD_step"),
            ("t", "t"),
        ] {
            assert_eq!(demangled(mangled), expected);
        }
    }

    #[test]
    fn this_program_names_its_functions() {
        let file = ElfFile::open(Path::new("/proc/self/exe")).unwrap();
        assert!(file.eh_frame.is_some() && file.eh_frame_hdr.is_some() && file.text.is_some());
        let here = this_program_names_its_functions as fn() as usize as u64;
        let maps = crate::memory_map::of_process(std::process::id());
        let mapping = maps.iter().find(|mapping| mapping.range.contains(&here)).unwrap();
        let frames = file.frames(here - file.bias(mapping).unwrap(), "me");
        let outermost = frames.last().unwrap();
        let name = outermost.function.as_deref().unwrap_or_default();
        assert!(name.contains("this_program_names_its_functions"), "{frames:?}");
        assert!(outermost.file.as_ref().unwrap().ends_with("elf_file.rs") && outermost.line.is_some());
        assert!(ElfFile::open(Path::new("/proc/self/maps")).is_none());
    }
}
