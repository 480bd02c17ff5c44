//! Communicators.
//!
//! A communicator's id names its block of shared memory, so one rank draws it and the others are told:
//!
//! * MPI_COMM_WORLD has `ek_world_comm_id`, the same at all ranks.
//! * A duplicate has what `ek_comm_duplicate` of its parent works out at every member, in the same
//!   order and without a wait.
//! * For every other new communicator its rank 0 calls `ek_reserve_comm_id`, and the shim broadcasts
//!   the answer.
//!
//! Id 0 means that the host serves the communicator, for all members alike: it has processes of another
//! world, or one member, or there was no memory left. Members that `ek_members_span_nodes` says to be on
//! several nodes have a block on each: every member calls `ek_comm_reserve_spanning`, the shim gathers what
//! all have reserved, and `ek_comm_attach_spanning` takes that in the order of ranks. That holds for
//! MPI_COMM_WORLD too.

use crate::text::{slice, string};
use evenkeel_engine::collective::call::CollectiveKind;
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::job::node::Node;
use evenkeel_engine::process::Process;
use evenkeel_engine::spanning::reservation::Reservation;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

/// What a member has reserved for a new communicator on several nodes, and tells the others: plain bytes, to
/// be sent as they are.
#[repr(C)]
pub struct SpanningReservation {
    pub words: [u64; 2],
}

const _: () = assert!(size_of::<SpanningReservation>() == size_of::<Reservation>());
const _: () = assert!(align_of::<SpanningReservation>() == align_of::<Reservation>());

/// The id of MPI_COMM_WORLD; 0: the host's.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_comm_id() -> u64 {
    Process::get().and_then(Process::node).map_or(0, Node::world_comm_id)
}

/// Draws the id of a new communicator. `members`: world ranks in the order of ranks, -1 for a process of
/// another world.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_reserve_comm_id(members: *const c_int, ranks: c_int) -> u64 {
    // SAFETY: one entry for each rank, by the interface.
    let members = unsafe { slice(members, ranks) };
    Process::get().map_or(0, |process| process.fresh_id(members))
}

/// Takes part in the next duplicate of `parent`. Never NULL; see `ek_comm_attach`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_duplicate(
    parent: *const Communicator,
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *mut Communicator {
    // SAFETY: an attached communicator and its members, by the interface.
    unsafe {
        let duplicate = Process::current().duplicate(&*parent, slice(members, ranks), me as usize);
        Arc::into_raw(duplicate).cast_mut()
    }
}

/// Whether these members are on several nodes, and evenkeel can serve them there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_members_span_nodes(members: *const c_int, ranks: c_int) -> bool {
    // SAFETY: one entry for each rank, by the interface.
    let members = unsafe { slice(members, ranks) };
    Process::get().is_some_and(|process| process.spans_nodes(members))
}

/// Reserves what a new communicator on several nodes needs from this member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_reserve_spanning(
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> SpanningReservation {
    // SAFETY: one entry for each rank, by the interface, after `ek_members_span_nodes` has said yes.
    let reservation = unsafe { Process::current().reserve(slice(members, ranks), me as usize) };
    // SAFETY: both are 16 plain bytes of the same alignment, as asserted above.
    unsafe { std::mem::transmute::<Reservation, SpanningReservation>(reservation) }
}

/// Takes part in a communicator on several nodes, with what all members have reserved, in the order of
/// ranks. Never NULL; see `ek_comm_attach`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_attach_spanning(
    reserved: *const SpanningReservation,
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *mut Communicator {
    // SAFETY: one entry for each rank, by the interface; reservations are the engine's, as asserted above.
    let (members, reserved) =
        unsafe { (slice(members, ranks), slice(reserved.cast::<Reservation>(), ranks)) };
    // SAFETY: after `ek_members_span_nodes` has said yes, by the interface.
    let process = unsafe { Process::current() };
    Arc::into_raw(process.attach_spanning(reserved, members, me as usize)).cast_mut()
}

/// Takes part in the communicator `id`. Never NULL: one that the host serves is kept for the record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_attach(
    id: u64,
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *mut Communicator {
    // SAFETY: one entry for each rank, after `ek_world_begin`, by the interface.
    unsafe { Arc::into_raw(Process::current().attach(id, slice(members, ranks), me as usize)).cast_mut() }
}

/// Ends this rank's part in it. Not to be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_detach(comm: *mut Communicator) {
    // SAFETY: from one of the functions that attach, and detached once, by the interface.
    unsafe { Process::current().detach(Arc::from_raw(comm.cast_const())) };
}

/// Whether evenkeel carries out collectives on it. If not, they are the host's for as long as it lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_is_served(comm: *const Communicator) -> bool {
    // SAFETY: an attached communicator, by the interface.
    unsafe { &*comm }.service().is_some()
}

/// Whether evenkeel serves it and all its members are on this node. Only there does it carry messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_is_on_one_node(comm: *const Communicator) -> bool {
    // SAFETY: an attached communicator, by the interface.
    matches!(unsafe { &*comm }, Communicator::Node(_))
}

/// Counts a call on a communicator that is not served as the host's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_count_host_call(comm: *const Communicator, kind: u32, nonblocking: bool) {
    let Some(kind) = CollectiveKind::from_u32(kind) else { return };
    // SAFETY: an attached communicator, by the interface.
    if let Communicator::Host(host) = unsafe { &*comm } {
        host.count(kind, nonblocking);
    }
}

/// Names it in the record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_set_name(comm: *const Communicator, name: *const c_char) {
    // SAFETY: an attached communicator and a terminated string, by the interface.
    unsafe { (*comm).identity().set_name(&string(name)) };
}

/// Ends what is under way on it, for all members: they get EK_REVOKED, and later calls are declined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_revoke(comm: *const Communicator) {
    // SAFETY: an attached communicator, by the interface.
    unsafe { Process::current().revoke(&*comm) };
}

/// Whether any member has revoked it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_is_revoked(comm: *const Communicator) -> bool {
    // SAFETY: an attached communicator, by the interface.
    unsafe { &*comm }.service().is_some_and(|service| service.part.is_revoked())
}
