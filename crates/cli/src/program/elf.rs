//! Reads of an ELF file what the dynamic linker reads of it: interpreter, needed libraries, search
//! paths, symbols. Only the parts that are asked for are read from disk; some MPI libraries have 50 MB.

use object::LittleEndian;
use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, Sym};
use object::read::{ReadCache, ReadRef};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

type Header = elf::FileHeader64<LittleEndian>;

/// What one ELF file says about how it wants to be loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elf {
    pub path: PathBuf,
    pub machine: u16,
    /// Path of the dynamic linker; none in libraries and in statically linked programs.
    pub interpreter: Option<String>,
    /// Whether there is a dynamic section at all.
    pub dynamic: bool,
    pub soname: Option<String>,
    pub needed: Vec<String>,
    pub rpath: Vec<String>,
    pub runpath: Vec<String>,
}

/// Why a file could not be read as an ELF file.
#[derive(Clone, Debug, PartialEq)]
pub enum Unreadable {
    /// The file itself cannot be opened or read.
    Io(String),
    /// It does not begin as ELF files do.
    NotElf,
    /// ELF, but not 64-bit little-endian.
    OtherFormat(&'static str),
    Damaged(String),
}

/// One dynamic symbol.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    pub name: String,
    pub defined: bool,
}

impl Elf {
    pub fn read(path: &Path) -> Result<Elf, Unreadable> {
        let cache = open(path)?;
        let data = &cache;
        let header = Header::parse(data).map_err(damaged)?;
        let endian = header.endian().map_err(damaged)?;
        let mut found =
            Elf { path: path.to_path_buf(), machine: header.e_machine.get(endian).0, ..Elf::default() };
        let segments = header.program_headers(endian, data).map_err(damaged)?;
        for segment in segments {
            if let Some(name) = segment.interpreter(endian, data).map_err(damaged)? {
                found.interpreter = Some(String::from_utf8_lossy(name).into_owned());
            }
            let Some(entries) = segment.dynamic(endian, data).map_err(damaged)? else { continue };
            found.dynamic = true;
            let value =
                |tag: elf::DynamicTag| entries.iter().find(|e| e.tag(endian) == tag).map(|e| e.d_val(endian));
            let (Some(start), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else { continue };
            let strings = segments
                .iter()
                .find_map(|s| s.data_range(endian, data, start, size).ok().flatten())
                .ok_or_else(|| Unreadable::Damaged("its string table lies outside of the file".into()))?;
            for entry in entries {
                let text = || text_at(strings, entry.d_val(endian));
                match entry.tag(endian) {
                    elf::DT_NEEDED => found.needed.push(text()?),
                    elf::DT_SONAME => found.soname = Some(text()?),
                    elf::DT_RPATH => found.rpath = split_path(&text()?),
                    elf::DT_RUNPATH => found.runpath = split_path(&text()?),
                    elf::DT_NULL => break,
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    /// Whether the dynamic linker will have a hand in it: only then can a shim be preloaded.
    pub fn takes_preload(&self) -> bool {
        self.interpreter.is_some() && self.dynamic
    }
}

/// The dynamic symbols, or, for a statically linked program, those of its symbol table.
pub fn symbols(path: &Path) -> Result<Vec<Symbol>, Unreadable> {
    let cache = open(path)?;
    let data = &cache;
    let header = Header::parse(data).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    let sections = header.sections(endian, data).map_err(damaged)?;
    let mut table = sections.symbols(endian, data, elf::SHT_DYNSYM).map_err(damaged)?;
    if table.is_empty() {
        table = sections.symbols(endian, data, elf::SHT_SYMTAB).map_err(damaged)?;
    }
    let mut found = Vec::with_capacity(table.len());
    for symbol in table.iter() {
        let name = symbol.name(endian, table.strings()).map_err(damaged)?;
        if !name.is_empty() {
            let defined = !symbol.is_undefined(endian);
            found.push(Symbol { name: String::from_utf8_lossy(name).into_owned(), defined });
        }
    }
    Ok(found)
}

/// Whether any of these is a defined symbol of the file; no for a file that cannot be read.
pub fn defines(path: &Path, names: &[&str]) -> bool {
    symbols(path).is_ok_and(|all| all.iter().any(|s| s.defined && names.contains(&s.name.as_str())))
}

/// The `e_machine` of the processor that this program itself was built for.
pub fn own_machine() -> u16 {
    match std::env::consts::ARCH {
        "x86_64" => elf::EM_X86_64.0,
        "aarch64" => elf::EM_AARCH64.0,
        "riscv64" => elf::EM_RISCV.0,
        "powerpc64" => elf::EM_PPC64.0,
        _ => elf::EM_NONE.0,
    }
}

/// What people call a processor whose `e_machine` this is.
pub fn machine_name(machine: u16) -> String {
    match elf::Machine(machine) {
        elf::EM_X86_64 => "x86-64".into(),
        elf::EM_AARCH64 => "64-bit ARM".into(),
        elf::EM_RISCV => "RISC-V".into(),
        elf::EM_PPC64 => "64-bit PowerPC".into(),
        other => format!("machine type {}", other.0),
    }
}

fn open(path: &Path) -> Result<ReadCache<File>, Unreadable> {
    let mut file = File::open(path).map_err(|e| Unreadable::Io(e.to_string()))?;
    let mut ident = [0u8; 16];
    let mut have = 0;
    while have < ident.len() {
        match file.read(&mut ident[have..]) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) => return Err(Unreadable::Io(e.to_string())),
        }
    }
    if have < 16 || ident[..4] != elf::ELFMAG {
        return Err(Unreadable::NotElf);
    }
    if ident[4] != elf::ELFCLASS64.0 {
        return Err(Unreadable::OtherFormat("a 32-bit program"));
    }
    if ident[5] != elf::ELFDATA2LSB.0 {
        return Err(Unreadable::OtherFormat("a big-endian program"));
    }
    Ok(ReadCache::new(file))
}

fn damaged(error: object::read::Error) -> Unreadable {
    Unreadable::Damaged(error.to_string())
}

fn text_at(strings: &[u8], offset: u64) -> Result<String, Unreadable> {
    let end = strings.len() as u64;
    let bytes = strings
        .read_bytes_at_until(offset..end, 0)
        .map_err(|()| Unreadable::Damaged("a name lies outside of its string table".into()))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn split_path(text: &str) -> Vec<String> {
    text.split(':').filter(|p| !p.is_empty()).map(str::to_string).collect()
}
