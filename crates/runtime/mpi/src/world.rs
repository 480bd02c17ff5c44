//! How a process joins the world of MPI_COMM_WORLD and leaves it.
//!
//! The wrapper of `MPI_Init` calls these once, in this order: `ek_world_begin`, `ek_world_join`,
//! `ek_world_agree`. In between, the shim exchanges the answers of all ranks.

use crate::codes::EK_INTERFACE;
use crate::text::{slice, string};
use evenkeel_engine::job::process_info;
use evenkeel_engine::process::Process;
use std::ffi::{c_char, c_int};

/// What a rank tells the others about itself before they share memory: plain bytes, to be sent unchanged.
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

/// Fills in this process's info. `threaded` says that the program was granted MPI_THREAD_MULTIPLE. Returns
/// false if evenkeel is switched off or cannot work here; the info tells that to the others.
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
    let (info, is_enabled) = process.info().expect("start-up has just begun");
    let info = Padded { info, _rest: [0; PADDING] };
    // SAFETY: a place for an info, by the interface; it is not aligned as the engine's type is.
    unsafe { mine.cast::<Padded>().write_unaligned(info) };
    is_enabled
}

/// Receives all ranks' infos, in the order of MPI_COMM_WORLD, and opens this node's segment. Bit 0 of the
/// answer says that this worked, bit 1 that this process can read the memory of the other ranks on its
/// node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_world_join(infos: *const ProcessInfo, ranks: c_int, me: c_int) -> u8 {
    let read = |rank: usize| {
        // SAFETY: `ranks` infos, by the interface; they are not aligned as the engine's type is.
        unsafe { infos.add(rank).cast::<Padded>().read_unaligned() }.info
    };
    let infos: Vec<_> = (0..ranks as usize).map(read).collect();
    Process::get().map_or(0, |process| process.join(&infos, me as usize))
}

/// Receives every rank's answer to `ek_world_join`, in order. Afterwards communicators can be attached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_world_agree(joined: *const u8, ranks: c_int) {
    // SAFETY: one byte per rank, by the interface.
    let answers = unsafe { slice(joined, ranks) };
    if let Some(process) = Process::get() {
        process.agree(answers);
    }
}

/// Declares that the host library reports deaths of ranks to the program, so evenkeel does not end any
/// process because of a death. Called after `ek_world_agree`, by all ranks or by none.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_report_faults() {
    if let Some(node) = Process::get().and_then(Process::node) {
        node.report_faults();
    }
}

/// Sets a function that the first rank of a node calls that ends because of a death, after it has said so.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_set_end_hook(hook: extern "C" fn()) {
    if let Some(node) = Process::get().and_then(Process::node) {
        node.set_end_hook(hook);
    }
}

/// Returns whether this rank of MPI_COMM_WORLD is on this node and has died.
#[unsafe(no_mangle)]
pub extern "C" fn ek_rank_has_died(rank: c_int) -> bool {
    Process::get().and_then(Process::node).is_some_and(|node| node.has_died(rank as usize))
}

/// Sets the function that lets the host library make progress.
///
/// MPI promises progress inside every call. A rank that waits in evenkeel must still answer for the host
/// library (a large MPI_Isend in progress, a window that its peers access), or the other ranks never
/// arrive. The engine calls `progress`, which takes about 0.2 us, from the thread that waits, in ek_barrier
/// and ek_run. `activity` tells whether the library may have something to do: 0 no, 1 the program has used it
/// not long ago, 2 there are windows. Then, and while calls take longer than usual, they follow each other
/// after microseconds; otherwise the first comes after 100 us of a wait, and the interval doubles up to 8 ms
/// (0.2 ms with windows). The engine also calls it between sleeps, and never while it holds a lock.
#[unsafe(no_mangle)]
pub extern "C" fn ek_set_host_progress(progress: extern "C" fn(), activity: extern "C" fn() -> u32) {
    if let Some(process) = Process::get() {
        process.library.set(progress, activity);
    }
}

/// Calls the host library, by the function of `ek_set_host_progress`, until it has taken in what has come.
#[unsafe(no_mangle)]
pub extern "C" fn ek_host_catch_up() {
    if let Some(process) = Process::get() {
        process.library.catch_up(process.clock);
    }
}

/// Called by the wrapper of MPI_Finalize, after the last collective and after `ek_record_json`: leaves the
/// world.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_leave() {
    if let Some(node) = Process::get().and_then(Process::node) {
        node.leave();
    }
}

/// Called in a child after fork(): forgets everything without telling the other ranks. The host library
/// carries out every later call.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_forget() {
    Process::forget();
}
