//! How a process joins the world of MPI_COMM_WORLD and leaves it.
//!
//! Called once, from the wrapper of `MPI_Init`, in this order: `ek_world_begin`, `ek_world_join`,
//! `ek_world_agree`, between which the shim exchanges the answers of all ranks.

use crate::codes::EK_INTERFACE;
use crate::text::{slice, string};
use evenkeel_engine::job::process_info;
use evenkeel_engine::process::Process;
use std::ffi::{c_char, c_int};

/// What a rank tells the others about itself before they share memory: plain bytes, to be sent as they
/// are.
#[repr(C)]
pub struct ProcessInfo {
    pub bytes: [u8; 96],
}

const PADDING: usize = size_of::<ProcessInfo>() - size_of::<process_info::ProcessInfo>();

/// [`ProcessInfo`] as the engine fills it in.
#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    info: process_info::ProcessInfo,
    _rest: [u8; PADDING],
}

const _: () = assert!(size_of::<Padded>() == size_of::<ProcessInfo>());

/// Fills in this process's info. `threaded`: the program was granted MPI_THREAD_MULTIPLE. False if
/// evenkeel is switched off or cannot work here: the info then says so to the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_world_begin(
    mine: *mut ProcessInfo,
    mpi_version: *const c_char,
    shim: *const c_char,
    threaded: bool,
) -> bool {
    // SAFETY: terminated strings, by the interface.
    let names = unsafe { (string(mpi_version), string(shim)) };
    let process = Process::begin(EK_INTERFACE, names, threaded);
    let (info, is_enabled) = process.info().expect("the process has just begun");
    let info = Padded { info, _rest: [0; PADDING] };
    // SAFETY: room for an info, by the interface; it is not aligned as the engine's is.
    unsafe { mine.cast::<Padded>().write_unaligned(info) };
    is_enabled
}

/// All ranks' infos, in the order of MPI_COMM_WORLD. Opens this node's segment. Bit 0 of the answer: that
/// worked; bit 1: this process can read the memory of the others on its node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_world_join(infos: *const ProcessInfo, ranks: c_int, me: c_int) -> u8 {
    let read = |rank: usize| {
        // SAFETY: `ranks` infos, by the interface; they are not aligned as the engine's are.
        unsafe { infos.add(rank).cast::<Padded>().read_unaligned() }.info
    };
    let infos: Vec<_> = (0..ranks as usize).map(read).collect();
    Process::get().map_or(0, |process| process.join(&infos, me as usize))
}

/// Every rank's answer to `ek_world_join`, in order. From here on communicators can be attached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_world_agree(joined: *const u8, ranks: c_int) {
    // SAFETY: one byte for each rank, by the interface.
    let answers = unsafe { slice(joined, ranks) };
    if let Some(process) = Process::get() {
        process.agree(answers);
    }
}

/// The host library reports deaths of ranks to the program, so evenkeel ends no process because of them.
/// After `ek_world_agree`, by all ranks or none.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_report_faults() {
    if let Some(node) = Process::get().and_then(Process::node) {
        node.report_faults();
    }
}

/// Whether this rank of MPI_COMM_WORLD is on this node and has died.
#[unsafe(no_mangle)]
pub extern "C" fn ek_rank_has_died(rank: c_int) -> bool {
    Process::get().and_then(Process::node).is_some_and(|node| node.has_died(rank as usize))
}

/// Hands over the function that gives the host library a chance to progress.
///
/// MPI promises progress inside every call: a rank that waits here for others must still answer for the
/// host (a large MPI_Isend under way, a window that its peers access), or the others never come. The
/// engine calls `progress`, which takes about 0.2 us, from the thread that waits: in every wait of
/// ek_barrier and ek_run that has lasted 100 us, then half as often each time down to once in 8 ms,
/// also between sleeps, and never while it holds a lock.
#[unsafe(no_mangle)]
pub extern "C" fn ek_set_host_progress(progress: extern "C" fn()) {
    if let Some(process) = Process::get() {
        process.set_library_progress(progress);
    }
}

/// The end, from the wrapper of MPI_Finalize: after the last collective and after `ek_record_json`.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_leave() {
    if let Some(node) = Process::get().and_then(Process::node) {
        node.leave();
    }
}

/// In a child after fork(): forgets everything without a word to the other ranks. Every later call is the
/// host's.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_forget() {
    Process::forget();
}
