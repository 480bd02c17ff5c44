//! What the dynamic linker reads of an ELF file: interpreter, needed libraries, search paths, symbols.
//!
//! Only the parts that are asked for are read from disk, because some MPI libraries have 50 MB.

use object::LittleEndian;
use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, Sym};
use object::read::{ReadCache, ReadRef};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use thiserror::Error;

type Header = elf::FileHeader64<LittleEndian>;

/// How one ELF file asks to be loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elf {
    /// The file.
    pub path: PathBuf,
    /// The processor that it is for (`e_machine`).
    pub machine: u16,
    /// Path of the dynamic linker; none in libraries and in statically linked programs.
    pub interpreter: Option<String>,
    /// Whether it has a dynamic section.
    pub dynamic: bool,
    /// The name by which other files ask for it (DT_SONAME).
    pub soname: Option<String>,
    /// The libraries that it asks for (DT_NEEDED), in their order.
    pub needed: Vec<String>,
    /// Directories in which it and the libraries it loads are searched first (DT_RPATH).
    pub rpath: Vec<String>,
    /// Directories in which its own libraries are searched after LD_LIBRARY_PATH (DT_RUNPATH).
    pub runpath: Vec<String>,
}

/// Why a file could not be read as an ELF file.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ElfError {
    /// The file itself cannot be opened or read.
    #[error("{0}")]
    Io(String),
    /// It does not begin as ELF files do.
    #[error("it is not an ELF file")]
    NotElf,
    /// ELF, but not 64-bit little-endian.
    #[error("it is {0}")]
    OtherFormat(&'static str),
    /// Its tables contradict each other.
    #[error("it is damaged ({0})")]
    Damaged(String),
}

/// One dynamic symbol.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Whether the file defines it; otherwise another file must.
    pub defined: bool,
}

impl Elf {
    /// Reads the file's program headers and its dynamic section.
    pub fn read(path: &Path) -> Result<Elf, ElfError> {
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
                .ok_or_else(|| ElfError::Damaged("its string table lies outside of the file".into()))?;
            found.take_entries(
                entries.iter().map(|entry| (entry.tag(endian), entry.d_val(endian))),
                strings,
            )?;
        }
        Ok(found)
    }

    /// Takes what the entries of the dynamic section say; values are offsets into `strings`.
    fn take_entries(
        &mut self,
        entries: impl Iterator<Item = (elf::DynamicTag, u64)>,
        strings: &[u8],
    ) -> Result<(), ElfError> {
        for (tag, value) in entries.take_while(|(tag, _)| *tag != elf::DT_NULL) {
            let text = || text_at(strings, value);
            match tag {
                elf::DT_NEEDED => self.needed.push(text()?),
                elf::DT_SONAME => self.soname = Some(text()?),
                elf::DT_RPATH => self.rpath = split_path(&text()?),
                elf::DT_RUNPATH => self.runpath = split_path(&text()?),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether the dynamic linker loads it. Only then can a shim be preloaded.
    pub fn takes_preload(&self) -> bool {
        self.interpreter.is_some() && self.dynamic
    }

    /// Whether it is for this machine's own processor.
    pub fn fits_this_machine(&self) -> bool {
        self.machine == own_machine()
    }
}

/// The dynamic symbols, or, for a statically linked program, those of its symbol table.
pub fn symbols(path: &Path) -> Result<Vec<Symbol>, ElfError> {
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

/// Whether the file defines any of these symbols. A file that cannot be read defines none.
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

fn open(path: &Path) -> Result<ReadCache<File>, ElfError> {
    let mut file = File::open(path).map_err(|e| ElfError::Io(e.to_string()))?;
    let mut ident = [0u8; 16];
    let mut have = 0;
    while have < ident.len() {
        match file.read(&mut ident[have..]) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) => return Err(ElfError::Io(e.to_string())),
        }
    }
    if have < 16 || ident[..4] != elf::ELFMAG {
        return Err(ElfError::NotElf);
    }
    if ident[4] != elf::ELFCLASS64.0 {
        return Err(ElfError::OtherFormat("a 32-bit program"));
    }
    if ident[5] != elf::ELFDATA2LSB.0 {
        return Err(ElfError::OtherFormat("a big-endian program"));
    }
    Ok(ReadCache::new(file))
}

fn damaged(error: object::read::Error) -> ElfError {
    ElfError::Damaged(error.to_string())
}

fn text_at(strings: &[u8], offset: u64) -> Result<String, ElfError> {
    let end = strings.len() as u64;
    let bytes = strings
        .read_bytes_at_until(offset..end, 0)
        .map_err(|()| ElfError::Damaged("a name lies outside of its string table".into()))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn split_path(text: &str) -> Vec<String> {
    text.split(':').filter(|p| !p.is_empty()).map(str::to_string).collect()
}
