//! Where the shim says which MPI call this process is in, for those who look from outside (`evenkeel where`).

use evenkeel_engine::process::Process;
use evenkeel_segment::call_line::{self, CALL_WORDS};
use evenkeel_segment::sync::Words;
use evenkeel_segment::{Mapped, identity};

/// The lines of this process. `shims/src/process/call_line.h` says how they are written; the engine writes
/// those of its own waits.
#[repr(C)]
pub struct CallLine {
    /// Modulo 4: 0 outside MPI, 2 in a call; odd while the rest is written.
    pub version: u64,
    /// Address of the name of the call.
    pub name: u64,
    /// The handle of its communicator; 0 if it is not known.
    pub comm: u64,
    /// Rank that it sends to or receives from.
    pub peer: i32,
    /// Tag that it sends or receives.
    pub tag: i32,
    /// Messages that this process has begun to send through the host library.
    pub sends: u64,
    /// Messages that it has received through it, and nonblocking receives that it has started.
    pub receives: u64,
    /// Nonblocking sends and receives of the host library's that are not complete.
    pub pending: u64,
    /// 1 once the three numbers do not hold all that may be under way, 2 if nothing is to be concluded from a
    /// wait, because another thread or a fault may end it, 4 if this process sends nothing any more and takes
    /// part in nothing, 8 if several threads may be in MPI, 16 if it waits in MPI_Finalize for all
    /// ranks to come there, 32 once all that it does with others is the front end's own, in MPI_Finalize.
    pub traffic_marks: u64,
    /// The engine's.
    pub wait: [u64; 7],
    /// Where several threads may be in MPI: the number of the one that is in the call.
    pub caller: u64,
}

const _: () = assert!(size_of::<CallLine>() == CALL_WORDS * 8);

/// Returns the lines of this process, or NULL if it takes no part.
#[unsafe(no_mangle)]
pub extern "C" fn ek_own_call_line() -> *mut CallLine {
    let Some(node) = Process::get().and_then(Process::node) else { return std::ptr::null_mut() };
    let lines: Mapped = node.segment.at(call_line::offset(node.local_rank));
    std::ptr::from_ref(lines.word(0)).cast_mut().cast()
}

/// What the shim tells those who look at this process from outside: how communicators are found by their
/// handles or blocks (addresses, and offsets in bytes), which numbers mean what, and where the job is.
#[repr(C)]
pub struct Inspection {
    /// The table: addresses of entries, and zeros.
    pub entries: u64,
    /// How many places it has.
    pub places: u64,
    /// The handle of MPI_COMM_WORLD.
    pub world: u64,
    /// In an entry: its handle, 8 bytes.
    pub handle_at: u64,
    /// Its size, 4 bytes.
    pub size_at: u64,
    /// The address of the world ranks of its members, 4 bytes each.
    pub members_at: u64,
    /// Its name, in 32 bytes, ended by a zero byte.
    pub name_at: u64,
    /// The offset of its block in the segment, 8 bytes; 0 if it has none.
    pub block_at: u64,
    /// How many blocking collectives on it have been left to the host library, 8 bytes.
    pub host_collectives_at: u64,
    /// Address of the entry of MPI_COMM_WORLD, which stays where it is.
    pub world_entry: u64,
    /// Address of the number of communicators that have an entry, in the table or not, 8 bytes.
    pub count: u64,
    /// MPI_ANY_SOURCE.
    pub any_source: i32,
    /// MPI_ANY_TAG.
    pub any_tag: i32,
    /// MPI_PROC_NULL.
    pub proc_null: i32,
    /// Address of `ek_host_threads`.
    pub host_threads: u64,
    /// `ek_job_number`.
    pub job: u64,
    /// How many nodes the job has.
    pub node_count: u64,
    /// Address of the names of their hosts, in the order of the nodes, each in 65 bytes and ended by a
    /// zero byte; 0 if there is one node.
    pub host_names: u64,
}

/// Lets others find what the shim tells them. `inspection` must stay as it is.
#[unsafe(no_mangle)]
pub extern "C" fn ek_publish_inspection(inspection: *const Inspection) {
    if let Some(node) = Process::get().and_then(Process::node) {
        identity::introduce_inspection(&node.segment, node.local_rank, inspection as u64);
    }
}
