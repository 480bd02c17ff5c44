//! Places in the code of a program or library, without a process.

use crate::elf_file::ElfFile;
use crate::frame::Frame;
use std::path::Path;

/// A program or library, to be asked what its code is called and where it comes from.
pub struct CodeFile {
    file: ElfFile,
    name: String,
}

impl CodeFile {
    /// `None` if the file cannot be read, or is no ELF file.
    pub fn open(path: &Path) -> Option<CodeFile> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Some(CodeFile { file: ElfFile::open(path)?, name })
    }

    /// The functions that contain the call which returns to this offset in the file, the innermost first: the
    /// compiler may have put one into another.
    pub fn calls_before(&self, offset: u64) -> Vec<Frame> {
        // The call itself: what it returns to may be of the next line, or of the next function.
        let address = self.file.address_at(offset.saturating_sub(1));
        address.map_or_else(Vec::new, |address| self.file.frames(address, &self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_program_is_not_opened() {
        assert!(CodeFile::open(Path::new("/proc/self/maps")).is_none());
        let this = CodeFile::open(Path::new("/proc/self/exe")).unwrap();
        assert!(this.calls_before(1).is_empty(), "headers are not executed");
    }
}
