//! Return addresses, from what was copied of a thread.

use crate::elf_file::{ElfFile, Section};
use crate::memory_map::Mapping;
use crate::registers::UnwindRegisters;
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder as _};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwinderAarch64 as Unwinder};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64, UnwinderX86_64 as Unwinder};

/// The most frames that are followed.
const MOST_FRAMES: usize = 256;

/// A program or library, where a process has mapped it.
pub(crate) struct MappedFile {
    pub(crate) range: Range<u64>,
    /// Address in the process less address in the file.
    pub(crate) bias: u64,
    pub(crate) file: Rc<ElfFile>,
    pub(crate) name: String,
}

impl MappedFile {
    pub(crate) fn new(mapping: &Mapping, file: Rc<ElfFile>) -> Option<MappedFile> {
        let bias = file.bias(mapping)?;
        Some(MappedFile { range: mapping.range.clone(), bias, file, name: mapping.short_name().into() })
    }
}

/// An unwinder for a process.
pub(crate) fn unwinder(files: &[MappedFile]) -> Unwinder<Arc<[u8]>> {
    let mut unwinder = Unwinder::new();
    for mapped in files {
        let addresses = |section: &Section| section.as_ref().map(|(range, _)| range.clone());
        let bytes = |section: &Section| section.as_ref().map(|(_, bytes)| bytes.clone());
        let sections = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: mapped.file.text.clone(),
            eh_frame_svma: addresses(&mapped.file.eh_frame),
            eh_frame: bytes(&mapped.file.eh_frame),
            eh_frame_hdr_svma: addresses(&mapped.file.eh_frame_hdr),
            eh_frame_hdr: bytes(&mapped.file.eh_frame_hdr),
            debug_frame: bytes(&mapped.file.debug_frame),
            ..Default::default()
        };
        unwinder.add_module(Module::new(mapped.name.clone(), mapped.range.clone(), mapped.bias, sections));
    }
    unwinder
}

/// The addresses by which functions are looked up, innermost first.
pub(crate) fn unwind(
    unwinder: &Unwinder<Arc<[u8]>>,
    registers: &UnwindRegisters,
    stack_start: u64,
    stack: &[u8],
) -> Vec<u64> {
    let mut cache = Cache::<_>::new();
    let mut read = |address: u64| {
        let at = address.checked_sub(stack_start).ok_or(())? as usize;
        let word = stack.get(at..at.checked_add(8).ok_or(())?).ok_or(())?;
        Ok(u64::from_le_bytes(word.try_into().map_err(|_| ())?))
    };
    let pc = registers.program_counter;
    let mut frames = unwinder.iter_frames(pc, for_framehop(unwinder, registers), &mut cache, &mut read);
    let mut found = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        found.push(FrameAddress::address_for_lookup(frame));
        if found.len() == MOST_FRAMES {
            break;
        }
    }
    found
}

#[cfg(target_arch = "x86_64")]
fn for_framehop(_: &Unwinder<Arc<[u8]>>, registers: &UnwindRegisters) -> UnwindRegsX86_64 {
    UnwindRegsX86_64::new(registers.program_counter, registers.stack_pointer, registers.frame_pointer)
}

#[cfg(target_arch = "aarch64")]
fn for_framehop(
    unwinder: &Unwinder<Arc<[u8]>>,
    registers: &UnwindRegisters,
) -> framehop::aarch64::UnwindRegsAarch64 {
    // Return addresses may be signed in the bits that no address uses.
    let mask = framehop::aarch64::PtrAuthMask::from_max_known_address(unwinder.max_known_code_address());
    framehop::aarch64::UnwindRegsAarch64::new_with_ptr_auth_mask(
        mask,
        registers.link,
        registers.stack_pointer,
        registers.frame_pointer,
    )
}
